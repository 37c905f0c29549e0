import type { GrantState } from "../../format/ledger.ts";
import { formatCount } from "../../format/numbers.ts";
import type { PlanVersion } from "../customers/queries.ts";
import type { Entry, Grant, KnownGrants, PlanChange } from "../ledger/queries.ts";

/** Open grants in spending order: earliest expiry first. Ties: free before purchased, then oldest first. */
export function openInBurnOrder(grants: readonly Grant[]): Grant[] {
  return grants
    .filter(({ remaining }) => remaining > 0)
    .sort(
      (a, b) =>
        expiryOf(a) - expiryOf(b) ||
        Number(a.kind === "purchase") - Number(b.kind === "purchase") ||
        a.grant - b.grant,
    );
}

function expiryOf({ expiresAt }: Grant): number {
  return expiresAt === null ? Number.MAX_SAFE_INTEGER : Date.parse(expiresAt);
}

/** State of a grant. Plan changes can end an allowance early. */
export function stateOfGrant(grant: Grant, changes: readonly PlanChange[], now: number): GrantState {
  if (grant.movedTo !== null) return "moved";
  if (grant.revokedAt !== null) return "revoked";
  if (grant.remaining > 0) return "open";
  if (grant.held > 0) return "held";
  if (grant.expiresAt !== null && Date.parse(grant.expiresAt) <= now) return "expired";
  const isLeft =
    grant.kind === "allowance" &&
    changes.some(({ change, effectiveAt }) => change === "ended" && effectiveAt > grant.recordedAt);
  return isLeft ? "ended" : "spent";
}

/** The grant of each pool that is spent next. */
export function findNextGrants(grants: readonly Grant[]): Set<number> {
  const firsts = new Map<string, number>();
  for (const { pool, grant } of openInBurnOrder(grants)) if (!firsts.has(pool)) firsts.set(pool, grant);
  return new Set(firsts.values());
}

/**
 * The grant that a ledger entry changed. Null if it is not loaded. Grants with the same kind and expiry share a wallet slot, which entries
 * identify by the number of the first grant. The entry that created a grant has the same timestamp as the grant.
 */
export function grantOfEntry(entry: Entry, known: readonly Grant[]): Grant | null {
  const [part] = entry.parts;
  if (part === undefined) return null;
  const given =
    entry.kind === "grant" &&
    known.find(
      ({ recordedAt, pool, credits, grant }) =>
        recordedAt === entry.recordedAt &&
        pool === entry.pool &&
        credits === entry.amount &&
        grant >= part.grant,
    );
  return given || findGrant(known, part.grant);
}

export function findGrant(known: readonly Grant[], number: number): Grant | null {
  return known.find(({ grant }) => grant === number) ?? null;
}

type UnexplainedCredits = { readonly pool: string; readonly credits: number; readonly why: string };

/** Credits in the balance that are in no loaded grant, with the likely reason. */
export function unexplainedCredits(
  balances: readonly { readonly pool: string; readonly balance: number }[],
  { grants, isAll }: KnownGrants,
): UnexplainedCredits[] {
  const why = isAll
    ? "from the new period. They are listed here after the customer's next request."
    : `from older grants (only the newest ${formatCount(grants.length)} are shown) or from the new period.`;
  return balances.flatMap(({ pool, balance }) => {
    let credits = balance;
    for (const grant of grants) if (grant.pool === pool) credits -= grant.remaining;
    return credits > 0 ? [{ pool, credits, why }] : [];
  });
}

/** When an allowance renews. Null if unknown, which happens with rollover and until the new period is recorded. */
export function findRenewal(
  { pool, period, rollover }: PlanVersion["allowances"][number],
  grants: readonly Grant[],
): string | null {
  if (rollover > 0 || period === "once") return null;
  const given = grants.filter((grant) => grant.kind === "allowance" && grant.pool === pool);
  // If the newest allowance belongs to a former plan, the allowance of the current plan is older and still open.
  const current = given.find(({ remaining, held }) => remaining + held > 0) ?? given[0];
  const expiresAt = current?.expiresAt ?? null;
  return expiresAt !== null && Date.parse(expiresAt) > Date.now() ? expiresAt : null;
}
