import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import type { Change, EntryKind } from "./entry.ts";
import { sumOf } from "./part-lists.ts";
import type { GrantKind, Wallet } from "./wallet.ts";

/** The sum of all entries of one kind on grants of one kind, within the range or after it. */
export type Moved = {
  readonly pool: PoolId;
  readonly grantKind: GrantKind;
  readonly entryKind: EntryKind;
  readonly isAfter: boolean;
  /** Signed, as in the ledger. */
  readonly amount: bigint;
};

/**
 * Totals over all customers. BigInt, because a single customer's balance can already be 2^53-1.
 *
 * `opening + granted - used - expired - revoked + reversed = closing`.
 */
export type RolledLine = {
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly opening: bigint;
  readonly granted: bigint;
  readonly used: bigint;
  readonly expired: bigint;
  readonly revoked: bigint;
  readonly reversed: bigint;
  readonly closing: bigint;
};

/** Overage in the range: usage to invoice because all credits were spent, and the part that reversals undid. */
export type OverageLine = { readonly pool: PoolId; readonly used: bigint; readonly reversed: bigint };

/** The sum of the overage of all charges or reversals of a pool in the range. */
export type MovedOverage = {
  readonly pool: PoolId;
  readonly entryKind: EntryKind;
  readonly overage: bigint;
};

type Sums = { pool: PoolId; kind: GrantKind; left: bigint; after: bigint } & Record<EntryKind, bigint>;

/**
 * Computes a statement backward from current balances: subtracts entries after the range for the closing balance, then entries within the
 * range for the opening balance. Earlier entries are never read. Due changes count as if already written.
 */
export class RollForward {
  readonly #range: { readonly from: Instant; readonly until: Instant };
  readonly #sums = new Map<string, Sums>();
  readonly #overage = new Map<PoolId, OverageLine>();
  #completeTo: Instant;

  constructor(range: { readonly from: Instant; readonly until: Instant }) {
    this.#range = range;
    this.#completeTo = range.until;
  }

  /** The statement is complete up to this time: the end of the range, or the first change that is due but not yet written. */
  get completeTo(): Instant {
    return this.#completeTo;
  }

  /** Adds a stored wallet and its due changes. */
  addWallet(wallet: Wallet, due: Change | null): void {
    const { grants, held } = due?.wallet ?? wallet;
    for (const { pool, kind, credits } of held) this.#sumsOf(pool, kind).left += BigInt(credits);
    for (const { pool, kind, remaining } of grants) {
      this.#sumsOf(pool, kind).left += BigInt(remaining);
    }
    if (due === null) return;
    const kinds = kindsOf(wallet, due);
    const { from, until } = this.#range;
    for (const { kind: entryKind, pool, effectiveAt, parts, usage } of due.entries) {
      if (effectiveAt < this.#completeTo) this.#completeTo = effectiveAt;
      if (effectiveAt < from) continue;
      const overage = BigInt(sumOf(usage?.overage ?? []));
      if (effectiveAt < until) this.addOverage({ pool, entryKind, overage });
      for (const { grant, amount } of parts) {
        const grantKind = kinds.get(grant);
        assert(grantKind !== undefined, "an entry moves grants that are known");
        this.addMoved({ pool, grantKind, entryKind, isAfter: effectiveAt >= until, amount: BigInt(amount) });
      }
    }
  }

  addMoved({ pool, grantKind, entryKind, isAfter, amount }: Moved): void {
    const sums = this.#sumsOf(pool, grantKind);
    if (isAfter) sums.after += amount;
    else sums[entryKind] += amount;
  }

  addOverage({ pool, entryKind, overage }: MovedOverage): void {
    if (overage === 0n) return;
    const { used, reversed } = this.#overage.get(pool) ?? { used: 0n, reversed: 0n };
    const isReversal = entryKind === "reverse";
    this.#overage.set(pool, {
      pool,
      used: isReversal ? used : used + overage,
      reversed: isReversal ? reversed + overage : reversed,
    });
  }

  /** The pools with overage in the range. */
  overageLines(): OverageLine[] {
    return [...this.#overage.values()];
  }

  /** The lines of the statement, without lines whose amounts are all zero. */
  lines(): RolledLine[] {
    return [...this.#sums.values()]
      .map(toLine)
      .filter(({ pool: _, kind: __, ...amounts }) => Object.values(amounts).some((amount) => amount !== 0n));
  }

  #sumsOf(pool: PoolId, kind: GrantKind): Sums {
    const key = `${pool} ${kind}`;
    const known = this.#sums.get(key);
    if (known !== undefined) return known;
    const sums = {
      pool,
      kind,
      left: 0n,
      after: 0n,
      grant: 0n,
      consume: 0n,
      expire: 0n,
      revoke: 0n,
      reverse: 0n,
    };
    this.#sums.set(key, sums);
    return sums;
  }
}

function toLine({ pool, kind, left, after, grant, consume, expire, revoke, reverse }: Sums): RolledLine {
  const closing = left - after;
  const opening = closing - (grant + consume + expire + revoke + reverse);
  assert(opening >= 0 && closing >= 0, "no balance is ever negative");
  const taken = { used: -consume, expired: -expire, revoked: -revoke };
  return { pool, kind, opening, granted: grant, ...taken, reversed: reverse, closing };
}

/**
 * Kinds of all grants that due changes can move: open grants, grants of paused plans, new grants, and allowances that one plan
 * version removed and a later version may restore.
 */
function kindsOf({ grants, held, assignment, paused }: Wallet, due: Change): ReadonlyMap<number, GrantKind> {
  const assignments = [assignment, ...paused.map((plan) => plan.assignment)];
  const allowances = assignments.flatMap((one) => one?.allowances ?? []);
  const known = [...grants, ...paused.flatMap((plan) => plan.grants), ...due.grants];
  return new Map([
    ...allowances.map(({ grant }) => [grant, "allowance"] as const),
    ...known.map(({ number, kind }) => [number, kind] as const),
    ...held.map(({ grant, kind }) => [grant, kind] as const),
  ]);
}
