import type { Instant, PoolId } from "../primitives/brand.ts";
import { type Catalog, getPlan, getVersion, latestVersion, type Plan } from "./catalog.ts";
import { decisionTime } from "./draft.ts";
import { isAhead } from "./period.ts";
import { viewWallet } from "./view-wallet.ts";
import type { Assignment, GrantKind, Wallet } from "./wallet.ts";

export type OpeningBalances = {
  readonly plan: { readonly plan: Plan; readonly anchor: Instant; readonly endsAt: Instant | null } | null;
  /** The remaining credits of each allowance in the plan's latest version. */
  readonly allowances: readonly { readonly pool: PoolId; readonly remaining: number }[];
  readonly credits: readonly OpeningCredits[];
};

type OpeningCredits = {
  readonly pool: PoolId;
  readonly kind: Exclude<GrantKind, "allowance">;
  readonly credits: number;
  readonly expiresAt: Instant | null;
};

/**
 * The data that another installation needs to give the customer the same credits, under the plan's latest version. Holds count as released.
 * Allowance credits that the latest version would not grant become manual credits with the same expiry. These are rolled-over credits, and
 * credits from an override or an older version.
 */
export function openingBalances(catalog: Catalog, stored: Wallet, clock: Instant): OpeningBalances {
  const wallet = viewWallet(catalog, stored, clock);
  const { assignment } = wallet;
  const totals = new Totals();
  const left = new Map<PoolId, number>();
  for (const { number, pool, kind, remaining, expiresAt } of ownedGrants(
    wallet,
    decisionTime(catalog, stored, clock),
  )) {
    if (kind !== "allowance") {
      totals.add({ pool, kind, credits: remaining, expiresAt });
      continue;
    }
    const isCurrent = assignment?.allowances.some(({ grant }) => grant === number) ?? false;
    const kept = isCurrent ? Math.min(remaining, latestAllowance(catalog, assignment, pool)) : 0;
    if (isCurrent) left.set(pool, kept);
    totals.add({ pool, kind: "manual", credits: remaining - kept, expiresAt });
  }
  if (assignment === null) return { plan: null, allowances: [], credits: totals.list() };
  const plan = getPlan(catalog, assignment.plan);
  const { anchor, endsAt } = assignment;
  return {
    plan: { plan, anchor, endsAt },
    allowances: latestVersion(plan).allowances.map(({ pool }) => ({ pool, remaining: left.get(pool) ?? 0 })),
    credits: totals.list(),
  };
}

/** The customer's grants, including credits held by open holds. Excludes held credits that were revoked or have expired. */
function ownedGrants({ grants, held }: Wallet, now: Instant) {
  const owned = new Map(grants.map((grant) => [grant.number, { ...grant }]));
  for (const { grant: number, pool, kind, expiresAt, credits, revoked } of held) {
    const known = owned.get(number);
    if (known !== undefined) known.remaining += credits - revoked;
    // Expired credits do not return to the balance. Nor does the allowance of a plan the customer has left.
    else if (kind !== "allowance" && isAhead(expiresAt, now))
      owned.set(number, { number, pool, kind, expiresAt, remaining: credits - revoked });
  }
  return owned.values();
}

/** The credits that the plan's latest version grants in the pool. 0 if the current version's allowance has a different period. */
function latestAllowance(catalog: Catalog, assignment: Assignment | null, pool: PoolId): number {
  if (assignment === null) return 0;
  const find = ({ allowances }: { readonly allowances: Plan["versions"][number]["allowances"] }) =>
    allowances.find((allowance) => allowance.pool === pool);
  const current = find(getVersion(catalog, assignment.version));
  const latest = find(latestVersion(getPlan(catalog, assignment.plan)));
  return current?.period === latest?.period ? (latest?.credits ?? 0) : 0;
}

/** Adds up credits with the same pool, kind and expiry. */
class Totals {
  readonly #credits = new Map<string, OpeningCredits>();

  add(given: OpeningCredits): void {
    if (given.credits === 0) return;
    const key = JSON.stringify([given.pool, given.kind, given.expiresAt]);
    const known = this.#credits.get(key)?.credits ?? 0;
    this.#credits.set(key, { ...given, credits: known + given.credits });
  }

  list(): OpeningCredits[] {
    return [...this.#credits.values()];
  }
}
