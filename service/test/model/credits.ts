import type { Cost } from "../../src/entitlement/catalog.ts";
import type { PoolId } from "../../src/primitives/brand.ts";
import {
  burnList,
  type Consume,
  type CreditGrant,
  type Customer,
  copyOf,
  type HoldTaken,
  isOver,
  isSpendable,
  type Paid,
} from "./customer.ts";
import type { Answer, Asked, NamedGrant, ReversedItem } from "./request.ts";

const OPEN_GRANTS_MAX = 50;

/**
 * Largest balance to which credits can be added. It leaves room below the largest safe integer for allowances, which are never
 * rejected.
 */
export const ADDABLE_BALANCE_MAX = Number.MAX_SAFE_INTEGER - 2 ** 51;

/** Computes the charge, rounded up. Uses big integers, independently of the service's arithmetic. */
export function charge(cost: Cost, quantity: number): number {
  const per = BigInt(cost.per);
  return Number((BigInt(quantity) * BigInt(cost.credits) + per - 1n) / per);
}

export function add(customer: Customer, request: Asked<"add">): Answer {
  const { pool, source, credits, expiresAt } = request;
  if (isOver(expiresAt, customer.now)) return { kind: "expires_in_the_past" };
  if (boughtBy(customer) + credits > ADDABLE_BALANCE_MAX) return { kind: "balance_too_large" };
  const open = burnList(customer).find(
    (grant) => grant.pool === pool && grant.kind === source && grant.expiresAt === expiresAt,
  );
  if (open === undefined && countOpen(customer) >= OPEN_GRANTS_MAX) return { kind: "too_many_grants" };
  const grant = open ?? openGrant(customer, request);
  grant.remaining += credits;
  grant.additions.push({ credits, isRevoked: false });
  customer.additions.push({ grant: grant.id, index: grant.additions.length - 1 });
  return { kind: "added" };
}

/** Grants with credits that remain or are held. */
function countOpen(customer: Customer): number {
  const held = customer.holds
    .filter(({ state }) => state === "open")
    .flatMap((hold) => usesOf(customer, hold).flatMap(({ parts }) => parts.map(({ grant }) => grant)));
  return new Set([...burnList(customer).map(({ id }) => id), ...held]).size;
}

/** Added credits in all pools, without allowances. */
function boughtBy(customer: Customer): number {
  const bought = burnList(customer).filter((grant) => grant.kind !== "allowance");
  const held = customer.grants.filter((grant) => grant.kind !== "allowance");
  return (
    bought.reduce((sum, grant) => sum + grant.remaining, 0) + held.reduce((sum, grant) => sum + grant.held, 0)
  );
}

function openGrant(customer: Customer, { pool, source, expiresAt }: Asked<"add">): CreditGrant {
  customer.grantsMade += 1;
  const grant: CreditGrant = {
    id: customer.grantsMade,
    pool,
    kind: source,
    allowanceOf: null,
    givenAt: customer.now,
    expiresAt,
    remaining: 0,
    gone: 0,
    held: 0,
    heldRevoked: 0,
    isDropped: false,
    additions: [],
  };
  customer.grants.push(grant);
  return grant;
}

export function revoke(customer: Customer, named: NamedGrant): Answer {
  const { grant, index } = getNamed(customer, named);
  const addition = grant.additions[index];
  if (addition === undefined || addition.isRevoked) return { kind: "already_revoked" };
  addition.isRevoked = true;
  const isAllowance = grant.kind === "allowance";
  // Earlier additions are spent first, so the last credits belong to later additions. A version may have increased an allowance.
  const later = isAllowance ? 0 : unrevoked(grant.additions.slice(index + 1));
  const walk = { skip: later, left: isAllowance ? Number.POSITIVE_INFINITY : addition.credits };
  const credits = isSpendable(customer, grant) ? walkBack(walk, grant.remaining).taken : 0;
  grant.remaining -= credits;
  grant.gone += credits;
  for (const hold of customer.holds.toReversed()) {
    if (hold.state === "open")
      for (const use of usesOf(customer, hold).toReversed()) revokeHeld(walk, grant, use);
  }
  return { kind: "revoked", credits };
}

export function reduce(customer: Customer, { pool, remaining }: Asked<"reduce">): Answer {
  const grant = allowanceIn(customer, pool);
  if (grant === undefined) return { kind: "no_allowance" };
  if (remaining > grant.remaining) return { kind: "above_remaining" };
  if (remaining === grant.remaining) return { kind: "unchanged" };
  grant.gone += grant.remaining - remaining;
  grant.remaining = remaining;
  return { kind: "reduced" };
}

/** The allowance of the plan's current period. */
export function allowanceIn(customer: Customer, pool: PoolId): CreditGrant | undefined {
  const period = customer.plan?.periods.find((it) => it.pool === pool);
  return customer.grants.find((grant) => grant.id === period?.grant && isSpendable(customer, grant));
}

type Walk = { skip: number; left: number };

/** Takes credits from the end, after skipping `walk.skip` credits. */
function walkBack(walk: Walk, credits: number): { before: number; taken: number; after: number } {
  const after = Math.min(walk.skip, credits);
  const taken = Math.min(walk.left, credits - after);
  walk.skip -= after;
  walk.left -= taken;
  return { before: credits - after - taken, taken, after };
}

/** Marks held credits as revoked. The hold keeps them until it ends. */
function revokeHeld(walk: Walk, grant: CreditGrant, use: Consume): void {
  const parts = use.parts.toReversed().flatMap((part): Paid[] => {
    if (part.grant !== grant.id || part.isRevoked) return [part];
    const { before, taken, after } = walkBack(walk, part.credits);
    grant.heldRevoked += taken;
    const pieces = [
      { ...part, credits: after },
      { ...part, credits: taken, isRevoked: true },
      { ...part, credits: before },
    ];
    return pieces.filter(({ credits }) => credits > 0);
  });
  use.parts = parts.toReversed();
}

export function usesOf({ consumes }: Customer, { uses }: HoldTaken): Consume[] {
  return uses.flatMap(({ consume }) => consumes[consume] ?? []);
}

export function getNamed(customer: Customer, named: NamedGrant): { grant: CreditGrant; index: number } {
  const { grant: id, index } =
    named.by === "addition"
      ? (customer.additions[named.index] ?? { grant: 0, index: 0 })
      : { grant: burnList(customer)[named.index]?.id ?? 0, index: 0 };
  const grant = customer.grants.find((it) => it.id === id);
  if (grant === undefined) throw new Error("the grant does not exist");
  return { grant, index };
}

export function reverse(customer: Customer, request: Asked<"reverse">): Answer {
  const consume = getConsume(customer, request.consume);
  const { cost } = consume.terms;
  const reversible = consume.quantity - consume.reversed;
  const quantity = request.quantity ?? reversible;
  if (reversible === 0) return { kind: "nothing_left" };
  if (quantity > reversible) return { kind: "too_much", reversible };
  const price = charge(cost, reversible) - charge(cost, reversible - quantity);
  const undone = Math.min(price, consume.uncovered);
  const overageCredits = takeLast(consume.overage, price - undone);
  const credits = price - undone - overageCredits.taken;
  let open = credits;
  const backs = consume.parts.toReversed().map((part) => {
    const back = Math.min(open, part.credits);
    open -= back;
    return { part, credits: back };
  });
  const toBought = backs.filter(({ part }) =>
    customer.grants.some(({ id, kind }) => id === part.grant && kind !== "allowance"),
  );
  const bought = toBought.reduce((sum, back) => sum + back.credits, boughtBy(customer));
  if (bought > ADDABLE_BALANCE_MAX) return { kind: "balance_too_large" };
  for (const { part, credits: back } of backs) {
    part.credits -= back;
    giveBack(customer, { grant: part.grant, credits: back }, "charge");
  }
  consume.uncovered -= undone;
  consume.overage = overageCredits.left;
  consume.reversed += quantity;
  const item = request.consume - consume.request;
  const back = { credits, overageCredits: overageCredits.taken, quantity };
  return { kind: "reversed", ...back, items: [{ item, ...back }] };
}

/** Takes up to this many credits from the end. */
function takeLast(parts: readonly Paid[], credits: number): { taken: number; left: Paid[] } {
  let taken = 0;
  const left: Paid[] = [];
  for (const part of parts.toReversed()) {
    const back = Math.min(credits - taken, part.credits);
    taken += back;
    if (part.credits > back) left.unshift({ ...part, credits: part.credits - back });
  }
  return { taken, left };
}

/** Reverses the charges of a request one after the other. If one reversal is rejected, nothing is reversed. */
export function reverseRequest(customer: Customer, request: Asked<"reverse_request">): Answer {
  const { request: first } = getConsume(customer, request.consume);
  const draft = copyOf(customer);
  const items: ReversedItem[] = [];
  for (const index of draft.charges.keys()) {
    const consume = getConsume(draft, index);
    if (consume.request !== first || consume.reversed === consume.quantity) continue;
    const answer = reverse(draft, { kind: "reverse", consume: index, quantity: null });
    if (answer.kind !== "reversed") return answer;
    items.push(...answer.items);
  }
  if (items.length === 0) return { kind: "nothing_left" };
  Object.assign(customer, draft);
  const sum = (of: "credits" | "quantity" | "overageCredits"): number =>
    items.reduce((total, item) => total + item[of], 0);
  return {
    kind: "reversed",
    credits: sum("credits"),
    overageCredits: sum("overageCredits"),
    quantity: sum("quantity"),
    items,
  };
}

function getConsume(customer: Customer, index: number): Consume {
  const consume = customer.consumes[customer.charges[index] ?? -1];
  if (consume === undefined) throw new Error("the consume does not exist");
  return consume;
}

/** Returns used or held credits to a grant. Credits returned to an expired or revoked grant are lost. */
export function giveBack(customer: Customer, back: Paid, from: "charge" | "hold"): void {
  const grant = customer.grants.find((it) => it.id === back.grant);
  if (grant === undefined) return;
  if (from === "hold") takeHeld(grant, back);
  const revoked = back.isRevoked ? back.credits : 0;
  const lost = from === "hold" ? revoked : lostByReversal(grant, back.credits);
  if (isOver(grant.expiresAt, customer.now)) return;
  const credits = back.credits - lost;
  grant.gone -= credits;
  if (grant.isDropped) return;
  // If the plan's version has changed since, the allowance is the new amount minus used, held and revoked credits.
  const allowed = allowanceNow(customer, grant);
  grant.remaining =
    allowed === null ? grant.remaining + credits : Math.max(0, allowed - grant.gone - grant.held);
}

function lostByReversal(grant: CreditGrant, back: number): number {
  if (grant.additions.every((it) => it.isRevoked)) return back;
  if (grant.kind === "allowance") return 0;
  const room = unrevoked(grant.additions) - grant.remaining - (grant.held - grant.heldRevoked);
  return Math.max(0, back - Math.max(0, room));
}

/** Moves held credits to `gone`. */
export function takeHeld(grant: CreditGrant, { credits, isRevoked = false }: Paid): void {
  grant.held -= credits;
  grant.gone += credits;
  if (isRevoked) grant.heldRevoked -= credits;
}

export function setAside(customer: Customer, { grant: id, credits }: Paid): void {
  const grant = customer.grants.find((it) => it.id === id);
  if (grant === undefined) return;
  grant.held += credits;
  grant.gone -= credits;
}

/** The credits of a current allowance according to the plan's current version. Null for any other grant. */
function allowanceNow({ plan, left }: Customer, { id, pool }: CreditGrant): number | null {
  for (const taken of plan === null ? left : [plan, ...left]) {
    const period = taken.periods.find(({ grant }) => grant === id);
    if (period === undefined) continue;
    return period.own ?? taken.version.allowances.find((it) => it.pool === pool)?.credits ?? null;
  }
  return null;
}

function unrevoked(additions: CreditGrant["additions"]): number {
  return additions.filter((it) => !it.isRevoked).reduce((sum, it) => sum + it.credits, 0);
}

/** Spends up to this many credits of a pool, starting with the credits that expire first. */
export function burn(customer: Customer, pool: PoolId, credits: number): Paid[] {
  const parts: Paid[] = [];
  let open = credits;
  for (const grant of burnList(customer).filter((it) => it.pool === pool)) {
    const taken = Math.min(open, grant.remaining);
    if (taken === 0) break;
    grant.remaining -= taken;
    grant.gone += taken;
    open -= taken;
    parts.push({ grant: grant.id, credits: taken });
  }
  return parts;
}
