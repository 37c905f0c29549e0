import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Context } from "../../service/src/manage/context.ts";
import { addCredits } from "../../service/src/manage/credits/add-credits.ts";
import { reverseConsume } from "../../service/src/manage/credits/reverse-consume.ts";
import { assignPlan } from "../../service/src/manage/customers/assign-plan.ts";
import { type OpenPool, openPool, type Pool } from "../../service/src/postgres/pool.ts";
import { brandAs, type CustomerId, type Instant } from "../../service/src/primitives/brand.ts";
import { POOL } from "../harness/project.ts";
import { integerBetween, pickFrom } from "../harness/random.ts";
import { POOLS } from "./catalog.ts";
import { findCharge } from "./check/answers.ts";
import type { History, ManageCall, ManageOutcome, ManageRequest } from "./history.ts";
import { CUSTOMERS, pickBuyer } from "./requests.ts";

const THINK_MS = { min: 20, max: 300 };
/** On average, one of this many requests is repeated, as billing webhooks are. */
const REPEATED_ONE_IN = 4;
/** How many calls to try when picking a charge to reverse. Mostly recent calls are tried. */
const ATTEMPTS_MAX = 50;
const RECENT = 400;
const LIFE_MS = { min: 500, max: 20_000 };
const DELAY_MS = { min: 200, max: 6_000 };
const ASSIGNED_PLANS = ["starter", "growth", "studio", "metered", "postpaid"] as const;

/** The operator's automation: one management call at a time, while clients send load. */
export class Operator {
  readonly #context: Context;
  readonly #history: History;
  readonly #cell: OpenPool;
  #loop: Promise<void> = Promise.resolve();
  #isStopping = false;

  /** `url` connects as the service's role, which cannot rewrite history. */
  constructor(url: string, context: Context, history: History) {
    this.#context = context;
    this.#history = history;
    this.#cell = openPool({ url, name: "purser faults operator", sizeMax: 2, onIdleError: () => {} });
  }

  /** Creates the customers with their plans and credits. Throws if any of it fails. */
  async createCustomers(): Promise<void> {
    for (const { customerId, plan, bought } of CUSTOMERS) {
      await this.#mustDo({ operation: "assignPlan", customerId, plan, startsAtMs: null });
      if (bought === 0) continue;
      for (const pool of POOLS) {
        const reference = `first ${pool} of ${customerId}`;
        const credits = { pool, kind: "purchase", credits: bought, expiresAtMs: null, reference } as const;
        await this.#mustDo({ operation: "addCredits", customerId, ...credits });
      }
    }
  }

  start(): void {
    this.#loop = this.#work();
  }

  /** Returns when the open call has ended and all connections are closed. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    await this.#loop;
    await this.#cell.end();
  }

  async #work(): Promise<void> {
    while (!this.#isStopping) {
      await pause(integerBetween(THINK_MS.min, THINK_MS.max));
      const request = makeManageRequest(this.#history);
      const { outcome } = await this.#do(request);
      const isRepeated = outcome.kind === "unknown" || integerBetween(0, REPEATED_ONE_IN) === 0;
      if (isRepeated && !this.#isStopping) await this.#do(request);
    }
  }

  #do(request: ManageRequest): Promise<ManageCall> {
    return this.#history.recordManage(execute(this.#cell, this.#context, request));
  }

  async #mustDo(request: ManageRequest): Promise<void> {
    const { outcome } = await this.#do(request);
    if (outcome.kind !== "done")
      throw new Error(`${JSON.stringify(request)} ended with ${JSON.stringify(outcome)}`);
  }
}

/** Executes an operation once and returns the outcome that its caller can observe. Never rejects. */
async function execute(cell: Pool, context: Context, request: ManageRequest): Promise<ManageCall> {
  const startMs = performance.now();
  const outcome = await perform(cell, context, request).catch(toOutcome);
  return { request, startMs, endMs: performance.now(), outcome };
}

/** If no connection was opened, nothing was executed. Any other error may have occurred after the commit. */
function toOutcome(error: unknown): ManageOutcome {
  const isRefused = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  return { kind: isRefused ? "refused" : "unknown", reason: String(error) };
}

async function perform(cell: Pool, context: Context, request: ManageRequest): Promise<ManageOutcome> {
  const expectKind = (kind: string, done: readonly string[]): ManageOutcome =>
    done.includes(kind) ? { kind: "done" } : { kind: "refused", reason: kind };
  switch (request.operation) {
    case "addCredits": {
      const { operation: _, expiresAtMs, customerId, pool = POOL, ...credits } = request;
      const outcome = await addCredits(cell, context, {
        ...credits,
        customerId: brandAs<CustomerId>(customerId),
        pool,
        expiresAt: expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs),
        price: null,
        note: null,
      });
      return expectKind(outcome.kind, ["added", "already_added"]);
    }
    case "assignPlan": {
      const { plan, startsAtMs } = request;
      const customerId = brandAs<CustomerId>(request.customerId);
      const startsAt = startsAtMs === null ? null : brandAs<Instant>(startsAtMs);
      const { kind } = await assignPlan(cell, context, { customerId, plan, anchor: null, startsAt });
      return kind === "unchanged" ? { kind: "done", isUnchanged: true } : expectKind(kind, ["changed"]);
    }
    case "reverseConsume": {
      const { consumeId, item = null, quantity } = request;
      const outcome = await reverseConsume(cell, context, { consumeId, item, quantity });
      return outcome.kind === "reversed" ? outcome : expectKind(outcome.kind, []);
    }
  }
}

/** Mostly top-ups and reversals, sometimes another plan. Half of the plans start later. */
function makeManageRequest(history: History): ManageRequest {
  const chance = integerBetween(0, 100);
  if (chance < 40) return makeTopUp();
  const reversal = chance < 80 ? makeReversal(history) : null;
  if (reversal !== null) return reversal;
  const plan = pickFrom(ASSIGNED_PLANS) ?? "starter";
  const startsAtMs =
    integerBetween(0, 2) === 0 ? null : Date.now() + integerBetween(DELAY_MS.min, DELAY_MS.max);
  return { operation: "assignPlan", customerId: pickBuyer(), plan, startsAtMs };
}

/** A third of all top-ups expire during the run. */
function makeTopUp(): ManageRequest {
  const pool = pickFrom(POOLS) ?? POOL;
  // Unique in the database, where an earlier release's operator may also have added credits.
  const reference = `payment ${randomUUID()}`;
  const top = { operation: "addCredits", customerId: pickBuyer(), pool, reference } as const;
  const credits = integerBetween(20, 400);
  if (integerBetween(0, 3) > 0) {
    const kind = integerBetween(0, 2) === 0 ? "purchase" : "manual";
    return { ...top, kind, credits, expiresAtMs: null };
  }
  const expiresAtMs = Date.now() + integerBetween(LIFE_MS.min, LIFE_MS.max);
  return { ...top, kind: "promotion", credits, expiresAtMs };
}

/**
 * Reverses an acknowledged charge, half of the time completely. For a request with items, reverses one charge or all charges. Null if no
 * charge was found.
 */
function makeReversal({ calls }: History): ManageRequest | null {
  const pool = integerBetween(0, 4) === 0 ? calls : calls.slice(-RECENT);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const call = pickFrom(pool);
    const charge = call === null ? null : findCharge(call);
    if (charge === null) continue;
    const { consumeId, items, hasItems } = charge;
    const isWhole = integerBetween(0, 2) === 0;
    const item =
      hasItems && !(isWhole && integerBetween(0, 2) === 0) ? integerBetween(0, items.length) : null;
    const quantity = isWhole ? null : integerBetween(1, (items[item ?? 0]?.quantity ?? 0) + 1);
    return { operation: "reverseConsume", consumeId, item, quantity };
  }
  return null;
}
