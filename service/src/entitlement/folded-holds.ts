import type { Entry, HoldChange } from "./entry.ts";
import { sumOf } from "./part-lists.ts";
import { findHeld, type Hold, heldOf, type Wallet } from "./wallet.ts";

/** A hold and the change that ended it. `end` is null while the hold is open. */
type Folded = { hold: Hold; end: HoldChange | null };

/** A customer's holds, recomputed from their changes. Methods return a description of the first error, or null. */
export class FoldedHolds {
  readonly #changes: readonly HoldChange[];
  readonly #holds = new Map<number, Folded>();
  readonly #flaw: string | null;
  /** The charged items, by hold number and feature. */
  readonly #charged = new Set<string>();

  constructor(changes: readonly HoldChange[]) {
    this.#changes = changes;
    this.#flaw = this.#fold();
  }

  /** The holds that are still open, or whose end is not written yet. */
  get open(): Hold[] {
    return [...this.#holds.values()].flatMap(({ hold, end }) => (end === null ? [hold] : []));
  }

  /** Checks that each charge with a hold belongs to a settled or charged hold, and that each item is charged at most once. */
  add({ kind, usage, hold: number, sequence }: Entry): string | null {
    if (number === null || kind !== "consume" || usage === null) return null;
    const folded = this.#holds.get(number);
    if (folded === undefined) return `refers to hold ${number}, which does not exist`;
    const { hold, end } = folded;
    if (end === null || !CHARGING.has(end.kind) || end.sequence < sequence)
      return `settles hold ${number}, which was not settled`;
    const item = hold.items.find(({ feature }) => feature === usage.feature);
    const isItsOwn =
      item?.overrides === usage.overrides &&
      hold.planVersion === usage.planVersion &&
      hold.assignment === usage.assignment;
    if (!isItsOwn) return `differs from hold ${number} in feature, plan or overrides`;
    if (end.kind === "charged" && item?.quantity !== usage.quantity)
      return `charges ${usage.quantity} of hold ${number}, which held ${item?.quantity}`;
    const name = `${number} ${usage.feature}`;
    if (this.#charged.has(name)) return `settles feature ${usage.feature} of hold ${number} a second time`;
    this.#charged.add(name);
    return null;
  }

  /** Checks that the wallet has set aside exactly the credits of its open holds. */
  compare(wallet: Wallet): string | null {
    const { held, holdCount, holdChanges, openHolds, holdsUntil } = wallet;
    if (this.#flaw !== null) return this.#flaw;
    if (this.#changes.length !== holdChanges)
      return `the wallet counts ${holdChanges} changes to holds, but only ${this.#changes.length} are readable`;
    if (this.#holds.size !== holdCount)
      return `the wallet counts ${holdCount} holds, but ${this.#holds.size} exist`;
    const { open } = this;
    if (open.length !== openHolds)
      return `the wallet counts ${openHolds} open holds, but ${open.length} are open`;
    const known = new Set(wallet.holds.map(({ number }) => number));
    const missed = open.find(({ number, expiresAt }) => !known.has(number) && expiresAt <= holdsUntil);
    if (missed !== undefined)
      return `hold ${missed.number} ends before the next hold end that the wallet records`;
    const parts = open.flatMap(({ items }) => items.flatMap((item) => item.parts));
    const grants = new Set([...parts, ...held].map(({ grant }) => grant));
    for (const grant of grants) {
      const own = parts.filter((part) => part.grant === grant);
      const [inWallet, inHolds] = [heldOf(wallet, grant), sumOf(own)];
      if (inWallet !== inHolds)
        return `grant ${grant} has ${inWallet} held credits in the wallet, ${inHolds} according to its holds`;
      if (findHeld(wallet, grant)?.revoked !== sumOf(own.filter(({ isRevoked }) => isRevoked)))
        return `grant ${grant} has different revoked credits in the wallet and in its holds`;
    }
    return null;
  }

  /** Checks that changes are numbered without a gap, and that a hold is opened once and changed only while it is open. */
  #fold(): string | null {
    for (const [index, change] of this.#changes.entries()) {
      const { number, kind, hold } = change;
      if (number !== index + 1) return `change ${index + 1} of the holds is missing or unreadable`;
      const known = this.#holds.get(hold.number);
      if (kind === "opened") {
        if (known !== undefined || hold.number !== this.#holds.size + 1)
          return `hold ${hold.number} is opened out of order`;
        this.#holds.set(hold.number, { hold, end: null });
        continue;
      }
      // A hold that expired can still be settled.
      const isLate = kind === "settled" && known?.end?.kind === "expired";
      if (known === undefined || (known.end !== null && !isLate))
        return `hold ${hold.number} is ${kind}, but it is not open`;
      this.#holds.set(hold.number, { hold, end: kind === "extended" || kind === "revoked" ? null : change });
    }
    return null;
  }
}

/** The changes that end a hold and charge for it. */
const CHARGING: ReadonlySet<HoldChange["kind"]> = new Set(["settled", "charged"]);
