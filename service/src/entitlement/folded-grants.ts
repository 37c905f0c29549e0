import { assertNever } from "../primitives/assert.ts";
import type { Instant } from "../primitives/brand.ts";
import { burnOrder } from "./burn-order.ts";
import type { Entry, EntryKind } from "./entry.ts";
import type { GrantFacts } from "./revoke-grant.ts";
import { type Assignment, type Grant, heldOf, type PausedPlan, type Wallet } from "./wallet.ts";

/** A grant and the grants merged into it, with the sums of their ledger entries. */
type Slot = {
  readonly head: GrantFacts;
  /** When the customer left the plan of the grant, if that plan can resume. */
  readonly leftAt: Instant | null;
  /** Credits of all grants in the slot. */
  credits: number;
  /** Credits of the grants in the slot that are not revoked. */
  creditsOwned: number;
  /** Remaining credits, including held credits. */
  total: number;
  /** The sum of `grant` entries. For an allowance, only the first entry counts, because later entries resume or adjust the allowance. */
  given: number;
  /** Credits charged or revoked, minus credits reversed. */
  used: number;
  /** Credits removed when or after the customer left the plan. They return when the plan resumes. */
  away: number;
  /** Credits reversed since the last charge. */
  back: number;
};

/** A customer's grants, recomputed from the ledger. Methods return a description of the first error, or null. */
export class FoldedGrants {
  readonly #slots = new Map<number, Slot>();
  readonly #rows: readonly GrantFacts[];

  constructor(rows: readonly GrantFacts[], { paused }: Wallet) {
    this.#rows = rows;
    const leftAt = new Map<number, Instant>();
    for (const plan of paused) for (const { number } of plan.grants) leftAt.set(number, plan.leftAt);
    for (const head of rows) {
      if (head.slot !== head.number) continue;
      const nothing = { credits: 0, creditsOwned: 0, total: 0, given: 0, used: 0, away: 0, back: 0 };
      this.#slots.set(head.number, { head, leftAt: leftAt.get(head.number) ?? null, ...nothing });
    }
    for (const { slot: number, credits, isRevoked } of rows) {
      const slot = this.#slots.get(number);
      if (slot === undefined) continue;
      slot.credits += credits;
      if (!isRevoked) slot.creditsOwned += credits;
    }
  }

  add({ kind, pool, parts, effectiveAt, hold }: Entry): string | null {
    for (const { grant, amount } of parts) {
      const slot = this.#slots.get(grant);
      if (slot === undefined) return `refers to grant ${grant}, which does not exist`;
      if (slot.head.pool !== pool) return `refers to grant ${grant}, which belongs to pool ${slot.head.pool}`;
      if (slot.total + amount < 0)
        return `takes ${-amount} from grant ${grant}, which has only ${slot.total}`;
      move(slot, { kind, amount, at: effectiveAt, isOfHold: hold !== null });
    }
    return null;
  }

  /** Checks that rows are numbered without a gap, merged grants match their slot, and credits match the `grant` entries. */
  compareRows({ grantCount }: Wallet): string | null {
    for (const [index, row] of this.#rows.entries()) {
      const { number, slot: slotNumber } = row;
      if (number !== index + 1) return `grant ${index + 1} is missing`;
      const slot = this.#slots.get(slotNumber);
      if (slot === undefined) return `grant ${number} is merged into ${slotNumber}, which is itself merged`;
      const { head, credits, given } = slot;
      const matchesSlot =
        row.pool === head.pool && row.kind === head.kind && row.expiresAt === head.expiresAt;
      const isMergedAllowance = row !== head && row.kind === "allowance";
      if (!matchesSlot || isMergedAllowance)
        return `grant ${number} differs from grant ${slotNumber} in pool, kind or expiry`;
      if (given !== credits)
        return `grant ${slotNumber} has ${credits} credits, but its grant entries add up to ${given}`;
    }
    if (this.#rows.length === grantCount) return null;
    return `the wallet counts ${grantCount} grants, but ${this.#rows.length} exist`;
  }

  /** Checks that the wallet lists exactly the grants that are open according to the ledger, in burn order. */
  compareOpen(wallet: Wallet): string | null {
    const { grants } = wallet;
    for (const [index, grant] of grants.entries()) {
      const flaw = this.#findFlaw(grant, heldOf(wallet, grant.number));
      if (flaw !== null) return flaw;
      const next = grants[index + 1];
      if (next !== undefined && burnOrder(grant, next) >= 0)
        return `grants ${grant.number} and ${next.number} are not in spending order`;
    }
    for (const { grant: number, pool, kind, expiresAt } of wallet.held) {
      const head = this.#slots.get(number)?.head;
      const isExpiry = kind === "allowance" || head?.expiresAt === expiresAt;
      if (head?.pool !== pool || head.kind !== kind || !isExpiry)
        return `the held credits of grant ${number} differ from the grant in pool, kind or expiry`;
    }
    const open = new Set(grants.map(({ number }) => number));
    if (open.size < grants.length) return "the wallet lists a grant twice";
    for (const [number, { total }] of this.#slots) {
      if (total !== heldOf(wallet, number) && !open.has(number))
        return `grant ${number} has ${total} according to its ledger, but the wallet does not list it`;
    }
    return null;
  }

  #findFlaw({ number, pool, kind, remaining, expiresAt }: Grant, held: number): string | null {
    const slot = this.#slots.get(number);
    if (slot === undefined) return `the wallet lists grant ${number}, which does not exist`;
    const { head, total, creditsOwned } = slot;
    if (remaining + held !== total)
      return `grant ${number} has ${remaining + held} in the wallet, ${total} according to its ledger`;
    // A version change may have changed an allowance's expiry and size.
    if (kind === "allowance")
      return head.kind === kind && head.pool === pool
        ? null
        : `grant ${number} has a different pool or kind in the wallet`;
    if (head.kind !== kind || head.pool !== pool || head.expiresAt !== expiresAt)
      return `grant ${number} has a different pool, kind or expiry in the wallet`;
    if (remaining === 0) return `grant ${number} has no credits left, but the wallet still lists it`;
    if (remaining > creditsOwned)
      return `grant ${number} has ${remaining}, but all except ${creditsOwned} were revoked`;
    return null;
  }

  /** Checks the allowances recorded with the current plan and with paused plans. */
  comparePlans(wallet: Wallet): string | null {
    const { assignment, grants, paused } = wallet;
    const active = assignment === null ? null : this.#compareUsed(assignment, grants, wallet);
    if (active !== null) return active;
    const open = new Set(grants.map(({ number }) => number));
    for (const plan of paused) {
      const flaw = this.#comparePaused(plan, open) ?? this.#compareUsed(plan.assignment, plan.grants, wallet);
      if (flaw !== null) return flaw;
    }
    return null;
  }

  /** Checks the used credits of the wallet's allowances, which are `base - remaining - held`. */
  #compareUsed(
    { allowances }: Assignment,
    grants: readonly Grant[],
    wallet: Pick<Wallet, "held">,
  ): string | null {
    for (const { grant: number, base } of allowances) {
      const grant = grants.find((other) => other.number === number);
      const slot = this.#slots.get(number);
      const [used, isRevoked] = [slot?.used ?? 0, slot?.head.isRevoked ?? false];
      const usedInWallet = grant === undefined ? used : base - grant.remaining - heldOf(wallet, number);
      // Revoking a paused plan's allowance does not write an entry, because its credits are not in the balance.
      const isExplained = usedInWallet === used || (isRevoked && usedInWallet > used);
      if (!isExplained)
        return `grant ${number} has ${usedInWallet} used credits in the wallet, ${used} according to its ledger`;
    }
    return null;
  }

  #comparePaused({ assignment, grants }: PausedPlan, open: ReadonlySet<number>): string | null {
    for (const { number, pool, kind, remaining } of grants) {
      const slot = this.#slots.get(number);
      const isSound = kind === "allowance" && slot?.head.kind === kind && slot.head.pool === pool;
      if (slot === undefined || !isSound || open.has(number))
        return `grant ${number} is kept for a paused plan, but is not one of its allowances`;
      // A version change at the moment when the customer leaves the plan may reduce the current allowance. In that case, `away` is only an
      // upper bound, and `#compareUsed` checks the used credits.
      const isCurrent = assignment.allowances.some(({ grant }) => grant === number);
      if (slot.head.isRevoked && remaining === 0) continue;
      if (isCurrent ? remaining > slot.away : remaining !== slot.away)
        return `grant ${number} is kept for a paused plan with ${remaining} credits, but its ledger removed ${slot.away}`;
    }
    return null;
  }
}

type Moved = {
  readonly kind: EntryKind;
  readonly amount: number;
  readonly at: Instant;
  readonly isOfHold: boolean;
};

function move(slot: Slot, { kind, amount, at, isOfHold }: Moved): void {
  slot.total += amount;
  switch (kind) {
    case "grant":
      if (slot.head.kind !== "allowance" || slot.given === 0) slot.given += amount;
      slot.away = 0;
      slot.back = 0;
      break;
    case "consume":
      slot.used -= amount;
      // A hold spends credits that were set aside, even while the plan is paused.
      if (!isOfHold) slot.away = 0;
      slot.back = 0;
      break;
    case "revoke":
      slot.used -= amount;
      break;
    case "reverse":
      slot.used -= amount;
      slot.back += amount;
      break;
    case "expire": {
      if (slot.leftAt === null || at < slot.leftAt) break;
      // Credits that return while the plan is paused are removed again, and kept with the paused plan's other credits.
      const isTakenAgain = isOfHold || slot.back + amount === 0;
      slot.away = (isTakenAgain ? slot.away : 0) - amount;
      slot.back = 0;
      break;
    }
    default:
      assertNever(kind);
  }
}
