import type { PlanVersionId, PoolId } from "../primitives/brand.ts";
import { chargeFor, type PlanFeature, type PlanVersion } from "./catalog.ts";
import type { Entry, EntryKind, HoldChange, ItemPlace, NewOverrides, Usage } from "./entry.ts";
import { FoldedAlerts } from "./folded-alerts.ts";
import { FoldedGrants } from "./folded-grants.ts";
import { FoldedHolds } from "./folded-holds.ts";
import { FoldedLimits } from "./folded-limits.ts";
import { FoldedOverage } from "./folded-overage.ts";
import { FoldedOverrides } from "./folded-overrides.ts";
import { overrideTerms } from "./overrides.ts";
import { sumOf } from "./part-lists.ts";
import type { GrantFacts } from "./revoke-grant.ts";
import type { Wallet } from "./wallet.ts";

/** One customer's rows in all tables except the ledger. */
export type Account = {
  readonly wallet: Wallet;
  /** The wallet's balance column: the sum of all pools. */
  readonly balance: number;
  /** All grants, sorted by number. */
  readonly grants: readonly GrantFacts[];
  /** All overrides, sorted by number. */
  readonly overrides: readonly NewOverrides[];
  /** All changes to holds, sorted by number. */
  readonly holdChanges: readonly HoldChange[];
  readonly versions: ReadonlyMap<PlanVersionId, PlanVersion>;
};

/** The entry that a reversal refers to, and the total of all its reversals. */
export type ReversedConsume = Pick<Entry, "kind" | "pool" | "parts" | "usage" | "hold"> & {
  readonly reversedQuantity: number;
  readonly reversedCredits: number;
  readonly reversedOverage: number;
};

/**
 * Recomputes a wallet from its ledger, entry by entry, and compares the result with the stored wallet. Keeps the state of a wallet
 * and a few numbers per grant, never the entries. `add` and `finish` return a description of the first error, or null.
 */
export class Fold {
  readonly #account: Account;
  readonly #balances = new Map<PoolId, number>();
  readonly #grants: FoldedGrants;
  readonly #limits: FoldedLimits;
  readonly #overrides: FoldedOverrides;
  readonly #holds: FoldedHolds;
  readonly #overage: FoldedOverage;
  readonly #alerts: FoldedAlerts;
  #sequence = 0;
  /** The next charge that an incomplete request must have. Null if no request is incomplete. */
  #due: ItemPlace | null = null;

  constructor(account: Account) {
    this.#account = account;
    this.#grants = new FoldedGrants(account.grants, account.wallet);
    this.#holds = new FoldedHolds(account.holdChanges);
    this.#overage = new FoldedOverage(account.grants);
    this.#alerts = new FoldedAlerts(account.grants);
    const wallet = { ...account.wallet, holds: this.#holds.open };
    this.#limits = new FoldedLimits(wallet, account.versions);
    this.#overrides = new FoldedOverrides(account.overrides, wallet);
  }

  /** Adds the next entry. For a reversal, `reversed` is the charge that the entry refers to, or null if that charge does not exist. */
  add(entry: Entry, reversed: ReversedConsume | null = null): string | null {
    this.#alerts.add(entry);
    const flaw =
      this.#follow(entry) ??
      findFlaw(entry) ??
      this.#grants.add(entry) ??
      this.#followItems(entry) ??
      this.#checkUsage(entry, reversed) ??
      this.#holds.add(entry) ??
      this.#overage.add(entry) ??
      this.#limits.add(entry) ??
      this.#overrides.add(entry);
    return flaw === null ? null : `entry ${entry.sequence}, ${entry.kind}, ${flaw}`;
  }

  /** Compares the wallet with its ledger. Call this after the last entry. */
  finish(): string | null {
    const { wallet } = this.#account;
    if (wallet.sequence !== this.#sequence)
      return `the wallet is at entry ${wallet.sequence}, but its ledger ends at entry ${this.#sequence}`;
    if (this.#due !== null) return `the ledger ends before ${describePlace(this.#due)} of a request`;
    return (
      this.#holds.compare(wallet) ??
      this.#overage.compare(wallet, this.#holds.open) ??
      this.#grants.compareRows(wallet) ??
      this.#grants.compareOpen(wallet) ??
      this.#compareBalances() ??
      this.#compareLows() ??
      this.#alerts.compare(wallet) ??
      this.#grants.comparePlans(wallet) ??
      this.#overrides.compare() ??
      this.#limits.compare()
    );
  }

  /** A remembered low that is not below the balance would suppress a notice. */
  #compareLows(): string | null {
    for (const { pool, balance } of this.#account.wallet.lows) {
      const current = this.#balances.get(pool) ?? 0;
      if (balance >= current)
        return `the wallet remembers a low of ${balance} in pool ${pool}, but has ${current}`;
    }
    return null;
  }

  /** Checks that entries are numbered from 1 without a gap, and that each balance follows from the previous balance. */
  #follow({ sequence, pool, amount, balanceAfter }: Entry): string | null {
    if (sequence !== this.#sequence + 1) return `comes where entry ${this.#sequence + 1} is expected`;
    this.#sequence = sequence;
    const before = this.#balances.get(pool) ?? 0;
    if (balanceAfter !== before + amount) {
      const sum = `${before} ${amount < 0 ? "-" : "+"} ${Math.abs(amount)} is ${before + amount}`;
      return `leaves a balance of ${balanceAfter} in pool ${pool}, but ${sum}`;
    }
    if (balanceAfter < 0) return `makes the balance of pool ${pool} negative: ${balanceAfter}`;
    this.#balances.set(pool, balanceAfter);
    return null;
  }

  /** Checks that the charges of one request follow each other without a gap. */
  #followItems({ kind, usage }: Entry): string | null {
    const place = kind === "consume" ? (usage?.place ?? null) : null;
    const due = this.#due;
    this.#due = place === null || place.index + 1 === place.of ? null : { ...place, index: place.index + 1 };
    if (due !== null)
      return isSamePlace(place, due) ? null : `comes before ${describePlace(due)} of a request`;
    if (place === null || (place.index === 0 && place.of > 1)) return null;
    return `is ${describePlace(place)} of a request, without the others`;
  }

  #checkUsage(entry: Entry, reversed: ReversedConsume | null): string | null {
    if (entry.kind !== "consume" && entry.kind !== "reverse") return null;
    const { usage } = entry;
    if (usage === null || usage.quantity < 1 || usage.quantity > QUANTITY_MAX)
      return "has no usage or an invalid quantity";
    const planTerms = this.#account.versions.get(usage.planVersion)?.features.get(usage.feature);
    const terms = overrideTerms(planTerms, this.#overrides.termsOf(usage));
    if (terms === undefined) return `uses feature ${usage.feature}, which is not in its plan`;
    return entry.kind === "consume"
      ? findChargeError(entry, usage, terms)
      : findReversalError(entry, usage, reversed, terms);
  }

  #compareBalances(): string | null {
    const { wallet, balance } = this.#account;
    const open = new Map<PoolId, number>();
    let total = 0;
    for (const { pool, remaining } of wallet.grants) {
      open.set(pool, (open.get(pool) ?? 0) + remaining);
      total += remaining;
    }
    for (const { pool, credits } of wallet.held) {
      open.set(pool, (open.get(pool) ?? 0) + credits);
      total += credits;
    }
    for (const pool of new Set([...open.keys(), ...this.#balances.keys()])) {
      const [inGrants, inLedger] = [open.get(pool) ?? 0, this.#balances.get(pool) ?? 0];
      if (inGrants !== inLedger)
        return `pool ${pool} has ${inGrants} in the wallet, ${inLedger} according to its ledger`;
    }
    return balance === total ? null : `its balance column is ${balance}, but its grants add up to ${total}`;
  }
}

/** The largest quantity that the runtime accepts. A larger quantity cannot be priced. */
const QUANTITY_MAX = 1_000_000;

function describePlace({ index, of }: ItemPlace): string {
  return `charge ${index + 1} of ${of}`;
}

function isSamePlace(a: ItemPlace | null, b: ItemPlace | null): boolean {
  return a?.index === b?.index && a?.of === b?.of;
}

const SIGN = { grant: 1, reverse: 1, consume: -1, expire: -1, revoke: -1 } as const satisfies Record<
  EntryKind,
  1 | -1
>;

/** Checks that the amount is the sum of its parts, and that each part has the sign of the entry's kind. */
function findFlaw({ kind, amount, parts }: Entry): string | null {
  let sum = 0;
  for (const part of parts) {
    if (part.amount * SIGN[kind] <= 0) return `has an invalid amount for grant ${part.grant}: ${part.amount}`;
    sum += part.amount;
  }
  return sum === amount ? null : `has amount ${amount}, but its parts add up to ${sum}`;
}

function findChargeError(entry: Entry, usage: Usage, { pool, cost }: PlanFeature): string | null {
  const due = chargeFor(cost, usage.quantity);
  if (entry.pool !== pool) return `charges pool ${entry.pool} instead of ${pool}`;
  const price = usage.uncovered + sumOf(usage.overage) - entry.amount;
  if (usage.uncovered < 0 || (usage.uncovered > 0 && entry.hold === null))
    return `leaves ${usage.uncovered} uncovered, which only a hold may do`;
  return price === due ? null : `charges ${price} instead of ${due}`;
}

/** Checks that reversals return credits to the grants that the charge took them from, and never return more than the charge took. */
function findReversalError(
  entry: Entry,
  { reverses, ...usage }: Usage,
  reversed: ReversedConsume | null,
  { cost }: PlanFeature,
): string | null {
  const consume = reversed?.usage ?? null;
  if (reversed === null || consume === null || reversed.kind !== "consume" || reverses === null)
    return `reverses ${reverses}, which is not a charge`;
  if (reverses >= entry.sequence) return `reverses ${reverses}, which comes later`;
  const isItsOwn =
    reversed.pool === entry.pool &&
    consume.feature === usage.feature &&
    consume.planVersion === usage.planVersion &&
    consume.assignment === usage.assignment &&
    consume.overrides === usage.overrides &&
    reversed.hold === entry.hold &&
    isSamePlace(consume.place, usage.place);
  if (!isItsOwn)
    return `differs from charge ${reverses} in pool, feature, plan, overrides, hold or item position`;
  for (const { grant, amount } of entry.parts) {
    const burned = reversed.parts.find((part) => part.grant === grant)?.amount ?? 0;
    if (amount + burned > 0)
      return `returns ${amount} to grant ${grant}, but charge ${reverses} took only ${-burned} from it`;
  }
  for (const { grant, credits } of usage.overage) {
    const used = consume.overage.find((part) => part.grant === grant)?.credits ?? 0;
    if (credits > used)
      return `undoes ${credits} credits of overage in grant ${grant}, but charge ${reverses} used only ${used}`;
  }
  const { reversedQuantity, reversedCredits, reversedOverage } = reversed;
  const reversals = `reverses charge ${reverses}, whose reversals`;
  if (reversedQuantity > consume.quantity)
    return `${reversals} reverse ${reversedQuantity} units, but it has only ${consume.quantity}`;
  const price = chargeFor(cost, consume.quantity) - chargeFor(cost, consume.quantity - reversedQuantity);
  // The uncovered part is undone first, then overage.
  const covered = Math.max(0, price - consume.uncovered);
  const overage = Math.min(covered, sumOf(consume.overage));
  if (reversedOverage !== overage)
    return `${reversals} undo ${reversedOverage} credits of overage instead of ${overage}`;
  if (reversedCredits === covered - overage) return null;
  return `${reversals} return ${reversedCredits} credits instead of ${covered - overage}`;
}

/** The charge that each reversal in a complete ledger refers to. */
export function reversedConsumes(ledger: readonly Entry[]): Map<Entry, ReversedConsume | null> {
  const reversals = ledger.filter(({ usage }) => usage !== null && usage.reverses !== null);
  const found = new Map<Entry, ReversedConsume | null>();
  for (const [reverses, group] of Map.groupBy(reversals, ({ usage }) => usage?.reverses)) {
    const consume = ledger.find(({ sequence }) => sequence === reverses);
    let reversedQuantity = 0;
    let reversedCredits = 0;
    let reversedOverage = 0;
    for (const { usage, amount } of group) {
      reversedQuantity += usage?.quantity ?? 0;
      reversedCredits += amount;
      reversedOverage += sumOf(usage?.overage ?? []);
    }
    const sums = { reversedQuantity, reversedCredits, reversedOverage };
    const reversed = consume === undefined ? null : { ...consume, ...sums };
    for (const reversal of group) found.set(reversal, reversed);
  }
  return found;
}
