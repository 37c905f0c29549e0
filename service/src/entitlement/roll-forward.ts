import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import type { Change, EntryKind } from "./entry.ts";
import type { GrantKind, Wallet } from "./wallet.ts";

/** What all entries of one kind moved in grants of one kind, in the time that is looked at or after it. */
export type Moved = {
  readonly pool: PoolId;
  readonly grantKind: GrantKind;
  readonly entryKind: EntryKind;
  readonly isAfter: boolean;
  /** Signed, as it stands in the ledger. */
  readonly amount: bigint;
};

/**
 * Over all customers, each of whom may have as much as a number holds to the credit: so none of these is such a number.
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

type Sums = { pool: PoolId; kind: GrantKind; left: bigint; after: bigint } & Record<EntryKind, bigint>;

/**
 * From what wallets hold now back to what they held then: what came after is taken off, and then what came in between. So
 * nothing that lies before is ever read. What is due in a wallet counts as if somebody had looked just now.
 */
export class RollForward {
  readonly #range: { readonly from: Instant; readonly until: Instant };
  readonly #sums = new Map<string, Sums>();
  #completeTo: Instant;

  constructor(range: { readonly from: Instant; readonly until: Instant }) {
    this.#range = range;
    this.#completeTo = range.until;
  }

  /** Up to here nothing is missing: the first thing that is due in any wallet and not yet written lies behind it. */
  get completeTo(): Instant {
    return this.#completeTo;
  }

  /** A wallet as it is written, and what is due in it. */
  addWallet(wallet: Wallet, due: Change | null): void {
    for (const { pool, kind, remaining } of (due?.wallet ?? wallet).grants) {
      this.#sumsOf(pool, kind).left += BigInt(remaining);
    }
    if (due === null) return;
    const kinds = kindsOf(wallet, due);
    const { from, until } = this.#range;
    for (const { kind: entryKind, pool, effectiveAt, parts } of due.entries) {
      if (effectiveAt < this.#completeTo) this.#completeTo = effectiveAt;
      if (effectiveAt < from) continue;
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

  /** Where there was nothing and nothing happened there is no line. */
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
 * Of all grants that what is due can move: open ones, those of a plan that was left, and new ones; and an allowance that a version of
 * the plan took away, as a later one may give it back.
 */
function kindsOf({ grants, assignment, paused }: Wallet, due: Change): ReadonlyMap<number, GrantKind> {
  const assignments = [assignment, ...paused.map((plan) => plan.assignment)];
  const allowances = assignments.flatMap((one) => one?.allowances ?? []);
  const known = [...grants, ...paused.flatMap((plan) => plan.grants), ...due.grants];
  return new Map([
    ...allowances.map(({ grant }) => [grant, "allowance"] as const),
    ...known.map(({ number, kind }) => [number, kind] as const),
  ]);
}
