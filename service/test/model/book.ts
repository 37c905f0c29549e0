import { addCredits } from "../../src/entitlement/add-credits.ts";
import { assignPlan } from "../../src/entitlement/assign-plan.ts";
import type { Catalog } from "../../src/entitlement/catalog.ts";
import { extendHold, releaseHold, settleHold } from "../../src/entitlement/change-hold.ts";
import { type Decided, decide } from "../../src/entitlement/decide.ts";
import { dropNextPlan, endPlan } from "../../src/entitlement/end-plan.ts";
import type {
  AssignmentChange,
  Change,
  Entry,
  HoldChange,
  NewOverrides,
  Usage,
} from "../../src/entitlement/entry.ts";
import { holdCredits } from "../../src/entitlement/open-hold.ts";
import { reduceAllowance } from "../../src/entitlement/reduce-allowance.ts";
import { type ConsumeFacts, reverseConsume } from "../../src/entitlement/reverse-consume.ts";
import { type GrantFacts, revokeGrant } from "../../src/entitlement/revoke-grant.ts";
import { setOverrides } from "../../src/entitlement/set-overrides.ts";
import { viewDue } from "../../src/entitlement/view-wallet.ts";
import { type Hold, newWallet, type Wallet } from "../../src/entitlement/wallet.ts";
import type { Instant } from "../../src/primitives/brand.ts";
import type { Answer, Asked, NamedGrant, Request, View } from "./request.ts";

type Charge = Entry & { usage: Usage };

/** The service's pure core with the rows that a database would store: a wallet, its ledger and its grants. */
export class Book {
  wallet: Wallet | null;
  readonly entries: Entry[] = [];
  readonly grants: (GrantFacts & { effectiveAt: Instant })[] = [];
  readonly assignments: AssignmentChange[] = [];
  readonly overrides: NewOverrides[] = [];
  readonly holdChanges: HoldChange[] = [];
  /** By number. `isClosed`: a request has settled or released the hold. */
  readonly holds: { hold: Hold; isClosed: boolean }[] = [];

  constructor(wallet: Wallet | null) {
    this.wallet = wallet;
  }

  copy(): Book {
    const book = new Book(this.wallet);
    book.entries.push(...this.entries);
    book.grants.push(...this.grants);
    book.assignments.push(...this.assignments);
    book.overrides.push(...this.overrides);
    book.holds.push(...this.holds);
    book.holdChanges.push(...this.holdChanges);
    return book;
  }

  /** Decides without writing anything. */
  ask(catalog: Catalog, request: Request, clock: Instant): { answer: Answer; change: Change | null } {
    if (request.kind === "decide") return this.#decide(catalog, request, clock);
    if (request.kind === "hold") return this.#hold(catalog, request, clock);
    // The first operation on a customer creates the wallet.
    const wallet = this.wallet ?? newWallet(clock);
    switch (request.kind) {
      case "settle": {
        const outcome = settleHold(catalog, wallet, { ...request, hold: this.#holdAt(request.hold) }, clock);
        if (outcome.kind !== "settled")
          return { answer: { kind: outcome.kind }, change: "change" in outcome ? outcome.change : null };
        const { kind, isLate, change } = outcome;
        const items = outcome.items.map(({ item: _item, entry: _entry, ...settled }) => settled);
        return { answer: { kind, isLate, items }, change };
      }
      case "release":
        return toKind(releaseHold(catalog, wallet, this.#holdAt(request.hold), clock));
      case "extend": {
        const outcome = extendHold(catalog, wallet, { ...request, hold: this.#holdAt(request.hold) }, clock);
        const change = "change" in outcome ? outcome.change : null;
        if (outcome.kind !== "denied") return { answer: { kind: outcome.kind }, change };
        const { kind, reason, affordableQuantity } = outcome;
        return { answer: { kind, reason, affordableQuantity }, change };
      }
      case "assign":
        return toKind(assignPlan(catalog, wallet, request, clock));
      case "end":
        return toKind(endPlan(catalog, wallet, request, clock));
      case "drop_next":
        return toKind(dropNextPlan(catalog, wallet, clock));
      case "override": {
        const { kind: _, ...terms } = request;
        return toKind(setOverrides(catalog, wallet, terms, clock));
      }
      case "add":
        return toKind(addCredits(catalog, wallet, { ...request, kind: request.source }, clock));
      case "reduce":
        return toKind(reduceAllowance(catalog, wallet, request, clock));
      case "revoke": {
        const outcome = revokeGrant(catalog, wallet, this.#named(request.named), clock);
        if (outcome.kind === "already_revoked") return { answer: outcome, change: null };
        return { answer: { kind: "revoked", credits: outcome.credits }, change: outcome.change };
      }
      case "reverse":
      case "reverse_request": {
        const outcome = reverseConsume(catalog, wallet, this.#reversal(request), clock);
        if (outcome.kind !== "reversed") return { answer: outcome, change: null };
        const { change, ...answer } = outcome;
        return { answer, change };
      }
    }
  }

  /** Decides and writes the change. */
  commit(catalog: Catalog, request: Request, clock: Instant): { answer: Answer; change: Change | null } {
    // Resolved before the change is written, which may change the burn order.
    const named = request.kind === "revoke" ? this.#named(request.named).grant.number : null;
    const { answer, change } = this.ask(catalog, request, clock);
    if (change !== null) this.write(change);
    if (named !== null && answer.kind === "revoked") {
      const at = this.grants.findIndex((grant) => grant.number === named);
      const grant = this.grants[at];
      if (grant !== undefined) this.grants[at] = { ...grant, isRevoked: true };
    }
    return { answer, change };
  }

  /** Whether the grant, consume or hold that a request names exists. It may be missing if a planned change was not written. */
  has(request: Request): boolean {
    if (request.kind === "reverse" || request.kind === "reverse_request")
      return this.consumes().length > request.consume;
    if (request.kind === "settle" || request.kind === "release" || request.kind === "extend") {
      const found = this.holds[request.hold];
      const count = found?.isClosed === false ? found.hold.items.length : 0;
      if (request.kind === "settle") return count > 0 && (request.quantities?.length ?? count) === count;
      return request.kind === "extend" ? count === 1 : count > 0;
    }
    return request.kind !== "revoke" || this.#findNamed(request.named) !== undefined;
  }

  write(change: Change): void {
    this.wallet = change.wallet;
    this.entries.push(...change.entries);
    this.assignments.push(...change.assignments);
    this.overrides.push(...change.overrides);
    this.holdChanges.push(...change.holds);
    for (const { kind, hold } of change.holds) {
      this.holds[hold.number - 1] = { hold, isClosed: kind === "settled" || kind === "released" };
    }
    for (const { mergedInto, ...grant } of change.grants) {
      this.grants.push({ ...grant, slot: mergedInto ?? grant.number, isRevoked: false });
    }
  }

  /**
   * Returns only the changes that are due. Decides as if the customer were blocked, which denies the request and applies due
   * changes.
   */
  due(catalog: Catalog, clock: Instant): Change | null {
    const [feature] = catalog.features.keys();
    if (this.wallet === null || feature === undefined) return null;
    if (this.wallet.assignmentCount === 0) return viewDue(catalog, this.wallet, clock);
    const { isBlocked } = this.wallet;
    const decision = decide(catalog, { ...this.wallet, isBlocked: true }, [{ feature, quantity: 1 }], clock);
    if (decision.kind !== "decided" || decision.change === null) return null;
    return { ...decision.change, wallet: { ...decision.change.wallet, isBlocked } };
  }

  /** Writes the changes that are due. */
  notice(catalog: Catalog, clock: Instant): Change | null {
    const change = this.due(catalog, clock);
    if (change !== null) this.write(change);
    return change;
  }

  /** The visible state of the wallet, after `change` if there is one. */
  view(change: Change | null): View {
    const wallet = change?.wallet ?? this.wallet;
    const rows = [...this.grants, ...(change?.grants ?? [])];
    const grants = wallet?.grants.filter((grant) => grant.remaining > 0) ?? [];
    return {
      decidedAt: wallet?.decidedAt ?? 0,
      planAsOf: wallet?.planAsOf ?? null,
      plan: wallet === null ? null : planOf(wallet),
      next: wallet?.next ?? null,
      overrides: wallet === null ? null : overridesOf(wallet),
      grants: grants.map(({ number, pool, kind, remaining, expiresAt }) => {
        const givenAt = rows.find((row) => row.number === number)?.effectiveAt ?? 0;
        return { pool, kind, remaining, givenAt, expiresAt };
      }),
      holds: (wallet?.holds ?? [])
        .toSorted((a, b) => a.number - b.number)
        .map(({ expiresAt, items }) => ({
          expiresAt,
          items: items.map(({ quantity, parts, overage }) => ({
            quantity,
            credits: parts.reduce((sum, part) => sum + part.credits, 0),
            overage: overage.reduce((sum, part) => sum + part.credits, 0),
          })),
        })),
    };
  }

  block(isBlocked: boolean): void {
    if (this.wallet !== null) this.wallet = { ...this.wallet, isBlocked };
  }

  consumes(): Charge[] {
    return this.entries.flatMap((entry) =>
      entry.kind === "consume" && entry.usage !== null ? [{ ...entry, usage: entry.usage }] : [],
    );
  }

  /** Whether this grant and all grants merged into it are revoked. */
  isRevoked(number: number): boolean {
    return this.grants.filter((grant) => grant.slot === number).every((grant) => grant.isRevoked);
  }

  reversedOf(sequence: number): number {
    return this.entries
      .filter((entry) => entry.usage?.reverses === sequence)
      .reduce((sum, entry) => sum + (entry.usage?.quantity ?? 0), 0);
  }

  /** The charges of the request that this charge belongs to. Their entries are consecutive. */
  #chargesWith({ sequence, usage: { place } }: Charge): Charge[] {
    const first = sequence - (place?.index ?? 0);
    return this.consumes().filter((it) => it.sequence >= first && it.sequence < first + (place?.of ?? 1));
  }

  #decide(catalog: Catalog, request: Asked<"decide">, clock: Instant) {
    const decision = decide(catalog, this.wallet, request.items, clock);
    if (decision.kind === "feature_not_found") return { answer: { kind: decision.kind }, change: null };
    return toAnswer(decision);
  }

  #hold(catalog: Catalog, { items: requested, terms }: Asked<"hold">, clock: Instant) {
    const decision = holdCredits(catalog, this.wallet, { requested, terms }, clock);
    if (decision.kind !== "decided") return { answer: { kind: decision.kind }, change: null };
    return toAnswer(decision);
  }

  #holdAt(index: number): Hold {
    const found = this.holds[index];
    if (found === undefined) throw new Error("the hold does not exist");
    return found.hold;
  }

  #named(named: NamedGrant): { grant: GrantFacts; slot: readonly GrantFacts[] } {
    const grant = this.#findNamed(named);
    if (grant === undefined) throw new Error("the grant does not exist");
    return { grant, slot: this.grants.filter((it) => it.slot === grant.slot) };
  }

  #findNamed(named: NamedGrant): GrantFacts | undefined {
    if (named.by === "addition") return this.grants.filter((it) => it.kind !== "allowance")[named.index];
    const open = this.wallet?.grants.filter((it) => it.remaining > 0)[named.index];
    return this.grants.find((it) => it.number === open?.number);
  }

  #reversal(request: Asked<"reverse" | "reverse_request">): {
    consumes: readonly ConsumeFacts[];
    quantity: number | null;
    grants: readonly GrantFacts[];
    overrides: readonly NewOverrides[];
  } {
    const charge = this.consumes()[request.consume];
    if (charge === undefined) throw new Error("the consume does not exist");
    const charges = request.kind === "reverse" ? [charge] : this.#chargesWith(charge);
    const slots = new Set(charges.flatMap(({ parts }) => parts.map((part) => part.grant)));
    return {
      consumes: charges.map(({ sequence, pool, parts, usage, hold }) => {
        const reversedQuantity = this.reversedOf(sequence);
        return { sequence, pool, parts, hold, ...usage, reversedQuantity };
      }),
      quantity: request.kind === "reverse" ? request.quantity : null,
      grants: this.grants.filter((grant) => slots.has(grant.slot)),
      overrides: this.overrides,
    };
  }
}

/** Turns an outcome into an answer that contains only its kind. */
function toKind<Kind extends Answer["kind"]>(outcome: { kind: Kind; change?: Change | null }) {
  return { answer: { kind: outcome.kind }, change: outcome.change ?? null };
}

function toAnswer(decision: Decided): { answer: Answer; change: Change | null } {
  const { kind, allowed, reason, deniedItem, affordableQuantity, planVersion, change } = decision;
  const items = decision.items.map(({ creditsRequired, before, after }) => ({
    creditsRequired,
    before,
    after,
  }));
  return { answer: { kind, allowed, reason, deniedItem, affordableQuantity, items, planVersion }, change };
}

function overridesOf({ overrides }: Wallet): View["overrides"] {
  if (overrides === null) return null;
  const { features, allowances, endsAt } = overrides;
  return { features, allowances, endsAt };
}

function planOf({ assignment }: Wallet): View["plan"] {
  if (assignment === null) return null;
  const { plan, version, anchor, endsAt, isDefault } = assignment;
  return { plan, version, anchor, endsAt, isDefault };
}
