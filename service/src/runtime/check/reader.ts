import type { RequestSpan } from "../../edge/tracing.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import { type Decision, decide, type RequestedItem } from "../../entitlement/decide.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import { MissingData } from "../../postgres/missing-data.ts";
import type { Session } from "../../postgres/session.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import { assert } from "../../primitives/assert.ts";
import type { Instant } from "../../primitives/brand.ts";
import type { CatalogCache } from "../../store/cell/catalogs.ts";
import { type CustomerName, customerKey } from "../../store/cell/customers.ts";
import { readForCheck } from "../../store/cell/wallets.ts";
import { KeptSession, type OpenSession } from "../kept-session.ts";
import { Parked } from "../parked.ts";
import { RequestQueue } from "../request-queue.ts";

export type CheckRequest = CustomerName & {
  readonly items: readonly RequestedItem[];
  /** Null unless the request is traced. */
  readonly span: RequestSpan | null;
};

/** A read of one customer. `answer` gets the wallet, or null for an unknown customer. */
type Look<T> = CustomerName & {
  readonly span: RequestSpan | null;
  readonly answer: (catalog: Catalog, wallet: Wallet | null, now: Instant) => T;
};

/** Why a read failed. */
export type ReadTrouble =
  | { kind: "overloaded" }
  | { kind: "unavailable" }
  | { kind: "fault"; error: unknown };

export type CheckOutcome = Decision | ReadTrouble;

type ReaderOptions = {
  readonly openSession: OpenSession;
  readonly catalogs: CatalogCache;
  readonly onFailure: (failure: { kind: string; error: unknown }) => void;
};

type Waiting = {
  /** How many times a missing part of the catalog was fetched for this check. */
  fetches: number;
  readonly request: CustomerName & Pick<CheckRequest, "span">;
  readonly enqueuedAtMs: number;
  /** Computes and delivers the result. Throws if a part of the catalog is missing. */
  readonly answer: Look<void>["answer"];
  readonly refuse: (trouble: ReadTrouble) => void;
};

const QUEUE_LENGTH_MAX = 2_000;
/** Two, so that one batch can be sent while the previous one is being processed. */
const BATCHES_AT_ONCE = 2;
const CONNECT_TIMEOUT_MS = 400;
const ATTEMPTS = 2;
/** If edits make this many fetches stale, the reader loads the catalog on its own connection. */
const FETCHES_MAX = 3;
/** After a failed connection, checks are rejected immediately for this long. */
const DOWN_MS = 200;

/** Serves checks on a separate connection, with one query for all waiting checks. Takes no locks and writes nothing. */
export class Reader {
  readonly #options: ReaderOptions;
  readonly #session: KeptSession;
  readonly #parked: Parked<Waiting>;
  readonly #queue: RequestQueue<Waiting>;
  #underWay = 0;
  #isScheduled = false;
  #downUntilMs = 0;
  #isClosed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#session = new KeptSession(options.openSession);
    this.#queue = new RequestQueue({
      lengthMax: QUEUE_LENGTH_MAX,
      sizeOf: () => 1,
      onOverload: (waiting) => {
        for (const { refuse } of waiting) refuse({ kind: "overloaded" });
      },
    });
    this.#parked = new Parked({
      catalogs: options.catalogs,
      onRelease: (waiting, isFetched) => {
        if (isFetched) for (const each of waiting) each.fetches += 1;
        this.#queue.putBack(waiting);
        this.#schedule();
      },
      onFailure: (error) => options.onFailure({ kind: "catalog", error }),
    });
  }

  ask({ items, ...request }: CheckRequest): Promise<CheckOutcome> {
    return this.look({
      ...request,
      answer: (catalog, wallet, now) => decide(catalog, wallet, items, now, null),
    });
  }

  look<T>({ answer, ...request }: Look<T>): Promise<T | ReadTrouble> {
    if (this.#isClosed || performance.now() < this.#downUntilMs)
      return Promise.resolve({ kind: "unavailable" });
    const { span } = request;
    const outcome = new Promise<T | ReadTrouble>((settle) => {
      this.#queue.add([
        {
          request,
          enqueuedAtMs: performance.now(),
          answer: (catalog, wallet, now) => settle(answer(catalog, wallet, now)),
          refuse: settle,
          fetches: 0,
        },
      ]);
      this.#schedule();
    });
    return span === null ? outcome : outcome.finally(() => span.settle());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#underWay > 0 || this.#queue.length > 0 || this.#parked.size > 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    this.#queue.close();
    this.#session.destroy();
  }

  /** Starts the next batch at the end of this turn of the event loop, so that all checks from this turn join it. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= BATCHES_AT_ONCE || this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#underWay += 1;
      void this.#answer(this.#queue.take()).finally(() => {
        this.#underWay -= 1;
        this.#schedule();
      });
      this.#schedule();
    });
  }

  /** Settles every check in the batch. Reads are safe to repeat, so a broken connection is retried once. */
  async #answer(batch: readonly Waiting[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      let session: Session | null = null;
      try {
        session = await this.#session.get(CONNECT_TIMEOUT_MS);
        return await this.#read(session, batch);
      } catch (error) {
        const { kind } = decodeSqlError(error);
        this.#options.onFailure({ kind, error });
        // Destroys only the failed session, because the other batch may already have opened a new one.
        if (kind === "lost") session?.destroy();
        if (kind === "lost" && attempt < ATTEMPTS) continue;
        if (kind === "lost") this.#downUntilMs = performance.now() + DOWN_MS;
        const outcome = kind === "lost" ? { kind: "unavailable" as const } : refusal(kind, error);
        for (const { refuse } of batch) refuse(outcome);
        return;
      }
    }
  }

  async #read(session: Session, batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    const names = [...new Map(batch.map(({ request }) => [customerKey(request), request])).values()];
    const { now, revisions, wallets } = await readForCheck(session, names);
    const environments = new Set(names.map(({ environmentId }) => environmentId));
    const { catalogs } = this.#options;
    const urgent = new Set(
      batch.filter(({ fetches }) => fetches >= FETCHES_MAX).map(({ request }) => request.environmentId),
    );
    const current = await catalogs.findAll(session, environments, revisions, urgent);
    const parked: { missing: MissingData; pending: Waiting }[] = [];
    const byCustomer = new Map(wallets.map(({ name, readWallet }) => [customerKey(name), readWallet]));
    const caughtUp = new Map<string, Wallet>();
    for (const waiting of batch) {
      const { request, answer, refuse } = waiting;
      const catalog = current.get(request.environmentId);
      assert(catalog !== undefined, "a batch reads the catalog of each environment in it");
      const read = byCustomer.get(customerKey(request)) ?? null;
      // An error in one customer's wallet must not fail the other checks in the batch.
      try {
        if (catalog instanceof MissingData) throw catalog;
        const key = customerKey(request);
        const wallet = read === null ? null : (caughtUp.get(key) ?? endHolds(catalog, read(), now));
        if (wallet !== null) caughtUp.set(key, wallet);
        answer(catalog, wallet, now);
      } catch (error) {
        if (error instanceof MissingData) parked.push({ missing: error, pending: waiting });
        else refuse({ kind: "fault", error });
      }
    }
    for (const { refuse } of this.#parked.park(parked)) refuse({ kind: "overloaded" });
  }
}

/** Ends expired holds. Called once for all checks of a customer in a batch, because ending a thousand holds is slow. */
function endHolds(catalog: Catalog, wallet: Wallet, now: Instant): Wallet {
  return wallet.holds.length === 0 ? wallet : viewWallet(catalog, wallet, now);
}

function refusal(kind: string, error: unknown): ReadTrouble {
  return kind === "busy" ? { kind: "overloaded" } : { kind: "fault", error };
}
