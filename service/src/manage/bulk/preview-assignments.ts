import { assignPlan } from "../../entitlement/assign-plan.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId, Instant, PlanId } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type Customer, describeCustomer } from "../customers/describe-customer.ts";
import { type BulkFilter, type MatchedPage, matchCustomers } from "./match-customers.ts";

const SAMPLE_SIZE = 10;

export type BulkAssignment = {
  readonly filter: BulkFilter;
  /** The plan's key. */
  readonly plan: string;
  readonly endsAt: Instant | null | undefined;
  readonly shorten: boolean;
  /** The position at which the previous call stopped. */
  readonly before: number | null;
};

export type BulkRefusal = { readonly kind: "plan_not_found" | "ends_in_the_past" };

export type Preview = {
  readonly kind: "preview";
  readonly matching: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly wouldShorten: number;
  readonly sample: readonly { readonly before: Customer; readonly after: Customer }[];
  readonly next: number | null;
};

/** Returns what the assignment would change now. Writes nothing. */
export async function previewAssignments(
  cell: Pool,
  environmentId: EnvironmentId,
  wanted: BulkAssignment,
): Promise<Preview | BulkRefusal> {
  const refusal = await findRefusal(cell, environmentId, wanted);
  if (refusal !== null) return refusal;
  const sample: Preview["sample"][number][] = [];
  const sampleSize = wanted.filter.customerIds?.length ?? SAMPLE_SIZE;
  let matching = 0;
  let changed = 0;
  let wouldShorten = 0;
  const pages = matchCustomers(cell, environmentId, wanted.filter, wanted.before, (page) =>
    previewPage(page, wanted, sampleSize - sample.length),
  );
  for (;;) {
    const page = await pages.next();
    if (page.done === true) {
      const unchanged = matching - changed - wouldShorten;
      return { kind: "preview", matching, changed, unchanged, wouldShorten, sample, next: page.value };
    }
    if (page.value === null) return { kind: "plan_not_found" };
    matching += page.value.matching;
    changed += page.value.changed;
    wouldShorten += page.value.wouldShorten;
    sample.push(...page.value.sample);
  }
}

/** Previews one page. Returns null if the plan can no longer be assigned. */
function previewPage(
  { catalog, clock, records }: MatchedPage,
  { plan: key, endsAt, shorten }: BulkAssignment,
  sampleSize: number,
): Pick<Preview, "matching" | "changed" | "wouldShorten" | "sample"> | null {
  const plan = findPlan(catalog, key);
  if (plan === null) return null;
  const sample: Preview["sample"][number][] = [];
  let changed = 0;
  let wouldShorten = 0;
  for (const record of records) {
    const outcome = assignPlan(catalog, record.wallet, { plan, anchor: null, endsAt, shorten }, clock);
    const wallet = outcome.kind === "changed" ? outcome.change.wallet : record.wallet;
    if (outcome.kind === "changed") changed += 1;
    if (outcome.kind === "would_shorten") wouldShorten += 1;
    if (sample.length >= sampleSize) continue;
    const before = describeCustomer(record, catalog, clock);
    sample.push({ before, after: describeCustomer({ ...record, wallet }, catalog, clock) });
  }
  return { matching: records.length, changed, wouldShorten, sample };
}

/** Returns an error if the plan cannot be assigned, or if the end date is in the past. Otherwise null. */
export function findRefusal(
  cell: Pool,
  environmentId: EnvironmentId,
  { plan, endsAt }: Pick<BulkAssignment, "plan" | "endsAt">,
): Promise<BulkRefusal | null> {
  return single(cell, async (tx) => {
    if (findPlan(await loadCatalog(tx, environmentId), plan) === null) return { kind: "plan_not_found" };
    const isPast = typeof endsAt === "number" && endsAt <= (await readClock(tx));
    return isPast ? { kind: "ends_in_the_past" } : null;
  });
}

/** Finds a plan by its key. Returns null if the plan does not exist or is archived. */
export function findPlan(catalog: Catalog, key: string): PlanId | null {
  return catalog.plans.values().find((plan) => plan.key === key && plan.archivedAt === null)?.id ?? null;
}
