import { reverseConsume as decideReversal, type ReversalOutcome } from "../../entitlement/reverse-consume.ts";
import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { findCustomerId } from "../../store/cell/customers.ts";
import { listGrantsOfSlots } from "../../store/cell/grants.ts";
import { findConsume } from "../../store/cell/ledger.ts";
import { readConsumeId } from "../../words/consume-id.ts";
import { parsePublicId } from "../../words/public-id.ts";
import type { Context } from "../context.ts";
import { auditCustomer, openWallet, saveChange, summarize } from "../customers/open-wallet.ts";

export type ReverseOutcome =
  | { kind: "reversed"; credits: number; quantity: number }
  | { kind: "consume_not_found" }
  | Exclude<ReversalOutcome, { kind: "reversed" }>;

/** Undoes a consume, whole or by some of its quantity. The ledger keeps both: a correction is always a new entry. */
export function reverseConsume(
  cell: Pool,
  context: Context,
  input: { readonly consumeId: string; readonly quantity: number | null },
): Promise<ReverseOutcome> {
  return transaction<ReverseOutcome>(cell, async (tx) => {
    const id = parsePublicId("con", input.consumeId);
    if (id === null) return { kind: "consume_not_found" };
    const { customerNumber, sequence, recordedAt } = readConsumeId(id);
    const { environmentId } = context;
    const customerId = await findCustomerId(tx, { environmentId, customerNumber });
    const open = customerId === null ? null : await openWallet(tx, context, customerId);
    // Between the two look-ups the id may have been erased and given to somebody else.
    if (open === null || open.customerNumber !== customerNumber) return { kind: "consume_not_found" };
    const consume = await findConsume(tx, { environmentId, customerNumber, sequence, recordedAt });
    if (consume === null) return { kind: "consume_not_found" };
    const slots = consume.parts.map(({ grant }) => grant);
    const grants = await listGrantsOfSlots(tx, open, slots);
    const { catalog, wallet, clock } = open;
    const outcome = decideReversal(catalog, wallet, { consume, quantity: input.quantity, grants }, clock);
    if (outcome.kind !== "reversed") return outcome;
    const { credits, quantity, change } = outcome;
    await saveChange(tx, open, change);
    await auditCustomer(tx, context, open, {
      action: "consume.reversed",
      subject: input.consumeId,
      before: summarize(wallet, catalog),
      after: { ...summarize(change.wallet, catalog), credits, quantity },
    });
    return { kind: "reversed", credits, quantity };
  });
}
