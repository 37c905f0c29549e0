import { assert } from "../primitives/assert.ts";
import { brandAs, type Instant, type PoolId } from "../primitives/brand.ts";
import { burnOrder } from "./burn-order.ts";
import type { Catalog } from "./catalog.ts";
import type {
  AssignmentChange,
  AssignmentChangeKind,
  Change,
  Entry,
  EntryKind,
  HoldChange,
  HoldChangeKind,
  NewGrant,
  NewOverrides,
  Part,
  Usage,
} from "./entry.ts";
import { addNotices } from "./notices.ts";
import { countOverage } from "./overage.ts";
import { isTopUpDue, type TopUpMode } from "./top-ups.ts";
import {
  type Assignment,
  BALANCE_MAX,
  balanceOf,
  type Grant,
  type HeldCredits,
  type HeldPart,
  type Hold,
  heldIn,
  type OveragePart,
  type OverrideTerms,
  type Wallet,
} from "./wallet.ts";

/**
 * The time of a decision: the database's clock, but never earlier than the wallet's last decision or the catalog's last
 * change. A failover to a server whose clock is behind must not grant a period twice.
 */
export function decisionTime(catalog: Catalog, wallet: Wallet, clock: Instant): Instant {
  return brandAs<Instant>(Math.max(clock, wallet.decidedAt, catalog.changedAt));
}

type Move = {
  readonly kind: EntryKind;
  readonly pool: PoolId;
  readonly parts: readonly Part[];
  /** Held credits that are spent. They left their grants when the hold was opened. */
  readonly held?: readonly HeldPart[];
  readonly usage?: Usage;
  readonly hold?: number | null;
};

/** A wallet while it is being changed. Credits move only through the draft, so that every balance equals the sum of its entries. */
export class Draft {
  wallet: Wallet;
  /** The draft's current time. Due changes are applied in the order in which they fell due. */
  at: Instant;
  readonly #catalog: Catalog;
  readonly #before: Wallet;
  readonly #entries: Entry[] = [];
  readonly #grants: NewGrant[] = [];
  readonly #assignments: AssignmentChange[] = [];
  readonly #overrides: NewOverrides[] = [];
  readonly #holds: HoldChange[] = [];

  constructor(catalog: Catalog, wallet: Wallet) {
    this.#catalog = catalog;
    this.wallet = wallet;
    this.#before = wallet;
    this.at = wallet.decidedAt;
  }

  /** Moves credits into or out of grants, as one ledger entry. */
  move({ kind, pool, parts: moved, held = [], usage, hold = null }: Move): Entry {
    const parts = held.length === 0 ? moved : joinParts(held, moved);
    let amount = 0;
    for (const part of parts) amount += part.amount;
    assert(Number.isSafeInteger(amount), "credits are whole");
    this.#applyParts(moved);
    if (held.length > 0) this.#takeHeld(held);
    this.wallet = countOverage(this.wallet, usage?.overage ?? [], { used: kind === "reverse" ? -1 : 1 });
    const sequence = this.wallet.sequence + 1;
    this.wallet = { ...this.wallet, sequence };
    const balanceAfter = balanceOf(this.wallet, pool) + heldIn(this.wallet, pool);
    assert(
      balanceAfter >= 0 && balanceAfter <= BALANCE_MAX,
      "a balance is neither negative nor beyond 2^53-1",
    );
    const entry = {
      sequence,
      kind,
      pool,
      amount,
      balanceAfter,
      effectiveAt: this.at,
      parts,
      usage: usage ?? null,
      hold,
    };
    this.#entries.push(entry);
    return entry;
  }

  /**
   * Takes credits out of grants and sets them aside, together with overage. Ledger balances include held credits, so no entry is written.
   */
  setAside({ parts, overage }: { parts: readonly HeldPart[]; overage: readonly OveragePart[] }): void {
    const { grants } = this.wallet;
    const held = new Map(this.wallet.held.map((other) => [other.grant, other]));
    for (const { grant: number, credits } of parts) {
      const grant = grants.find((other) => other.number === number);
      assert(grant !== undefined, "credits are held in an open grant");
      const { pool, kind, expiresAt } = grant;
      const known = held.get(number) ?? { grant: number, pool, kind, expiresAt, credits: 0, revoked: 0 };
      held.set(number, { ...known, credits: known.credits + credits });
    }
    this.#applyParts(parts.map(({ grant, credits }) => ({ grant, amount: -credits })));
    this.wallet = countOverage({ ...this.wallet, held: [...held.values()] }, overage, { held: 1 });
  }

  /** Releases overage that was set aside. */
  freeOverage(parts: readonly OveragePart[]): void {
    this.wallet = countOverage(this.wallet, parts, { held: -1 });
  }

  /** Returns held credits to their grants. The grants must be in the wallet. */
  bringBack(parts: readonly HeldPart[]): void {
    this.#takeHeld(parts);
    this.#applyParts(joinParts(parts, []).map(({ grant, amount }) => ({ grant, amount: -amount })));
  }

  /** Records a change to a hold, and keeps the hold in the wallet while it is open. */
  noteHold(kind: HoldChangeKind, hold: Hold): void {
    const { sequence, holdChanges, holds } = this.wallet;
    const number = holdChanges + 1;
    this.#holds.push({ number, kind, hold, sequence, effectiveAt: this.at });
    const others = holds.filter((other) => other.number !== hold.number);
    const isOpen = kind === "opened" || kind === "extended" || kind === "revoked";
    this.wallet = { ...this.wallet, holdChanges: number, holds: isOpen ? [...others, hold] : others };
  }

  /** Inserts a grant in burn order. A new grant is empty. A grant that is already in the wallet keeps its remaining credits. */
  place(grant: Omit<Grant, "remaining">): void {
    const known = this.wallet.grants.find(({ number }) => number === grant.number);
    const others = this.wallet.grants.filter((other) => other !== known);
    const grants = [...others, { ...grant, remaining: known?.remaining ?? 0 }].sort(burnOrder);
    this.wallet = { ...this.wallet, grants };
  }

  /** Removes a grant if it is empty. */
  remove(number: number): void {
    const grants = this.wallet.grants.filter((grant) => grant.number !== number || grant.remaining > 0);
    this.wallet = { ...this.wallet, grants };
  }

  /** Opens a new grant with its credits. */
  open(grant: Omit<Grant, "remaining" | "number">, credits: number): NewGrant {
    const number = this.#record(grant, credits, null);
    this.place({ ...grant, number });
    this.move({ kind: "grant", pool: grant.pool, parts: [{ grant: number, amount: credits }] });
    return this.#lastGrant();
  }

  /** Adds a new grant's credits to an open grant with the same kind and expiry. */
  merge(into: Grant, credits: number): NewGrant {
    this.#record(into, credits, into.number);
    this.move({ kind: "grant", pool: into.pool, parts: [{ grant: into.number, amount: credits }] });
    return this.#lastGrant();
  }

  noteAssignment(
    kind: AssignmentChangeKind,
    assignment: Omit<Assignment, "allowances" | "counters">,
    effectiveAt: Instant = this.at,
  ): void {
    this.#assignments.push({
      kind,
      assignment: assignment.number,
      plan: assignment.plan,
      planVersion: assignment.version,
      anchor: assignment.anchor,
      endsAt: assignment.endsAt,
      isDefault: assignment.isDefault,
      effectiveAt,
    });
  }

  /** Replaces the customer's overrides. Empty terms only end the current overrides. */
  override(terms: OverrideTerms): void {
    const overrides = { ...terms, number: this.wallet.overridesCount + 1 };
    const hasTerms = terms.features.length + terms.allowances.length > 0;
    this.#overrides.push({ ...overrides, effectiveAt: this.at });
    this.wallet = {
      ...this.wallet,
      overridesCount: overrides.number,
      overrides: hasTerms ? overrides : null,
    };
  }

  /** Returns everything to write. Null if nothing changed. */
  finish(now: Instant, mode: TopUpMode = "repeat"): Change | null {
    if (this.wallet === this.#before && !isTopUpDue(this.#catalog, this.wallet, now, mode)) return null;
    const made = {
      wallet: { ...this.wallet, decidedAt: now },
      entries: this.#entries,
      grants: this.#grants,
      assignments: this.#assignments,
      overrides: this.#overrides,
      holds: this.#holds,
    };
    return addNotices(this.#catalog, this.#before, made, mode);
  }

  #applyParts(parts: readonly Part[]): void {
    const grants = this.wallet.grants.map((grant) => applyParts(grant, parts));
    this.wallet = { ...this.wallet, grants: grants.filter(isWorthKeeping) };
  }

  #takeHeld(parts: readonly HeldPart[]): void {
    const held = this.wallet.held.map((other): HeldCredits => {
      let { credits, revoked } = other;
      for (const part of parts) {
        if (part.grant !== other.grant) continue;
        credits -= part.credits;
        if (part.isRevoked) revoked -= part.credits;
      }
      assert(credits >= revoked && revoked >= 0, "no more credits return than were held");
      return { ...other, credits, revoked };
    });
    assert(
      parts.every(({ grant }) => held.some((other) => other.grant === grant)),
      "only held credits are returned",
    );
    this.wallet = { ...this.wallet, held: held.filter(({ credits }) => credits > 0) };
  }

  #record(grant: Omit<Grant, "remaining" | "number">, credits: number, mergedInto: number | null): number {
    const number = this.wallet.grantCount + 1;
    this.wallet = { ...this.wallet, grantCount: number };
    const { pool, kind, expiresAt } = grant;
    this.#grants.push({ number, pool, kind, credits, expiresAt, effectiveAt: this.at, mergedInto });
    return number;
  }

  #lastGrant(): NewGrant {
    const grant = this.#grants.at(-1);
    assert(grant !== undefined, "a grant was just recorded");
    return grant;
  }
}

/** Combines held and moved credits into one part per grant. Held credits become negative amounts. */
function joinParts(held: readonly HeldPart[], moved: readonly Part[]): Part[] {
  const amounts = new Map<number, number>();
  for (const { grant, credits } of held) amounts.set(grant, (amounts.get(grant) ?? 0) - credits);
  for (const { grant, amount } of moved) amounts.set(grant, (amounts.get(grant) ?? 0) + amount);
  return [...amounts].map(([grant, amount]) => ({ grant, amount }));
}

function applyParts(grant: Grant, parts: readonly Part[]): Grant {
  for (const part of parts) {
    if (part.grant !== grant.number) continue;
    const remaining = grant.remaining + part.amount;
    assert(remaining >= 0, "no grant gives more than it holds");
    return { ...grant, remaining };
  }
  return grant;
}

/** A spent allowance is kept, because its usage is computed from its remaining credits. */
function isWorthKeeping(grant: Grant): boolean {
  return grant.remaining > 0 || grant.kind === "allowance";
}
