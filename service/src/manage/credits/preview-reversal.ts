import { type Static, Type } from "typebox";
import type { Change, EntryKind, Part } from "../../entitlement/entry.ts";
import { reverseConsume as decideReversal, type ReversalOutcome } from "../../entitlement/reverse-consume.ts";
import type { GrantFacts } from "../../entitlement/revoke-grant.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf, type Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import type { CustomerId, EnvironmentId } from "../../primitives/brand.ts";
import { readConsumeId } from "../../primitives/consume-id.ts";
import { parseTimedId } from "../../primitives/public-id.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { listGrantsOfSlots } from "../../store/cell/grants.ts";
import { listOverrides } from "../../store/cell/overrides.ts";
import { listConsumes } from "../../store/cell/reversals.ts";
import { holdLedger } from "../../store/cell/usage/attached-months.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import { nullable, timeField, timeOrNull } from "../fields.ts";
import { refuseUnknownReversals } from "../refuse-detached-ledger.ts";
import { chooseConsumes, overridesOf, slotsOf } from "./reverse-consume.ts";

export const ReversalPreview = Type.Object({
  quantity: Type.Integer({ description: "Quantity that would be reversed.", examples: [1] }),
  credits: Type.Integer({ description: "Credits that would be returned.", examples: [10] }),
  overageCredits: Type.Integer({
    description: "Overage that would be reversed. Reversing overage does not return credits.",
    examples: [0],
  }),
  pool: Type.String({ examples: ["credits"] }),
  balanceBefore: Type.Integer({ examples: [90] }),
  balanceAfter: Type.Integer({ examples: [100] }),
  returns: Type.Array(
    Type.Object({
      grant: Type.Integer({
        description:
          "Grant number. If several grants have the same kind and expiry, the number of the first grant.",
        examples: [7],
      }),
      kind: Type.Enum(["allowance", "purchase", "manual", "promotion"]),
      expiresAt: nullable(timeField),
      credits: Type.Integer({ description: "Credits returned to the grant.", examples: [10] }),
      spendable: Type.Integer({ description: "Returned credits that can be spent again.", examples: [10] }),
      rest: nullable(
        Type.Enum(["revoked", "expired", "waiting", "lowered"], {
          description:
            "Why the other returned credits cannot be spent. `revoked`: the grant was revoked. `expired`: the grant has expired. " +
            "`waiting`: the plan that granted the credits is paused. `lowered`: a new plan version has lowered the allowance. Null if " +
            "all credits can be spent.",
        }),
      ),
    }),
    { description: "The grants that get credits back, in the order in which they were spent." },
  ),
});

export type ReversalPreview = Static<typeof ReversalPreview>;

export type PreviewOutcome =
  | { kind: "preview"; preview: ReversalPreview }
  | { kind: "consume_not_found" | "customer_not_found" | "item_required" }
  | Exclude<ReversalOutcome, { kind: "reversed" }>;

/**
 * Returns what reversing a charge would do, using the same rules as the reversal. Writes nothing. The history window does not apply,
 * because a caller who has the charge's ID can also reverse older charges.
 */
export function previewReversal(
  cell: Pool,
  environmentId: EnvironmentId,
  input: {
    readonly customerId: CustomerId;
    readonly consumeId: string;
    readonly item: number | null;
    readonly quantity: number | null;
  },
): Promise<PreviewOutcome> {
  return snapshot<PreviewOutcome>(cell, async (tx) => {
    await holdLedger(tx);
    const customer = await findCustomerRecord(tx, { environmentId, customerId: input.customerId });
    if (customer === null) return { kind: "customer_not_found" };
    const { customerNumber, wallet } = customer;
    const uuid = parseTimedId("con", input.consumeId);
    const id = uuid === null ? null : readConsumeId(uuid);
    if (id === null || id.customerNumber !== customerNumber) return { kind: "consume_not_found" };
    const { sequence, recordedAt } = id;
    const all = await listConsumes(tx, { environmentId, customerNumber, sequence, recordedAt });
    await refuseUnknownReversals(tx, recordedAt);
    const consumes = chooseConsumes(all, input);
    if ("kind" in consumes) return consumes;
    const [consume] = consumes;
    // The preview can show only one pool and one list of grants.
    if (consume === undefined || consumes.length > 1) return { kind: "item_required" };
    const name = { environmentId, customerNumber };
    const grants = await listGrantsOfSlots(tx, name, slotsOf(consumes));
    const overrides = await listOverrides(tx, name, overridesOf(consumes));
    const catalog = await loadCatalog(tx, environmentId);
    const clock = await readClock(tx);
    const request = { consumes, quantity: input.quantity, grants, overrides };
    const outcome = decideReversal(catalog, wallet, request, clock);
    if (outcome.kind !== "reversed") return outcome;
    const { quantity, credits, overageCredits, change } = outcome;
    const viewed = viewWallet(catalog, wallet, clock);
    const preview = {
      quantity,
      credits,
      overageCredits,
      pool: new CatalogNames(catalog).pool(consume.pool),
      balanceBefore: balanceOf(viewed, consume.pool),
      balanceAfter: balanceOf(change.wallet, consume.pool),
      returns: describeReturns(viewed, change, grants),
    };
    return { kind: "preview", preview };
  });
}

type Return = ReversalPreview["returns"][number];

/** Ledger entries before the reversal entry are changes that were due. Later entries expire or revoke returned credits. */
function describeReturns(
  before: Wallet,
  { entries, wallet: after }: Change,
  grants: readonly GrantFacts[],
): Return[] {
  const at = entries.findIndex(({ kind }) => kind === "reverse");
  const taken = entries.slice(at + 1).flatMap(({ kind, parts }) => parts.map((part) => ({ kind, ...part })));
  return (entries[at]?.parts ?? []).map(({ grant: slot, amount: credits }: Part): Return => {
    const facts = grants.find(({ number }) => number === slot);
    assert(facts !== undefined, "a charge spent recorded grants");
    const again = taken.find(({ grant }) => grant === slot);
    return {
      grant: slot,
      kind: facts.kind,
      expiresAt: timeOrNull(facts.expiresAt),
      credits,
      spendable: credits + (again?.amount ?? 0),
      rest: again === undefined ? null : findRest(again.kind, { slot, credits }, { before, after }),
    };
  });
}

function findRest(
  taken: EntryKind,
  { slot, credits }: { readonly slot: number; readonly credits: number },
  { before, after }: { readonly before: Wallet; readonly after: Wallet },
): Return["rest"] {
  if (taken === "revoke") return "revoked";
  const waiting = waitingIn(after, slot);
  if (waiting === null) return after.grants.some(({ number }) => number === slot) ? "lowered" : "expired";
  return waiting < (waitingIn(before, slot) ?? 0) + credits ? "lowered" : "waiting";
}

/** The remaining credits of a grant that belongs to a paused plan. Null for any other grant. */
function waitingIn({ paused }: Wallet, number: number): number | null {
  const grants = paused.flatMap((plan) => plan.grants);
  return grants.find((grant) => grant.number === number)?.remaining ?? null;
}
