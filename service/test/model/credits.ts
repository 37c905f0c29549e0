import type { Cost } from "../../src/entitlement/catalog.ts";
import {
  burnList,
  type Consume,
  type CreditGrant,
  type Customer,
  copyOf,
  isOver,
  isSpendable,
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
  if (open === undefined && burnList(customer).length >= OPEN_GRANTS_MAX) return { kind: "too_many_grants" };
  const grant = open ?? openGrant(customer, request);
  grant.remaining += credits;
  grant.additions.push({ credits, isRevoked: false });
  customer.additions.push({ grant: grant.id, index: grant.additions.length - 1 });
  return { kind: "added" };
}

/** Added credits in all pools, without allowances. */
function boughtBy(customer: Customer): number {
  const bought = burnList(customer).filter((grant) => grant.kind !== "allowance");
  return bought.reduce((sum, grant) => sum + grant.remaining, 0);
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
  if (!isSpendable(customer, grant)) return { kind: "revoked", credits: 0 };
  // Earlier additions are spent first, so the rest of this one is what later additions do not cover.
  const later = grant.additions.slice(index + 1);
  const rest = Math.max(0, grant.remaining - unrevoked(later));
  // A new version of the plan may have increased an allowance after it was granted.
  const credits = grant.kind === "allowance" ? rest : Math.min(rest, addition.credits);
  grant.remaining -= credits;
  grant.gone += credits;
  return { kind: "revoked", credits };
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
  const credits = charge(cost, reversible) - charge(cost, reversible - quantity);
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
    giveBack(customer, { grant: part.grant, credits: back });
  }
  consume.reversed += quantity;
  const item = request.consume - consume.request;
  return { kind: "reversed", credits, quantity, items: [{ item, quantity, credits }] };
}

/** Reverses the charges of a request one after the other. If one reversal is rejected, nothing is reversed. */
export function reverseRequest(customer: Customer, request: Asked<"reverse_request">): Answer {
  const { request: first } = getConsume(customer, request.consume);
  const draft = copyOf(customer);
  const items: ReversedItem[] = [];
  for (const [index, consume] of draft.consumes.entries()) {
    if (consume.request !== first || consume.reversed === consume.quantity) continue;
    const answer = reverse(draft, { kind: "reverse", consume: index, quantity: null });
    if (answer.kind !== "reversed") return answer;
    items.push(...answer.items);
  }
  if (items.length === 0) return { kind: "nothing_left" };
  Object.assign(customer, draft);
  const sum = (of: "credits" | "quantity"): number => items.reduce((total, item) => total + item[of], 0);
  return { kind: "reversed", credits: sum("credits"), quantity: sum("quantity"), items };
}

function getConsume(customer: Customer, index: number): Consume {
  const consume = customer.consumes[index];
  if (consume === undefined) throw new Error("the consume does not exist");
  return consume;
}

/** Returns credits to a grant. Credits returned to an expired or revoked grant are lost. */
function giveBack(customer: Customer, back: { grant: number; credits: number }): void {
  const grant = customer.grants.find((it) => it.id === back.grant);
  if (grant === undefined || isOver(grant.expiresAt, customer.now)) return;
  const isRevoked = grant.additions.every((it) => it.isRevoked);
  const room = grant.kind === "allowance" ? back.credits : unrevoked(grant.additions) - grant.remaining;
  const credits = isRevoked ? 0 : Math.min(back.credits, room);
  grant.gone -= credits;
  if (grant.isDropped) return;
  // The plan's version may have changed since then. The allowance is then the new amount, minus used and revoked credits.
  const allowed = allowanceNow(customer, grant);
  grant.remaining = allowed === null ? grant.remaining + credits : Math.max(0, allowed - grant.gone);
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
