import type { GrantState } from "../../format/ledger-words.ts";
import { formatCount } from "../../format/numbers.ts";
import type { PlanVersion } from "../customers/queries.ts";
import type { Entry, Grant, KnownGrants, PlanChange } from "../ledger/queries.ts";

/** What can still be spent, in the order in which it will be: soonest expiry first; on a tie given before bought, then oldest. */
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

/** What became of a grant; `changes` are the plan's, by which an allowance may have ended before its time. */
export function stateOfGrant(grant: Grant, changes: readonly PlanChange[], now: number): GrantState {
  if (grant.revokedAt !== null) return "revoked";
  if (grant.remaining > 0) return "open";
  if (grant.expiresAt !== null && Date.parse(grant.expiresAt) <= now) return "expired";
  const isLeft =
    grant.kind === "allowance" &&
    changes.some(({ change, effectiveAt }) => change === "ended" && effectiveAt > grant.recordedAt);
  return isLeft ? "ended" : "spent";
}

/** The one of each pool that the next charge takes from first, as `BURN_ORDER` says. */
export function findNextGrants(grants: readonly Grant[]): Set<number> {
  const firsts = new Map<string, number>();
  for (const { pool, grant } of openInBurnOrder(grants)) if (!firsts.has(pool)) firsts.set(pool, grant);
  return new Set(firsts.values());
}

/**
 * The grant that an entry is about, if it is among the known ones. An entry names the slot of the wallet that it moved, which
 * several grants of one kind and expiry share under the first one's number; the grant that was given with it has its very time.
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

type CreditsBesides = { readonly pool: string; readonly credits: number; readonly why: string };

/** What a balance has beyond the grants that were read, and why it is not among them, as far as that can be known. */
export function creditsBesides(
  balances: readonly { readonly pool: string; readonly balance: number }[],
  { grants, isAll }: KnownGrants,
): CreditsBesides[] {
  const why = isAll
    ? "credits of a period that has begun, written down with the next request."
    : `left of grants that are further back than the newest ${formatCount(grants.length)}, or of a period that has begun.`;
  return balances.flatMap(({ pool, balance }) => {
    let credits = balance;
    for (const grant of grants) if (grant.pool === pool) credits -= grant.remaining;
    return credits > 0 ? [{ pool, credits, why }] : [];
  });
}

/**
 * When a plan's credits begin anew: what does not roll over ends with its period. Null where that is not known: of
 * allowances that roll over, and while the new period's credits are not written down yet.
 */
export function findRenewal(
  { pool, period, rollover }: PlanVersion["allowances"][number],
  grants: readonly Grant[],
): string | null {
  if (rollover > 0 || period === "once") return null;
  const given = grants.filter((grant) => grant.kind === "allowance" && grant.pool === pool);
  // The newest may be of a plan that was left again: then the one of now is older, and open.
  const current = given.find(({ remaining }) => remaining > 0) ?? given[0];
  const expiresAt = current?.expiresAt ?? null;
  return expiresAt !== null && Date.parse(expiresAt) > Date.now() ? expiresAt : null;
}
