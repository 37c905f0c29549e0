import type { Change } from "../../../../service/src/entitlement/entry.ts";
import { sumOf } from "../../../../service/src/entitlement/part-lists.ts";
import { newWallet } from "../../../../service/src/entitlement/wallet.ts";
import {
  brandAs,
  type FeatureKey,
  type Instant,
  type MemberId,
  type PlanId,
} from "../../../../service/src/primitives/brand.ts";
import { encodeHoldState } from "../../../../service/src/store/cell/hold-state.ts";
import { formatOverage, formatParts } from "../../../../service/src/store/cell/ledger.ts";
import { encodeWalletState } from "../../../../service/src/store/cell/wallet-state.ts";
import { Book } from "../../../../service/test/model/book.ts";
import type { Answer, Asked, Request } from "../../../../service/test/model/request.ts";
import type { PlanKey } from "../../catalog.ts";
import { type ConsumeRequest, type HoldRequest, hasItems, type Item, itemsOf } from "../../history.ts";
import { catalogOf } from "../catalog-of.ts";
import type { StoredEntry, StoredGrant } from "../stored.ts";
import { keyHashOf } from "../subjects.ts";
import type { Run } from "./run.ts";

const RUN_STARTED_MS = 1_790_000_000_000;

/** Fields that a row takes from its request. */
type Caused = Partial<Pick<StoredEntry, "marker" | "keyHash"> & Pick<StoredGrant, "reference">>;

type DecidedItems = Extract<Answer, { kind: "decided" }>;
/** A decision on a request with a single feature, and its only item. */
export type Decided = DecidedItems & DecidedItems["items"][number];

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

  decide(request: ConsumeRequest | HoldRequest): Decided {
    const { key, marker } = request;
    if (request.endpoint === "consume")
      return expectDecided(this.commit(toDecide(itemsOf(request)), { marker, keyHash: keyHashOf(key) }));
    const { expiresInSeconds, onExpiry } = request;
    const memberId = hasItems(request) ? brandAs<MemberId>(marker) : null;
    const terms = { expiresInMs: expiresInSeconds * 1_000, onExpiry, memberId };
    return expectDecided(this.commit({ ...toDecide(itemsOf(request)), kind: "hold", terms }));
  }

  check(items: readonly Item[]): Decided {
    const clock = brandAs<Instant>(this.#nowMs);
    return expectDecided(this.#book.ask(this.#catalog, toDecide(items), clock).answer);
  }

  /** The key of the feature's pool. */
  poolOf(feature: string): string {
    const pool = this.run.features.find(({ key }) => key === feature)?.pool;
    return this.run.pools.find(({ id }) => id === pool)?.key ?? "";
  }

  assign(key: PlanKey, startsAtMs: number | null = null): void {
    const plan = brandAs<PlanId>(this.run.plans.find((row) => row.key === key)?.id ?? 0);
    const startsAt = startsAtMs === null ? null : brandAs<Instant>(startsAtMs);
    const terms = { anchor: null, startsAt, endsAt: undefined, shorten: false, asOf: null };
    this.commit({ kind: "assign", plan, ...terms });
  }

  /** Reverses a charge, or all charges of its request. */
  reverse(
    { sequence }: StoredEntry,
    quantity: number | null,
    isWhole: boolean,
    caused: Caused = {},
  ): Extract<Answer, { kind: "reversed" }> {
    const consume = this.#book.consumes().findIndex((entry) => entry.sequence === sequence);
    const answer = this.commit(
      isWhole ? { kind: "reverse_request", consume } : { kind: "reverse", consume, quantity },
      caused,
    );
    if (answer.kind !== "reversed") throw new Error(`the core returned ${answer.kind}`);
    return answer;
  }

  /** Applies expiries and other changes that are due by this time. */
  passUntil(ms: number): void {
    this.#nowMs = ms;
    const change = this.#book.notice(this.#catalog, brandAs<Instant>(ms));
    if (change !== null) this.#store(change, {});
  }

  /** Stores the wallet row. */
  close(): void {
    const wallet = this.#book.wallet ?? newWallet(brandAs<Instant>(this.#nowMs));
    const { sequence, decidedAt: decidedAtMs, grants } = wallet;
    const held = wallet.held.reduce((sum, { credits }) => sum + credits, 0);
    const balance = grants.reduce((sum, { remaining }) => sum + remaining, held);
    const state = encodeWalletState(wallet);
    this.run.wallets.push({ customer: this.customer, sequence, decidedAtMs, balance, state });
  }

  #store({ entries, grants, assignments, holds }: Change, { reference = null, ...caused }: Caused): void {
    const { run, customer } = this;
    const recordedAtMs = this.#nowMs;
    for (const { number, kind, hold, sequence, effectiveAt: effectiveAtMs } of holds)
      run.holdChanges.push({
        ...{ customer, number, hold: hold.number, kind, sequence, recordedAtMs, effectiveAtMs },
        ...{ openedAtMs: hold.openedAt, expiresAtMs: hold.expiresAt, state: encodeHoldState(hold) },
        ...{ memberId: hold.memberId, keyHash: null, marker: null, answer: null },
      });
    for (const { effectiveAt: effectiveAtMs, parts, usage, kind, ...entry } of entries) {
      const {
        feature = null,
        place,
        overage,
        ...used
      } = usage ?? {
        quantity: null,
        planVersion: null,
        assignment: null,
        reverses: null,
        place: null,
        uncovered: 0,
        overage: [],
      };
      run.ledger.push({
        ...{ customer, recordedAtMs, effectiveAtMs, kind, marker: null, keyHash: null },
        ...entry,
        parts: formatParts(parts),
        feature: run.features.find(({ id }) => id === feature)?.key ?? null,
        ...used,
        ...{ overage: sumOf(overage), overageParts: formatOverage(overage) },
        item: place?.index ?? null,
        items: place?.of ?? null,
        ...((kind === "consume" || kind === "reverse") && caused),
      });
    }
    for (const { effectiveAt: _, expiresAt: expiresAtMs, ...grant } of grants)
      run.grants.push({ customer, expiresAtMs, isRevoked: false, reference, ...grant });
    for (const { kind, plan, anchor: anchorMs, effectiveAt: effectiveAtMs, isDefault } of assignments)
      run.assignments.push({ customer, recordedAtMs, kind, plan, anchorMs, effectiveAtMs, isDefault });
  }
}

function toDecide(items: readonly Item[]): Asked<"decide"> {
  return {
    kind: "decide",
    items: items.map(({ feature, quantity }) => ({ feature: brandAs<FeatureKey>(feature), quantity })),
  };
}

function expectDecided(answer: Answer): Decided {
  const [item] = answer.kind === "decided" ? answer.items : [];
  if (answer.kind !== "decided" || item === undefined) throw new Error(`the core returned ${answer.kind}`);
  return { ...answer, ...item };
}
