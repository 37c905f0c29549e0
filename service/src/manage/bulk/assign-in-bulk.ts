import { assignPlan } from "../../entitlement/assign-plan.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { type LockMode, lookUpByIndex, openWallets } from "../../store/cell/open-wallets.ts";
import { saveEdits, type WalletEdit } from "../../store/cell/wallet-changes.ts";
import { type BulkContext, type Context, countChanged, recordAudit, startBulk } from "../context.ts";
import { timeOrNull } from "../fields.ts";
import { CHUNK_SIZE, untilDone, withRetries } from "./chunks.ts";
import { isMeant, matchCustomers } from "./match-customers.ts";
import { type BulkAssignment, type BulkRefusal, findPlan, findRefusal } from "./preview-assignments.ts";
import type { Caller } from "./turns.ts";

/** The number of matches may differ from the preview by at most 1%. */
const TOLERATED_SHARE = 0.01;

export type BulkOutcome =
  | BulkRefusal
  | { readonly kind: "changed_meanwhile"; readonly matching: number }
  | (BulkCounts & {
      readonly kind: "assigned";
      readonly matching: number;
      readonly next: number | null;
      readonly auditEntryId: string | null;
    });

type BulkCounts = {
  readonly changed: number;
  readonly unchanged: number;
  readonly wouldShorten: number;
  readonly skipped: number;
};

/**
 * Assigns a plan to all matching customers, one chunk at a time. Safe to repeat and to interrupt, because customers who already have the
 * plan are not changed. Skips customers who no longer match when their chunk is processed. Customers who start to match during the call are
 * not included.
 */
export async function assignInBulk(
  cell: Pool,
  asked: Context,
  wanted: BulkAssignment & { readonly expectedCount: number },
  caller: Caller,
): Promise<BulkOutcome> {
  const refusal = await findRefusal(cell, asked.environmentId, wanted);
  if (refusal !== null) return refusal;
  const { customers, next } = await collect(cell, asked, wanted);
  const matching = customers.length;
  const tolerated = Math.ceil(wanted.expectedCount * TOLERATED_SHARE);
  if (Math.abs(matching - wanted.expectedCount) > tolerated) return { kind: "changed_meanwhile", matching };

  const context = await startBulk(cell, asked, "plan.assigned_in_bulk");
  let auditEntryId: string | null = null;
  let counts: BulkCounts = { changed: 0, unchanged: 0, wouldShorten: 0, skipped: 0 };
  let isUncertain = false;
  const onUnknown = (): void => {
    isUncertain = true;
  };
  try {
    for (let at = 0; at < matching && caller.isWaiting(); at += CHUNK_SIZE) {
      await withRetries(() => caller.admitAgain());
      await untilDone(customers.slice(at, at + CHUNK_SIZE), async (rest, lockMode) => {
        const done = await withRetries(() => assignOnce(cell, context, wanted, rest, lockMode), onUnknown);
        counts = addCounts(counts, done.counts);
        return done.lockedElsewhere;
      });
    }
  } finally {
    if (isUncertain) counts = addLost(counts, await countChanged(cell, context, counts.changed));
    if (counts.changed > 0) auditEntryId = await auditBulk(cell, context, wanted, counts);
  }
  return { kind: "assigned", matching, next, ...counts, auditEntryId };
}

async function collect(
  cell: Pool,
  { environmentId }: Context,
  { filter, before }: BulkAssignment,
): Promise<{ customers: CustomerId[]; next: number | null }> {
  const customers: CustomerId[] = [];
  const pages = matchCustomers(cell, environmentId, filter, before, ({ records }) =>
    records.map(({ customerId }) => customerId),
  );
  for (;;) {
    const page = await pages.next();
    if (page.done === true) return { customers, next: page.value };
    customers.push(...page.value);
  }
}

type Done = { readonly counts: BulkCounts; readonly lockedElsewhere: readonly CustomerId[] };

function assignOnce(
  cell: Pool,
  context: Context,
  wanted: BulkAssignment,
  customers: readonly CustomerId[],
  lockMode: LockMode,
): Promise<Done> {
  return transaction(cell, async (tx) => {
    await lookUpByIndex(tx);
    return assignChunk(tx, context, wanted, customers, lockMode);
  });
}

async function assignChunk(
  tx: Tx,
  context: Context,
  wanted: BulkAssignment,
  customers: readonly CustomerId[],
  lockMode: LockMode,
): Promise<Done> {
  const { catalog, clock, wallets, lockedElsewhere } = await openWallets(
    tx,
    context.environmentId,
    customers,
    lockMode,
  );
  const plan = findPlan(catalog, wanted.plan);
  const edits: WalletEdit[] = [];
  let skipped = customers.length - wallets.size - lockedElsewhere.size;
  let wouldShorten = 0;
  for (const { wallet, ...name } of wallets.values()) {
    if (plan === null || !isMeant(wanted.filter, wallet, catalog, clock)) {
      skipped += 1;
      continue;
    }
    const request = { plan, anchor: null, endsAt: wanted.endsAt, shorten: wanted.shorten };
    const outcome = assignPlan(catalog, wallet, request, clock);
    if (outcome.kind === "would_shorten") wouldShorten += 1;
    if (outcome.kind !== "changed") continue;
    const { change } = outcome;
    const compared = compareWallets({ catalog, wallet, clock }, change.wallet);
    edits.push({ ...name, change, audits: [{ action: "plan.assigned", subject: wanted.plan, ...compared }] });
  }
  await saveEdits(tx, { ...context, clock }, edits);
  const changed = edits.length;
  const unchanged = customers.length - lockedElsewhere.size - skipped - changed - wouldShorten;
  return { counts: { changed, unchanged, wouldShorten, skipped }, lockedElsewhere: [...lockedElsewhere] };
}

function addCounts(a: BulkCounts, b: BulkCounts): BulkCounts {
  return {
    changed: a.changed + b.changed,
    unchanged: a.unchanged + b.unchanged,
    wouldShorten: a.wouldShorten + b.wouldShorten,
    skipped: a.skipped + b.skipped,
  };
}

/** Corrects the counts after a retried commit. The retry counts customers changed by the first attempt as unchanged or skipped. */
function addLost(counts: BulkCounts, changed: number): BulkCounts {
  const lost = changed - counts.changed;
  const unchanged = Math.max(0, counts.unchanged - lost);
  const skipped = Math.max(0, counts.skipped - Math.max(0, lost - counts.unchanged));
  return { ...counts, changed, unchanged, skipped };
}

/** IDs and the search text may be personal data. The audit log records only the number of IDs and whether a search text was sent. */
function auditBulk(
  cell: Pool,
  context: BulkContext,
  { filter, plan, endsAt }: BulkAssignment,
  counts: BulkCounts,
): Promise<string> {
  const customerIds = filter.customerIds?.length ?? null;
  const after = {
    ...filter,
    customerIds,
    search: filter.search !== null,
    endsAt: timeOrNull(endsAt ?? null),
    ...counts,
    startedAt: timeOrNull(context.bulk.startedAt),
  };
  return recordAudit(cell, context, { action: "plan.assigned_in_bulk", subject: plan, after });
}
