import { PLANS, type PlanKey } from "../../catalog.ts";
import type { EntryKind, StoredEntry, StoredGrant } from "../stored.ts";
import type { Part } from "../wallets/parts.ts";
import { idOf, POOL_ID, type Run } from "./run.ts";

export const RUN_BEGAN_MS = 1_790_000_000_000;

type Held = { number: number; kind: StoredGrant["kind"]; remaining: number; expiresAtMs: number | null };
type Plan = {
  number: number;
  plan: PlanKey;
  allowance: number;
  counters: Map<string, [used: number, from: number]>;
};

/** A wallet kept by hand, the simplest way that can be right, so that the checker has something true to look at. */
export class Purse {
  readonly run: Run;
  readonly customer: number;
  readonly customerId: string;
  sequence = 0;
  grants: Held[] = [];
  plan: Plan | null = null;
  readonly paused: { plan: Plan; left: Held }[] = [];
  #grantCount = 0;

  constructor(run: Run, customerId: string) {
    this.run = run;
    this.customer = run.customers.length + 1;
    this.customerId = customerId;
    run.customers.push({ number: this.customer, customerId });
  }

  get balance(): number {
    return this.grants.reduce((sum, { remaining }) => sum + remaining, 0);
  }

  get versionId(): number {
    return idOf(this.run.plans, this.plan?.plan ?? "free") * 10;
  }

  move(kind: EntryKind, parts: readonly Part[], more: Partial<StoredEntry> = {}): StoredEntry {
    for (const { grant, amount } of parts) {
      const held = this.grants.find(({ number }) => number === grant);
      if (held !== undefined) held.remaining += amount;
    }
    this.sequence += 1;
    const entry: StoredEntry = {
      customer: this.customer,
      sequence: this.sequence,
      recordedAtMs: RUN_BEGAN_MS + this.sequence,
      kind,
      pool: POOL_ID,
      amount: parts.reduce((sum, { amount }) => sum + amount, 0),
      balanceAfter: this.balance,
      parts: parts.map(({ grant, amount }) => `${grant}:${amount}`).join(","),
      ...{ feature: null, quantity: null, planVersion: null, assignment: null },
      ...{ reverses: null, keyHash: null, marker: null },
      ...more,
    };
    this.run.ledger.push(entry);
    return entry;
  }

  /** Into an open one of the same kind and expiry, if there is one. Returns the number of the grant that holds it. */
  grant(given: Pick<StoredGrant, "kind" | "credits" | "expiresAtMs" | "reference">): number {
    const { kind, credits, expiresAtMs } = given;
    const number = ++this.#grantCount;
    const open = this.grants.find(
      (held) => held.kind === kind && held.expiresAtMs === expiresAtMs && held.remaining > 0,
    );
    if (open === undefined) this.grants.push({ number, kind, remaining: 0, expiresAtMs });
    const mergedInto = open?.number ?? null;
    const row = { customer: this.customer, number, pool: POOL_ID, mergedInto, isRevoked: false };
    this.run.grants.push({ ...row, ...given });
    this.move("grant", [{ grant: mergedInto ?? number, amount: credits }]);
    return mergedInto ?? number;
  }

  /** Leaves the plan there was, and takes up the other one where it was left. */
  assign(plan: PlanKey): void {
    const before = this.plan;
    const left = this.grants.find(({ number }) => number === before?.allowance);
    if (before !== null && left !== undefined) {
      this.paused.push({ plan: before, left: { ...left } });
      if (left.remaining > 0) this.move("expire", [{ grant: left.number, amount: -left.remaining }]);
      this.grants = this.grants.filter((held) => held !== left);
    }
    const index = this.paused.findIndex((paused) => paused.plan.plan === plan);
    const [resumed] = index < 0 ? [] : this.paused.splice(index, 1);
    if (resumed !== undefined) {
      this.plan = resumed.plan;
      const { left: rest } = resumed;
      this.grants.push({ ...rest, remaining: 0 });
      if (rest.remaining > 0) this.move("grant", [{ grant: rest.number, amount: rest.remaining }]);
      return;
    }
    const { credits } = PLANS[plan].allowance;
    const kept = {
      kind: "allowance",
      credits,
      expiresAtMs: RUN_BEGAN_MS + 2_678_400_000,
      reference: null,
    } as const;
    const number = this.paused.length + 1;
    this.plan = { number, plan, allowance: this.grant(kept), counters: new Map() };
  }

  count(feature: string, quantity: number): void {
    const counter = this.plan?.counters.get(feature) ?? [0, this.sequence];
    this.plan?.counters.set(feature, [counter[0] + quantity, counter[1]]);
  }

  /** Writes the wallet as it is now. */
  close(): void {
    const { customer, sequence, balance } = this;
    const grants = this.grants.map(toState);
    const paused = this.paused.map(({ plan, left }) => [this.#toState(plan), RUN_BEGAN_MS, [toState(left)]]);
    const plan = this.plan === null ? null : this.#toState(this.plan);
    const state = JSON.stringify([1, this.#grantCount, this.paused.length + 1, plan, grants, paused]);
    this.run.wallets.push({ customer, sequence, balance, state });
  }

  #toState({ number, plan, allowance, counters }: Plan): unknown[] {
    const planId = idOf(this.run.plans, plan);
    const kept = [[POOL_ID, null, allowance, PLANS[plan].allowance.credits]];
    const used = [...counters].map(([key, [sum, from]]) => [idOf(this.run.features, key), null, sum, from]);
    return [number, planId, planId * 10, RUN_BEGAN_MS, null, 0, kept, used];
  }
}

const KINDS = ["allowance", "purchase", "manual", "promotion"] as const;

function toState({ number, kind, remaining, expiresAtMs }: Held): unknown[] {
  return [number, POOL_ID, KINDS.indexOf(kind) + 1, remaining, expiresAtMs];
}
