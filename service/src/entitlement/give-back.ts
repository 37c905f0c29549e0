import type { Instant } from "../primitives/brand.ts";
import { type Catalog, getVersion } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import type { Part } from "./entry.ts";
import { isAhead } from "./period.ts";
import type { Assignment, HeldCredits, PausedPlan, Wallet } from "./wallet.ts";

/** The grant that credits were taken from. */
export type Origin = Pick<HeldCredits, "pool" | "kind" | "expiresAt"> & {
  readonly number: number;
  /** How many of the returned credits were revoked after they were taken. */
  readonly toRevoke: number;
  /** The hold that ends. Null for a reversal. */
  readonly hold: number | null;
};

type Returned = { readonly parts: readonly Part[]; readonly origins: readonly Origin[] };

/**
 * Returns credits to the grants they were taken from, for a reversal or for a hold that ends. `put` moves the credits. Returned credits
 * keep their expiry. Credits that expired, were revoked or were reduced in the meantime are removed again immediately, so that credits
 * cannot avoid expiry or revocation by being held or spent.
 */
export function giveBack(
  catalog: Catalog,
  draft: Draft,
  { parts, origins }: Returned,
  put: () => void,
): void {
  const homes = origins.map((origin) => findHome(draft.wallet, origin, draft.at));
  for (const [index, { number, pool, kind, expiresAt }] of origins.entries()) {
    if (homes[index] !== "open") draft.place({ number, pool, kind, expiresAt });
  }
  put();
  for (const [index, origin] of origins.entries()) {
    const { number, pool, toRevoke, hold } = origin;
    const amount = (parts[index]?.amount ?? 0) - toRevoke;
    const isHome = homes[index] === "open" || homes[index] === "spent";
    if (toRevoke > 0)
      draft.move({ kind: "revoke", pool, parts: [{ grant: number, amount: -toRevoke }], hold });
    if (isHome) expireExcess(catalog, draft, origin, amount);
    else takeAway(catalog, draft, origin, amount);
  }
}

/** The state of a grant that credits are returned to: usable (`open`, `spent`), kept for a paused plan (`paused`) or expired (`over`). */
type Home = "open" | "spent" | "paused" | "over";

type Place = Pick<Origin, "number" | "kind" | "expiresAt">;

/** Whether credits that return to a grant can be used. */
export function isUsable({ wallet, at }: Draft, place: Place): boolean {
  const home = findHome(wallet, place, at);
  return home === "open" || home === "spent";
}

function findHome({ grants, paused }: Wallet, { number, kind, expiresAt }: Place, now: Instant): Home {
  if (grants.some((grant) => grant.number === number)) return "open";
  if (paused.some((plan) => plan.grants.some((grant) => grant.number === number))) return "paused";
  // An allowance is kept in the wallet until it expires; any other grant is removed when it is spent.
  return kind !== "allowance" && isAhead(expiresAt, now) ? "spent" : "over";
}

/** Expires credits that were returned to an ended grant, so that the ledger shows why the credits cannot be spent. */
function takeAway(catalog: Catalog, draft: Draft, { number, pool, hold }: Origin, amount: number): void {
  if (amount > 0) draft.move({ kind: "expire", pool, parts: [{ grant: number, amount: -amount }], hold });
  draft.remove(number);
  const { assignment, paused } = draft.wallet;
  draft.wallet = {
    ...draft.wallet,
    assignment: assignment === null ? null : forgetUse(assignment, number, amount),
    paused: paused.map((plan) => giveToPaused(catalog, plan, number, amount)),
  };
}

/** Returns credits to a paused plan, up to the allowance of its version. */
function giveToPaused(catalog: Catalog, plan: PausedPlan, number: number, amount: number): PausedPlan {
  const open = plan.grants.find((grant) => grant.number === number);
  if (open === undefined) return { ...plan, assignment: forgetUse(plan.assignment, number, amount) };
  const remaining = open.remaining + amount;
  const excess = findExcess(catalog, plan.assignment, { grant: number, amount }, plan.leftAt);
  return {
    ...plan,
    assignment: forgetUse(plan.assignment, number, excess),
    grants: plan.grants.map((grant) => (grant === open ? { ...open, remaining: remaining - excess } : grant)),
  };
}

/** Expires credits that returned to an allowance but exceed what the current plan version grants. */
function expireExcess(catalog: Catalog, draft: Draft, { number, pool, hold }: Origin, amount: number): void {
  const { assignment, grants } = draft.wallet;
  const remaining = grants.find((grant) => grant.number === number)?.remaining ?? 0;
  if (assignment === null) return;
  const excess = Math.min(remaining, findExcess(catalog, assignment, { grant: number, amount }, draft.at));
  if (excess === 0) return;
  draft.move({ kind: "expire", pool, parts: [{ grant: number, amount: -excess }], hold });
  draft.wallet = { ...draft.wallet, assignment: forgetUse(assignment, number, excess) };
}

/**
 * How many of the returned credits exceed the plan version's allowance minus its used credits. `activeAt` is the last time at which the
 * plan was active: an allowance whose period had ended by then was not changed by the version.
 */
function findExcess(
  catalog: Catalog,
  { version, allowances }: Assignment,
  { grant: number, amount }: Part,
  activeAt: Instant,
): number {
  const granted = allowances.find(({ grant }) => grant === number);
  if (granted === undefined || (granted.end !== null && granted.end < activeAt)) return 0;
  const allowance = getVersion(catalog, version).allowances.find(({ pool }) => pool === granted.pool);
  const credits = granted.own ?? allowance?.credits ?? granted.base;
  return Math.min(amount, Math.max(0, granted.base - credits));
}

/** An allowance that a version dropped does not get credits back, but the returned amount no longer counts as used. */
function forgetUse(assignment: Assignment, number: number, amount: number): Assignment {
  const allowances = assignment.allowances.map((granted) =>
    granted.grant === number ? { ...granted, base: granted.base - amount } : granted,
  );
  return { ...assignment, allowances };
}
