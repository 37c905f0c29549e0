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
import type { StoredEntry, StoredGrant } from "../stored.ts";
import { catalogOf } from "../wallets/catalog-of.ts";
import type { Run } from "./run.ts";

const RUN_BEGAN_MS = 1_790_000_000_000;

/** What a row carries of the request that caused it. */
export type Caused = Partial<Pick<StoredEntry, "marker" | "keyHash"> & Pick<StoredGrant, "reference">>;

export type Decided = Extract<Answer, { kind: "decided" }>;

/** A customer's wallet, decided by the service's pure core, and the rows that the service would store of it. */
export class ReferenceWallet {
  readonly run: Run;
  readonly customer: number;
  readonly customerId: string;
  readonly #book = new Book(null);
  readonly #catalog: ReturnType<typeof catalogOf>;
  #nowMs = RUN_BEGAN_MS;

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

  /** A millisecond after the last one. */
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

  assign(key: PlanKey): void {
    const plan = brandAs<PlanId>(this.run.plans.find((row) => row.key === key)?.id ?? 0);
    this.commit({ kind: "assign", plan, anchor: null, endsAt: undefined, shorten: false, asOf: null });
  }

  reverse({ sequence }: StoredEntry, quantity: number | null): Answer {
    const consume = this.#book.consumes().findIndex((entry) => entry.sequence === sequence);
    return this.commit({ kind: "reverse", consume, quantity });
  }

  /** Writes what falls due until then. */
  passUntil(ms: number): void {
    this.#nowMs = ms;
    const change = this.#book.notice(this.#catalog, brandAs<Instant>(ms));
    if (change !== null) this.#store(change, {});
  }

  /** Writes the wallet as it is now. */
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
    for (const { kind, plan, isDefault } of assignments)
      run.assignments.push({ customer, recordedAtMs, kind, plan, isDefault });
  }
}

function toDecide(feature: string, quantity: number): Request {
  return { kind: "decide", feature: brandAs<FeatureKey>(feature), quantity };
}

function expectDecided(answer: Answer): Decided {
  if (answer.kind !== "decided") throw new Error(`the core answered with ${answer.kind}`);
  return answer;
}
