import { addCredits } from "../src/entitlement/add-credits.ts";
import type { PoolAlerts } from "../src/entitlement/alerts.ts";
import { type AssignmentRequest, assignPlan } from "../src/entitlement/assign-plan.ts";
import type { Catalog } from "../src/entitlement/catalog.ts";
import {
  type ExtendOutcome,
  extendHold,
  releaseHold,
  type SettleOutcome,
  settleHold,
} from "../src/entitlement/change-hold.ts";
import { type Decided, decide, type ItemDecision, type RequestedItem } from "../src/entitlement/decide.ts";
import { dropNextPlan, endPlan } from "../src/entitlement/end-plan.ts";
import type {
  AssignmentChange,
  Change,
  Entry,
  NewGrant,
  NewOverrides,
  Notice,
} from "../src/entitlement/entry.ts";
import { type MoveOutcome, moveGrant } from "../src/entitlement/move-grant.ts";
import { holdCredits } from "../src/entitlement/open-hold.ts";
import { type ReductionOutcome, reduceAllowance } from "../src/entitlement/reduce-allowance.ts";
import { type ReversalOutcome, reverseConsume } from "../src/entitlement/reverse-consume.ts";
import { type GrantFacts, revokeGrant } from "../src/entitlement/revoke-grant.ts";
import { setAlerts } from "../src/entitlement/set-alerts.ts";
import { type OverridesRequest, setOverrides } from "../src/entitlement/set-overrides.ts";
import { viewDue } from "../src/entitlement/view-wallet.ts";
import { balanceOf, type Hold, newWallet, type Wallet } from "../src/entitlement/wallet.ts";
import { brandAs, type FeatureKey, type Instant } from "../src/primitives/brand.ts";
import { at, CREDITS, getFeature, LONG_AGO, planId } from "./catalog.ts";

/** A decision about a single feature, merged with its only item. */
type DecidedOne = Decided & ItemDecision;

/** One customer's history, in memory. Each action has a date. */
export class Timeline {
  catalog: Catalog;
  wallet: Wallet = newWallet(LONG_AGO);
  readonly entries: Entry[] = [];
  readonly assignments: AssignmentChange[] = [];
  readonly notices: Notice[] = [];
  readonly #grants: NewGrant[] = [];
  readonly #overrides: NewOverrides[] = [];
  readonly #revoked = new Set<number>();

  constructor(catalog: Catalog) {
    this.catalog = catalog;
  }

  get balance(): number {
    return balanceOf(this.wallet, CREDITS);
  }

  assign(when: string, plan: string, options: Partial<Omit<AssignmentRequest, "plan">> = {}): string {
    const request = { plan: planId(this.catalog, plan), anchor: null, endsAt: undefined, ...options };
    const outcome = assignPlan(this.catalog, this.wallet, request, at(when));
    if ("change" in outcome) this.#keep(outcome.change);
    return outcome.kind;
  }

  end(when: string, asOf: Instant | null = null): string {
    const outcome = endPlan(this.catalog, this.wallet, { asOf }, at(when));
    if ("change" in outcome) this.#keep(outcome.change);
    return outcome.kind;
  }

  dropNext(when: string): string {
    const outcome = dropNextPlan(this.catalog, this.wallet, at(when));
    this.#keep(outcome.change);
    return outcome.kind;
  }

  /** Replaces the overrides. Terms are listed by feature; credits are the amount of the allowance. */
  override(
    when: string,
    terms: Readonly<Record<string, Partial<Omit<OverridesRequest["features"][number], "feature">>>>,
    {
      credits = null,
      overage,
      endsAt = null,
    }: { credits?: number | null; overage?: number | null; endsAt?: Instant | null } = {},
  ): string {
    const features = Object.entries(terms).map(([key, { included = null, cost = null, limit }]) => ({
      feature: getFeature(key),
      ...{ included, cost, limit },
    }));
    const isSet = credits !== null || overage !== undefined;
    const allowances = isSet ? [{ pool: CREDITS, period: null, credits, overage }] : [];
    const outcome = setOverrides(this.catalog, this.wallet, { features, allowances, endsAt }, at(when));
    if ("change" in outcome) this.#keep(outcome.change);
    return outcome.kind;
  }

  consume(when: string, feature: string, quantity = 1): DecidedOne {
    const decision = this.check(when, feature, quantity);
    this.#keep(decision.change);
    return decision;
  }

  check(when: string, feature: string, quantity = 1): DecidedOne {
    const decision = this.checkItems(when, { [feature]: quantity });
    const [item] = decision.items;
    if (item === undefined) throw new Error("no item");
    return { ...decision, ...item };
  }

  /** Consumes several features in one request. Quantities are listed by feature. */
  consumeItems(when: string, quantities: Readonly<Record<string, number>>): Decided {
    const decision = this.checkItems(when, quantities);
    this.#keep(decision.change);
    return decision;
  }

  checkItems(when: string, quantities: Readonly<Record<string, number>>): Decided {
    const decision = decide(this.catalog, this.wallet, requestedIn(quantities), at(when));
    if (decision.kind !== "decided") throw new Error(`no feature ${decision.feature}`);
    return decision;
  }

  /** Holds one or several features. Quantities are listed by feature. */
  hold(
    when: string,
    quantities: Readonly<Record<string, number>>,
    { seconds = 900, onExpiry = "release" as Hold["onExpiry"] } = {},
  ): Hold {
    const decision = this.tryHold(when, quantities, { seconds, onExpiry });
    if (decision.kind !== "decided" || decision.hold === null) throw new Error("the hold was denied");
    return decision.hold;
  }

  tryHold(
    when: string,
    quantities: Readonly<Record<string, number>>,
    { seconds, onExpiry }: { seconds: number; onExpiry: Hold["onExpiry"] },
  ): ReturnType<typeof holdCredits> {
    const terms = { expiresInMs: seconds * 1_000, onExpiry, memberId: null };
    const request = { requested: requestedIn(quantities), terms };
    const decision = holdCredits(this.catalog, this.wallet, request, at(when));
    if (decision.kind === "decided") this.#keep(decision.change);
    return decision;
  }

  settle(
    when: string,
    hold: Hold,
    quantities: readonly number[] | null = null,
    { atMostHeld = false } = {},
  ): SettleOutcome {
    const outcome = settleHold(
      this.catalog,
      this.wallet,
      { hold: this.#current(hold), quantities, atMostHeld },
      at(when),
    );
    if ("change" in outcome) this.#keep(outcome.change);
    return outcome;
  }

  release(when: string, hold: Hold): string {
    const outcome = releaseHold(this.catalog, this.wallet, this.#current(hold), at(when));
    this.#keep(outcome.change);
    return outcome.kind;
  }

  extend(
    when: string,
    hold: Hold,
    { quantity, expiresAt }: { quantity?: number; expiresAt?: Instant } = {},
  ): ExtendOutcome {
    const outcome = extendHold(
      this.catalog,
      this.wallet,
      { hold: this.#current(hold), quantity: quantity ?? null, expiresAt: expiresAt ?? null },
      at(when),
    );
    if ("change" in outcome) this.#keep(outcome.change);
    return outcome;
  }

  /** Replaces all rules with those of one pool. */
  alerts(when: string, rules: Partial<PoolAlerts> = {}): string {
    const alerts = [{ pool: CREDITS, lowBalances: null, topUp: null, ...rules }];
    const outcome = setAlerts(this.catalog, this.wallet, alerts, at(when));
    this.#keep(outcome.change);
    return outcome.kind;
  }

  /** Brings the customer up to date as the job for customers without requests does. */
  catchUp(when: string): void {
    this.#keep(viewDue(this.catalog, this.wallet, at(when)));
  }

  topUp(
    when: string,
    credits: number,
    options: { kind?: "purchase" | "manual"; expiresAt?: Instant } = {},
  ): string {
    const { kind = "purchase", expiresAt = null } = options;
    const request = { pool: CREDITS, kind, credits, expiresAt };
    const outcome = addCredits(this.catalog, this.wallet, request, at(when));
    if (outcome.kind === "added") this.#keep(outcome.change);
    return outcome.kind;
  }

  /** Reduces the current allowance to the credits that remain of it in another system. */
  reduce(when: string, remaining: number, pool = CREDITS): ReductionOutcome {
    const outcome = reduceAllowance(this.catalog, this.wallet, { pool, remaining }, at(when));
    if ("change" in outcome) this.#keep(outcome.change);
    return outcome;
  }

  revoke(when: string, number: number): number {
    const facts = this.#facts();
    const grant = facts.find((other) => other.number === number);
    if (grant === undefined) throw new Error(`no grant ${number}`);
    const slot = facts.filter((other) => other.slot === grant.slot);
    const outcome = revokeGrant(this.catalog, this.wallet, { grant, slot }, at(when));
    if (outcome.kind !== "revoked") return 0;
    this.#keep(outcome.change);
    this.#revoked.add(number);
    return outcome.credits;
  }

  /** Moves the remaining credits of a grant to another customer. */
  move(when: string, number: number, to: Timeline): MoveOutcome {
    const facts = this.#facts();
    const grant = facts.find((other) => other.number === number);
    if (grant === undefined) throw new Error(`no grant ${number}`);
    const slot = facts.filter((other) => other.slot === grant.slot);
    const wallets = { from: this.wallet, to: to.wallet };
    const outcome = moveGrant(this.catalog, wallets, { grant, slot }, at(when));
    if (outcome.kind !== "moved") return outcome;
    this.#keep(outcome.from);
    this.#revoked.add(number);
    to.#keep(outcome.to);
    return outcome;
  }

  reverse(when: string, entry: Entry | null, quantity: number | null = null): ReversalOutcome {
    return this.#reverse(when, [entry], quantity);
  }

  /** Reverses all charges of a request. */
  reverseItems(when: string, { items }: Decided): ReversalOutcome {
    return this.#reverse(
      when,
      items.map(({ entry }) => entry),
      null,
    );
  }

  #reverse(when: string, entries: readonly (Entry | null)[], quantity: number | null): ReversalOutcome {
    const consumes = entries.map((entry) => {
      if (entry?.usage == null) throw new Error("not a consume");
      const { sequence, pool, parts, usage, hold } = entry;
      const reversedQuantity = this.entries
        .filter((other) => other.usage?.reverses === sequence)
        .reduce((sum, other) => sum + (other.usage?.quantity ?? 0), 0);
      return { sequence, pool, parts, hold, ...usage, reversedQuantity };
    });
    const request = { consumes, quantity, grants: this.#facts(), overrides: this.#overrides };
    const outcome = reverseConsume(this.catalog, this.wallet, request, at(when));
    if (outcome.kind === "reversed") this.#keep(outcome.change);
    return outcome;
  }

  /** The current state of a hold, which a revocation may have changed. */
  #current(hold: Hold): Hold {
    return this.wallet.holds.find(({ number }) => number === hold.number) ?? hold;
  }

  #facts(): GrantFacts[] {
    return this.#grants.map((grant) => ({
      ...grant,
      slot: grant.mergedInto ?? grant.number,
      isRevoked: this.#revoked.has(grant.number),
    }));
  }

  #keep(change: Change | null): void {
    if (change === null) return;
    this.wallet = change.wallet;
    this.entries.push(...change.entries);
    this.assignments.push(...change.assignments);
    this.#grants.push(...change.grants);
    this.#overrides.push(...change.overrides);
    this.notices.push(...change.notices);
  }
}

function requestedIn(quantities: Readonly<Record<string, number>>): RequestedItem[] {
  return Object.entries(quantities).map(([feature, quantity]) => ({
    feature: brandAs<FeatureKey>(feature),
    quantity,
  }));
}
