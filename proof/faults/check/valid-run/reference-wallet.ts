import type { Change } from "../../../../service/src/entitlement/entry.ts";
import { newWallet } from "../../../../service/src/entitlement/wallet.ts";
import {
  brandAs,
  type FeatureKey,
  type Instant,
  type PlanId,
} from "../../../../service/src/primitives/brand.ts";
import { formatParts } from "../../../../service/src/store/cell/ledger.ts";
import { encodeWalletState } from "../../../../service/src/store/cell/wallet-state.ts";
import { Book } from "../../../../service/test/model/book.ts";
import type { Answer, Request } from "../../../../service/test/model/request.ts";
import type { PlanKey } from "../../catalog.ts";
import type { CallOutcome, CheckRequest, ConsumeRequest } from "../../history.ts";
import { catalogOf } from "../catalog-of.ts";
import type { StoredEntry, StoredGrant } from "../stored.ts";
import { chargeId, keyHashOf } from "../subjects.ts";
import { addKey, publicIdOf, type Run, uuidOf } from "./run.ts";

const RUN_STARTED_MS = 1_790_000_000_000;

/** Fields that a row takes from its request. */
type Caused = Partial<Pick<StoredEntry, "marker" | "keyHash"> & Pick<StoredGrant, "reference">>;

type Decided = Extract<Answer, { kind: "decided" }>;

/** A customer's wallet, decided by the service's pure core, and the rows that the service would store for it. */
export class ReferenceWallet {
  readonly run: Run;
  readonly customer: number;
  readonly customerId: string;
  readonly #book = new Book(null);
  readonly #catalog: ReturnType<typeof catalogOf>;
  #nowMs = RUN_STARTED_MS;

  constructor(run: Run, customerId: string) {
    this.run = run;
    this.customer = run.customers.length + 1;
    this.customerId = customerId;
    this.#catalog = catalogOf(run);
    run.customers.push({ number: this.customer, customerId });
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get sequence(): number {
    return this.#book.wallet?.sequence ?? 0;
  }

  /** One millisecond after the last commit. */
  commit(request: Request, caused: Caused = {}): Answer {
    this.#nowMs += 1;
    const { answer, change } = this.#book.commit(this.#catalog, request, brandAs<Instant>(this.#nowMs));
    if (change !== null) this.#store(change, caused);
    return answer;
  }

  decide(feature: string, quantity: number, caused: Caused = {}): Decided {
    return expectDecided(this.commit(toDecide(feature, quantity), caused));
  }

  check(feature: string, quantity: number): Decided {
    const clock = brandAs<Instant>(this.#nowMs);
    return expectDecided(this.#book.ask(this.#catalog, toDecide(feature, quantity), clock).answer);
  }

  assign(key: PlanKey, startsAtMs: number | null = null): void {
    const plan = brandAs<PlanId>(this.run.plans.find((row) => row.key === key)?.id ?? 0);
    const startsAt = startsAtMs === null ? null : brandAs<Instant>(startsAtMs);
    const terms = { anchor: null, startsAt, endsAt: undefined, shorten: false, asOf: null };
    this.commit({ kind: "assign", plan, ...terms });
  }

  reverse({ sequence }: StoredEntry, quantity: number | null): Answer {
    const consume = this.#book.consumes().findIndex((entry) => entry.sequence === sequence);
    return this.commit({ kind: "reverse", consume, quantity });
  }

  /** Applies expiries and other changes that are due by then. */
  passUntil(ms: number): void {
    this.#nowMs = ms;
    const change = this.#book.notice(this.#catalog, brandAs<Instant>(ms));
    if (change !== null) this.#store(change, {});
  }

  /** Stores the wallet row. */
  close(): void {
    const wallet = this.#book.wallet ?? newWallet(brandAs<Instant>(this.#nowMs));
    const { sequence, decidedAt: decidedAtMs, grants } = wallet;
    const balance = grants.reduce((sum, { remaining }) => sum + remaining, 0);
    const state = encodeWalletState(wallet);
    this.run.wallets.push({ customer: this.customer, sequence, decidedAtMs, balance, state });
  }

  #store({ entries, grants, assignments }: Change, { reference = null, ...caused }: Caused): void {
    const { run, customer } = this;
    const recordedAtMs = this.#nowMs;
    for (const { effectiveAt: effectiveAtMs, parts, usage, kind, ...entry } of entries) {
      const { feature = null, ...used } = usage ?? {
        quantity: null,
        planVersion: null,
        assignment: null,
        reverses: null,
      };
      run.ledger.push({
        ...{ customer, recordedAtMs, effectiveAtMs, kind, marker: null, keyHash: null },
        ...entry,
        parts: formatParts(parts),
        feature: run.features.find(({ id }) => id === feature)?.key ?? null,
        ...used,
        ...(kind === "consume" && caused),
      });
    }
    for (const { effectiveAt: _, expiresAt: expiresAtMs, ...grant } of grants)
      run.grants.push({ customer, expiresAtMs, isRevoked: false, reference, ...grant });
    for (const { kind, plan, anchor: anchorMs, effectiveAt: effectiveAtMs, isDefault } of assignments)
      run.assignments.push({ customer, recordedAtMs, kind, plan, anchorMs, effectiveAtMs, isDefault });
  }
}

function toDecide(feature: string, quantity: number): Request {
  return { kind: "decide", feature: brandAs<FeatureKey>(feature), quantity };
}

function expectDecided(answer: Answer): Decided {
  if (answer.kind !== "decided") throw new Error(`the core returned ${answer.kind}`);
  return answer;
}

/** Decides a request and stores the result: an entry or a denial, and the key. Returns the response. */
export function consume(wallet: ReferenceWallet, request: ConsumeRequest): CallOutcome {
  const { run, customer } = wallet;
  const { feature, quantity, key, marker } = request;
  const keyHash = keyHashOf(key);
  const decided = wallet.decide(feature, quantity, { marker, keyHash });
  const { reason, before, planVersion, creditsRequired } = decided;
  const entry = run.ledger.at(-1);
  if (decided.allowed && entry !== undefined) {
    addKey(run, key, "consume", chargeId(entry));
    return answerOf(request, decided, { consumeId: consumeIdOf(entry), creditsCharged: creditsRequired });
  }
  const id = uuidOf(1_000 + run.denials.length);
  const { sequence, nowMs: recordedAtMs } = wallet;
  run.denials.push({
    ...{ id, customer, recordedAtMs, sequence, feature, quantity, keyHash, marker },
    ...{ creditsRequired, planVersion },
    reason: reason ?? "",
    balance: before?.balance ?? 0,
    limitQuantity: before?.limit?.quantity ?? null,
    limitUsed: before?.limit?.used ?? null,
  });
  addKey(run, key, "consume", id);
  return answerOf(request, decided, { consumeId: null, creditsCharged: 0 });
}

/** The response to a check, with the balance before the charge. */
export function okCheck(wallet: ReferenceWallet, request: CheckRequest): CallOutcome {
  const decided = wallet.check(request.feature, request.quantity);
  return answerOf(request, { ...decided, after: decided.before }, {});
}

export function reverse(wallet: ReferenceWallet, entry: StoredEntry, quantity: number | null): void {
  const outcome = wallet.reverse(entry, quantity);
  if (outcome.kind !== "reversed") throw new Error(`the core returned ${outcome.kind}`);
  wallet.run.manageCalls.push({
    request: { operation: "reverseConsume", consumeId: consumeIdOf(entry), quantity },
    startMs: 0,
    endMs: 5,
    outcome,
  });
}

function answerOf(
  { customerId, feature, quantity }: ConsumeRequest | CheckRequest,
  { allowed, reason, creditsRequired, after }: Decided,
  done: { readonly consumeId?: string | null; readonly creditsCharged?: number },
): CallOutcome {
  const asked = { allowed, reason, customerId, feature, quantity, creditsRequired };
  return { kind: "ok", body: JSON.stringify({ ...asked, ...after, ...done }), isReplay: false };
}

export function consumeIdOf(entry: StoredEntry): string {
  return publicIdOf("con", chargeId(entry));
}
