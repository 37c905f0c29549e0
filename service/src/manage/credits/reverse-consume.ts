import type { ShortHash } from "../../entitlement/fingerprint.ts";
import {
  type ConsumeFacts,
  reverseConsume as decideReversal,
  type ReversalOutcome,
  type ReversedTotal,
  totalOf,
} from "../../entitlement/reverse-consume.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { type ConsumeId, readConsumeId } from "../../primitives/consume-id.ts";
import { parseTimedId } from "../../primitives/public-id.ts";
import { findCustomerId } from "../../store/cell/customers.ts";
import { listGrantsOfSlots } from "../../store/cell/grants.ts";
import { type OpenWallet, openWallet } from "../../store/cell/open-wallets.ts";
import { listOverrides } from "../../store/cell/overrides.ts";
import { listConsumes, listReversals, type StoredConsume } from "../../store/cell/reversals.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { watchReversals } from "../refuse-detached-ledger.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type ReverseInput = {
  readonly consumeId: string;
  /** Index of the charge among the charges of the request. Null reverses all charges. */
  readonly item?: number | null;
  /** Null reverses everything not yet reversed. */
  readonly quantity: number | null;
  /** Must be the customer of the charge. Undefined allows any customer. */
  readonly customerId?: CustomerId;
  /** Identifies this reversal. Repeating the call with the same reference reverses nothing more. */
  readonly reference?: string | null;
  readonly note?: string | null;
};

export type ReverseOutcome =
  | ({ kind: "reversed" } & ReversedTotal)
  | ({ kind: "already_reversed" } & ReversedTotal)
  | { kind: "consume_not_found" | "customer_not_found" | "item_required" | "reference_reused" }
  | Exclude<ReversalOutcome, { kind: "reversed" }>;

/** Reverses charges, or part of one charge's quantity, by adding ledger entries. The charges stay in the ledger. */
export function reverseConsume(cell: Pool, context: Context, input: ReverseInput): Promise<ReverseOutcome> {
  const reverseIn = async (tx: Tx): Promise<ReverseOutcome> => {
    const uuid = parseTimedId("con", input.consumeId);
    const id = uuid === null ? null : readConsumeId(uuid);
    const open = await openOwner(tx, context, input, id);
    if (open === null && input.customerId !== undefined) return { kind: "customer_not_found" };
    // Between the two lookups, the customer may have been erased and the ID reused.
    if (id === null || open === null || open.customerNumber !== id.customerNumber)
      return { kind: "consume_not_found" };
    const refuseUnknown = await watchReversals(tx, id.recordedAt);
    const earlier = await findEarlier(tx, id, input);
    if (earlier !== null) return earlier;
    const { environmentId, customerNumber } = open;
    const all = await listConsumes(tx, { ...id, environmentId, customerNumber });
    await refuseUnknown();
    const chosen = chooseConsumes(all, input);
    return "kind" in chosen ? chosen : reverseChosen(tx, context, open, chosen, input);
  };
  const { customerId } = input;
  return customerId === undefined
    ? transaction(cell, reverseIn)
    : walletTransaction(cell, context, customerId, reverseIn);
}

async function openOwner(
  tx: Tx,
  context: Context,
  input: ReverseInput,
  id: ConsumeId | null,
): Promise<OpenWallet | null> {
  if (input.customerId !== undefined) return openWallet(tx, context, input.customerId);
  if (id === null) return null;
  const { environmentId } = context;
  const customerId = await findCustomerId(tx, { environmentId, customerNumber: id.customerNumber });
  return customerId === null ? null : openWallet(tx, context, customerId);
}

/** Returns the charges to reverse: all charges of the request, or only the charge at index `item`. */
export function chooseConsumes<T extends ConsumeFacts>(
  all: readonly T[],
  { item = null, quantity }: Pick<ReverseInput, "item" | "quantity">,
): readonly T[] | { readonly kind: "consume_not_found" | "item_required" } {
  const chosen = item === null ? all : all.slice(item, item + 1);
  if (chosen.length === 0) return { kind: "consume_not_found" };
  return quantity !== null && chosen.length > 1 ? { kind: "item_required" } : chosen;
}

async function findEarlier(
  tx: Tx,
  id: ConsumeId,
  { reference = null, item = null, quantity }: ReverseInput,
): Promise<ReverseOutcome | null> {
  if (reference === null) return null;
  const earlier = await listReversals(tx, id, reference);
  const [first] = earlier;
  if (first === undefined) return null;
  // A request to reverse everything matches every earlier reversal with the same reference.
  const isWhole = item === null && quantity === null;
  const isFirst = (item ?? first.item) === first.item && (quantity ?? first.quantity) === first.quantity;
  const isSame = isWhole || (earlier.length === 1 && isFirst);
  return isSame ? { kind: "already_reversed", ...totalOf(earlier) } : { kind: "reference_reused" };
}

type Reversing = Pick<ReverseInput, "consumeId" | "item" | "quantity" | "reference" | "note"> & {
  /** The idempotency key of a backend's request. */
  readonly keyHash?: ShortHash;
};

/** Reverses charges of a locked wallet, for an operator or for a backend. */
export async function reverseChosen(
  tx: Tx,
  context: Context,
  open: OpenWallet,
  consumes: readonly StoredConsume[],
  input: Reversing,
): Promise<ReversalOutcome> {
  const { consumeId, item = null, quantity: wanted, reference = null, note = null, keyHash = null } = input;
  const { catalog, wallet, clock } = open;
  const grants = await listGrantsOfSlots(tx, open, slotsOf(consumes));
  const overrides = await listOverrides(tx, open, overridesOf(consumes));
  const request = { consumes, quantity: wanted, grants, overrides };
  const outcome = decideReversal(catalog, wallet, request, clock);
  if (outcome.kind !== "reversed") return outcome;
  const { quantity, credits, overageCredits, change } = outcome;
  const annotation = { ...(reference === null ? {} : { reference }), ...(note === null ? {} : { note }) };
  const metadata = Object.keys(annotation).length === 0 ? null : JSON.stringify(annotation);
  const { before, after } = compareWallets(open, change.wallet);
  const named = item === null ? {} : { item };
  // All charges of a request have the same member.
  const memberId = consumes[0]?.memberId ?? null;
  const edit = {
    ...open,
    change,
    annotation: { entry: { kind: "reverse" as const, keyHash, memberId, metadata } },
    audits: [
      {
        ...{ action: "consume.reversed", subject: consumeId, before },
        after: { ...after, ...named, credits, quantity, ...(overageCredits === 0 ? {} : { overageCredits }) },
      },
    ],
  };
  await saveEdits(tx, { ...context, clock }, [edit]);
  return outcome;
}

/** Numbers of the grants that the charges took credits from. */
export function slotsOf(consumes: readonly ConsumeFacts[]): number[] {
  return [...new Set(consumes.flatMap(({ parts }) => parts.map(({ grant }) => grant)))];
}

/** Numbers of the overrides that priced the charges. */
export function overridesOf(consumes: readonly ConsumeFacts[]): number[] {
  return [...new Set(consumes.flatMap(({ overrides }) => overrides ?? []))];
}
