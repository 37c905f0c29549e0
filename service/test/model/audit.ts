import { isDeepStrictEqual } from "node:util";
import { chargeFor } from "../../src/entitlement/catalog.ts";
import type { Entry } from "../../src/entitlement/entry.ts";
import type { Assignment, Grant, LimitCounter, Wallet } from "../../src/entitlement/wallet.ts";
import type { Book } from "./book.ts";

/** Lists errors in the rows of one customer. Empty if the rows are consistent. */
export function audit(book: Book): string[] {
  if (book.wallet === null) return book.entries.length === 0 ? [] : ["entries without a wallet"];
  return [
    ...auditLedger(book.entries, book.wallet),
    ...auditGrants(book, book.wallet),
    ...auditCounters(book, book.wallet),
    ...auditHolds(book, book.wallet),
    ...auditReversals(book),
    ...auditItems(book),
    ...auditNextPlan(book, book.wallet),
  ];
}

const SIGNS: Record<Entry["kind"], (amount: number) => boolean> = {
  grant: (amount) => amount >= 0,
  reverse: (amount) => amount >= 0,
  consume: (amount) => amount <= 0,
  expire: (amount) => amount < 0,
  revoke: (amount) => amount < 0,
};

function auditLedger(entries: readonly Entry[], wallet: Wallet): string[] {
  const found: string[] = [];
  const balances = new Map<number, number>();
  let effectiveAt = 0;
  for (const [index, entry] of entries.entries()) {
    const { sequence, kind, pool, amount, parts } = entry;
    const balance = (balances.get(pool) ?? 0) + amount;
    balances.set(pool, balance);
    if (sequence !== index + 1) found.push(`entry ${index + 1} has the sequence ${sequence}`);
    if (entry.balanceAfter !== balance) found.push(`${sequence}: ${entry.balanceAfter} is not ${balance}`);
    if (balance < 0) found.push(`${sequence}: pool ${pool} is negative`);
    if (!SIGNS[kind](amount)) found.push(`${sequence}: ${kind} of ${amount}`);
    if (sum(parts.map((part) => part.amount)) !== amount)
      found.push(`${sequence}: parts do not add up to the amount`);
    if (parts.some((part) => part.amount * amount <= 0))
      found.push(`${sequence}: a part has the opposite sign`);
    if (entry.effectiveAt < effectiveAt) found.push(`${sequence}: takes effect before the entry before it`);
    effectiveAt = entry.effectiveAt;
  }
  if (wallet.sequence !== entries.length) found.push("the wallet's sequence is not the last entry's");
  if (effectiveAt > wallet.decidedAt) found.push("the last entry takes effect after the wallet was decided");
  for (const [pool, balance] of balances) {
    const open = sum(wallet.grants.filter((grant) => grant.pool === pool).map((grant) => grant.remaining));
    const held = sum(wallet.held.filter((grant) => grant.pool === pool).map((grant) => grant.credits));
    if (open + held !== balance)
      found.push(`pool ${pool}: grants and holds have ${open + held}, entries ${balance}`);
  }
  return found;
}

function auditGrants(book: Book, wallet: Wallet): string[] {
  const found: string[] = [];
  const moved = new Map<number, number>();
  for (const { grant, amount } of book.entries.flatMap((entry) => entry.parts)) {
    moved.set(grant, (moved.get(grant) ?? 0) + amount);
  }
  for (const [index, { number, slot, pool, expiresAt, effectiveAt }] of book.grants.entries()) {
    const open = wallet.grants.find((grant) => grant.number === number);
    if (number !== index + 1) found.push(`grant ${index + 1} has the number ${number}`);
    if (book.grants[slot - 1]?.pool !== pool) found.push(`grant ${number} was merged into another pool`);
    if (expiresAt !== null && expiresAt <= effectiveAt) found.push(`grant ${number} was never usable`);
    const held = wallet.held.find(({ grant }) => grant === number)?.credits ?? 0;
    if ((moved.get(number) ?? 0) !== (open?.remaining ?? 0) + held)
      found.push(`grant ${number}: differs from its parts`);
  }
  if (wallet.grantCount !== book.grants.length) found.push("the wallet counts grants that have no row");
  for (const [index, grant] of wallet.grants.entries()) {
    const before = wallet.grants[index - 1];
    if (grant.remaining < 0) found.push(`grant ${grant.number} is negative`);
    if (grant.remaining === 0 && grant.kind !== "allowance")
      found.push(`grant ${grant.number} is spent and still listed`);
    if (before !== undefined && !burnsBefore(before, grant))
      found.push(`grant ${grant.number} is out of burn order`);
    if (grant.expiresAt !== null && grant.expiresAt <= wallet.decidedAt)
      found.push(`grant ${grant.number} expired`);
  }
  return found;
}

function burnsBefore(a: Grant, b: Grant): boolean {
  const [aEnd, bEnd] = [a.expiresAt ?? Number.POSITIVE_INFINITY, b.expiresAt ?? Number.POSITIVE_INFINITY];
  if (aEnd !== bEnd) return aEnd < bEnd;
  const [aBought, bBought] = [a.kind === "purchase", b.kind === "purchase"];
  return aBought === bBought ? a.number < b.number : bBought;
}

function auditCounters(book: Book, { assignment, paused, ownCounters }: Wallet): string[] {
  const plans = [...(assignment === null ? [] : [assignment]), ...paused.map((plan) => plan.assignment)];
  const negative = ownCounters.filter(({ used }) => used < 0);
  return [
    ...negative.map(({ feature }) => `the overrides have a negative count for feature ${feature}`),
    ...plans.flatMap((plan) => auditPlanCounters(book, plan)),
  ];
}

function auditPlanCounters(book: Book, plan: Assignment): string[] {
  return plan.counters
    .filter((counter) => counter.used !== foldCounter(book, plan, counter) || counter.used < 0)
    .map((counter) => `the counter of feature ${counter.feature} is ${counter.used}`);
}

/** Sums the quantity consumed since the counter's first entry, minus reversals, and the quantity of open holds since its first hold. */
function foldCounter(book: Book, plan: Assignment, counter: LimitCounter): number {
  const counted = book.entries.filter(({ sequence, usage, hold }) => {
    if (usage?.feature !== counter.feature || usage.assignment !== plan.number) return false;
    if (hold !== null) return hold >= counter.fromHold;
    return (usage.reverses ?? sequence) >= counter.fromSequence;
  });
  const holds = (book.wallet?.holds ?? []).filter(
    ({ number, assignment }) => number >= counter.fromHold && assignment === plan.number,
  );
  const held = holds.flatMap(({ items }) => items.filter(({ feature }) => feature === counter.feature));
  return sum([
    ...counted.map(({ kind, usage }) =>
      kind === "consume" ? (usage?.quantity ?? 0) : -(usage?.quantity ?? 0),
    ),
    ...held.map(({ quantity }) => quantity),
  ]);
}

/** Each grant's held credits must match the open holds. A hold's charge plus its overage and uncovered part must equal its price. */
function auditHolds({ entries, holds }: Book, wallet: Wallet): string[] {
  const parts = wallet.holds.flatMap(({ items }) => items.flatMap((item) => item.parts));
  const grants = new Set([...parts, ...wallet.held].map(({ grant }) => grant));
  const found = [...grants].flatMap((number) => {
    const inHolds = sum(parts.filter(({ grant }) => grant === number).map(({ credits }) => credits));
    const inWallet = wallet.held.find(({ grant }) => grant === number)?.credits ?? 0;
    return inHolds === inWallet ? [] : [`grant ${number}: holds have ${inHolds}, the wallet ${inWallet}`];
  });
  if (wallet.openHolds !== wallet.holds.length)
    found.push("the wallet's number of open holds differs from its holds");
  if (wallet.holdCount !== holds.length) found.push("the wallet counts holds that have no row");
  for (const { sequence, kind, amount, usage, hold } of entries) {
    const item = holds[(hold ?? 0) - 1]?.hold.items.find(({ feature }) => feature === usage?.feature);
    if (kind !== "consume" || usage === null || item === undefined) continue;
    const price = chargeFor(item.cost, usage.quantity);
    const overage = sum(usage.overage.map(({ credits }) => credits));
    if (usage.uncovered + overage - amount !== price)
      found.push(`${sequence}: differs from the price ${price}`);
  }
  return found;
}

function auditReversals(book: Book): string[] {
  return book.consumes().flatMap(({ sequence, amount, usage }) => {
    const back = sum(
      book.entries.filter((entry) => entry.usage?.reverses === sequence).map((entry) => entry.amount),
    );
    const isTooMuch = book.reversedOf(sequence) > usage.quantity || back > -amount;
    return isTooMuch ? [`${sequence} was reversed beyond what it charged`] : [];
  });
}

/**
 * The charges of a request must be consecutive entries with the same time, each for a different feature. A reversal must have the same
 * position in the request as its charge.
 */
function auditItems({ entries }: Book): string[] {
  return entries.flatMap(({ sequence, effectiveAt, usage }) => {
    const place = usage?.place ?? null;
    if (usage !== null && usage.reverses !== null) {
      const isSame = isDeepStrictEqual(place, entries[usage.reverses - 1]?.usage?.place);
      return isSame
        ? []
        : [`${sequence} has a different position in its request from the charge it reverses`];
    }
    if (place === null) return [];
    const first = sequence - 1 - place.index;
    const request = entries.slice(first, first + place.of);
    const isComplete = request.length === place.of && place.of > 1;
    const isOrdered = request.every(
      (entry, index) =>
        entry.kind === "consume" &&
        entry.effectiveAt === effectiveAt &&
        isDeepStrictEqual(entry.usage?.place, { index, of: place.of }),
    );
    const isOfEachOnce = new Set(request.map((entry) => entry.usage?.feature)).size === place.of;
    return isComplete && isOrdered && isOfEachOnce
      ? []
      : [`${sequence} is not at its position in its request`];
  });
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** The plan history must explain the pending change: its last scheduling row set the change, dropped it, or is due. */
function auditNextPlan({ assignments }: Book, { next, decidedAt }: Wallet): string[] {
  const row = assignments.findLast(({ kind }) => kind === "scheduled" || kind === "unscheduled");
  const isOpen = row?.kind === "scheduled";
  if (next === null) {
    return isOpen && row.effectiveAt > decidedAt
      ? ["the history has a pending change that the wallet lacks"]
      : [];
  }
  const isSame =
    isOpen && row.plan === next.plan && row.effectiveAt === next.startsAt && row.endsAt === next.endsAt;
  return isSame && row.anchor === next.anchor
    ? []
    : ["the pending change differs from its row in the history"];
}
