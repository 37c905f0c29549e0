import type { FastifyReply, FastifyRequest } from "fastify";
import { readTraceId } from "../edge/trace-id.ts";
import { hashKey } from "../entitlement/key-hash.ts";
import { DATA_FORMAT_OF_ITEMS } from "../entitlement/stored-answer.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { assert } from "../primitives/assert.ts";
import type { EnvironmentId, Instant } from "../primitives/brand.ts";
import { isStorableText } from "../primitives/storable-text.ts";
import { parseTimestamp } from "../primitives/timestamp.ts";
import { readDataFormat } from "../store/cell/data-format.ts";
import {
  addRequestCounts,
  insertRequestLog,
  LOGGED_ENDPOINTS,
  type LoggedEndpoint,
  type LoggedRequest,
  openRequestLog,
  type RequestCount,
} from "../store/cell/request-log.ts";
import { readRefused } from "./read-refused.ts";
import type { Caller } from "./runtime-route.ts";

/** Maximum number of buffered entries. Bounds memory at any request rate, even while the database is unreachable. */
export const ENTRIES_MAX = 2_000;
/** Maximum number of successes, and of denials and errors, that are kept per environment and second. */
export const SUCCESSES_MAX = 200;
export const OTHERS_MAX = 1_000;

/** The raw values of a request. Hashing and checks happen when the entry is written. */
type Entry = Omit<LoggedRequest, "keyHash" | "ageMs" | "occurredAt"> & {
  readonly cell: string;
  readonly idempotencyKey: string | null;
  readonly timestamp: string | null;
  readonly atMs: number;
};

/** Counts of one environment's requests since the last flush. */
type Tally = {
  readonly environmentId: EnvironmentId;
  readonly cell: string;
  successesKept: number;
  othersKept: number;
  /** Counts of all requests by outcome, including requests whose entries were dropped. */
  readonly counts: ReadonlyMap<LoggedEndpoint, Map<string, number>>;
};

type Where = Pick<Caller, "environmentId" | "cell">;

/** A request and its response. */
export type Answered = Pick<
  LoggedRequest,
  "requestId" | "traceId" | "status" | "code" | "reason" | "isReplay" | "durationMs" | "counts"
> & { readonly body: unknown };

type RequestLogOptions = {
  readonly cellOf: (cell: string) => Pool;
  readonly onDropped: (why: "sampled" | "full", count: number) => void;
};

/**
 * Records recent requests for the dashboard. The log is lossy, to keep requests fast. An entry is added after the reply is sent.
 * Entries that do not fit are dropped and counted.
 */
export class RequestLog {
  readonly #options: RequestLogOptions;
  #entries: Entry[] = [];
  #tallies = new Map<EnvironmentId, Tally>();
  #sampled = 0;
  #dropped = 0;

  constructor(options: RequestLogOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Returns an `onResponse` hook for a route. */
  observe(endpoint: LoggedEndpoint) {
    return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      const { apiKey } = request;
      const { problemCode: code, denialReason: reason } = reply;
      // Without an API key, the environment is unknown. Details are read only for entries that are kept.
      if (apiKey !== null && this.#isKept(endpoint, apiKey, { code, reason }))
        this.#keep(endpoint, apiKey, toAnswered(request, reply));
      done();
    };
  }

  note(endpoint: LoggedEndpoint, caller: Where, answered: Answered): void {
    if (this.#isKept(endpoint, caller, answered)) this.#keep(endpoint, caller, answered);
  }

  /** Counts the request. Returns whether its details are kept too. */
  #isKept(
    endpoint: LoggedEndpoint,
    caller: Where,
    { code, reason }: Pick<Answered, "code" | "reason">,
  ): boolean {
    const tally = this.#tallyOf(caller);
    const outcome = code ?? reason ?? "ok";
    addCount(tally, endpoint, outcome, 1);
    if (outcome === "ok") {
      if (tally.successesKept >= SUCCESSES_MAX) {
        this.#sampled += 1;
        return false;
      }
      tally.successesKept += 1;
    } else {
      if (tally.othersKept >= OTHERS_MAX) {
        this.#dropped += 1;
        return false;
      }
      tally.othersKept += 1;
    }
    if (this.#entries.length < ENTRIES_MAX) return true;
    this.#dropped += 1;
    return false;
  }

  #keep(endpoint: LoggedEndpoint, caller: Where, answered: Answered): void {
    const { code, reason } = answered;
    // The body is never kept, because 2,000 bodies of 64 KiB would take 128 MB.
    const body = isObject(answered.body) ? answered.body : NO_BODY;
    this.#entries.push({
      environmentId: caller.environmentId,
      cell: caller.cell,
      requestId: answered.requestId,
      traceId: answered.traceId,
      endpoint,
      status: answered.status,
      code,
      reason,
      isReplay: answered.isReplay,
      counts: answered.counts,
      customerId: textOf(body["customerId"], 255),
      subject: textOf(endpoint === "events" ? body["event"] : firstFeature(body), 120),
      idempotencyKey: textOf(body["idempotencyKey"], 255),
      // A rejected event is listed by its arrival time.
      timestamp: endpoint === "events" && code === null ? textOf(body["timestamp"], 50) : null,
      durationMs: answered.durationMs,
      atMs: performance.now(),
      refused: code === "idempotency_key_reused" ? readRefused(endpoint, body) : null,
    });
  }

  #tallyOf({ environmentId, cell }: Where): Tally {
    const known = this.#tallies.get(environmentId);
    if (known !== undefined) return known;
    const counts = new Map(LOGGED_ENDPOINTS.map((endpoint) => [endpoint, new Map<string, number>()]));
    const tally = { environmentId, cell, successesKept: 0, othersKept: 0, counts };
    this.#tallies.set(environmentId, tally);
    return tally;
  }

  /** Writes and clears the buffer. Called every second by a timer, and once at shutdown. */
  async flush(): Promise<void> {
    const entries = this.#entries;
    const tallies = this.#tallies;
    this.#entries = [];
    this.#tallies = new Map();
    const failures: unknown[] = [];
    for (const [cell, own] of Map.groupBy(tallies.values(), (tally) => tally.cell)) {
      const theirs = entries.filter((entry) => entry.cell === cell);
      try {
        await write(this.#options.cellOf(cell), theirs, own);
      } catch (error) {
        this.#putBack(theirs, own);
        failures.push(error);
      }
    }
    this.#reportDropped();
    if (failures.length > 0) throw failures[0];
  }

  /** Keeps entries for the next flush, and drops entries that exceed the buffer. */
  #putBack(entries: readonly Entry[], tallies: readonly Tally[]): void {
    const all = [...entries, ...this.#entries];
    this.#dropped += Math.max(0, all.length - ENTRIES_MAX);
    this.#entries = all.slice(0, ENTRIES_MAX);
    for (const { environmentId, cell, counts } of tallies) {
      const present = this.#tallyOf({ environmentId, cell });
      for (const [endpoint, own] of counts)
        for (const [outcome, count] of own) addCount(present, endpoint, outcome, count);
    }
  }

  #reportDropped(): void {
    if (this.#sampled > 0) this.#options.onDropped("sampled", this.#sampled);
    if (this.#dropped > 0) this.#options.onDropped("full", this.#dropped);
    this.#sampled = 0;
    this.#dropped = 0;
  }
}

function addCount({ counts }: Tally, endpoint: LoggedEndpoint, outcome: string, count: number): void {
  const own = counts.get(endpoint);
  assert(own !== undefined, "every endpoint is counted");
  own.set(outcome, (own.get(outcome) ?? 0) + count);
}

const NO_BODY: Readonly<Record<string, unknown>> = {};

function toAnswered(request: FastifyRequest, reply: FastifyReply): Answered {
  return {
    requestId: request.id,
    traceId: readTraceId(request.headers),
    body: request.body,
    status: reply.statusCode,
    code: reply.problemCode,
    reason: reply.denialReason,
    isReplay: reply.hasHeader("idempotent-replayed"),
    counts: reply.batchCounts,
    durationMs: reply.elapsedTime,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Returns the requested feature, or the first item's feature. */
function firstFeature({ feature, items }: Readonly<Record<string, unknown>>): unknown {
  if (!Array.isArray(items)) return feature;
  const [first]: unknown[] = items;
  return isObject(first) ? first["feature"] : undefined;
}

/** Returns the value if it is a string within the limit, otherwise null. A rejected body may contain any value in any field. */
function textOf(value: unknown, lengthMax: number): string | null {
  return typeof value === "string" && value.length <= lengthMax ? value : null;
}

async function write(cell: Pool, entries: readonly Entry[], tallies: readonly Tally[]): Promise<void> {
  const flushedAtMs = performance.now();
  const requests = entries.map((entry) => toRequest(entry, flushedAtMs));
  await transaction(cell, async (tx) => {
    const now = await openRequestLog(tx);
    const counts = tallies.flatMap(toCounts);
    // Until the upgrade is finished, an older release that does not recognize these endpoints may read the log.
    const isKnown = counts.some(isNew) ? await knowsNewEndpoints(tx) : true;
    const isWritten = (row: { endpoint: LoggedEndpoint }): boolean => isKnown || !isNew(row);
    const written = requests.filter(isWritten);
    if (written.length > 0) await insertRequestLog(tx, written, now);
    await addRequestCounts(tx, counts.filter(isWritten), now);
  });
}

function isNew({ endpoint }: { endpoint: LoggedEndpoint }): boolean {
  return endpoint !== "check" && endpoint !== "consume" && endpoint !== "events";
}

async function knowsNewEndpoints(tx: Tx): Promise<boolean> {
  return (await readDataFormat(tx)) >= DATA_FORMAT_OF_ITEMS;
}

function toRequest({ idempotencyKey, timestamp, atMs, ...entry }: Entry, flushedAtMs: number): LoggedRequest {
  const { customerId, subject } = entry;
  return {
    ...entry,
    customerId: customerId !== null && isStorableText(customerId) ? customerId : null,
    subject: subject !== null && isStorableText(subject) ? subject : null,
    keyHash: idempotencyKey === null ? null : hashKey(idempotencyKey),
    ageMs: flushedAtMs - atMs,
    occurredAt: timestamp === null ? null : readTime(timestamp),
  };
}

function readTime(text: string): Instant | null {
  const time = parseTimestamp(text);
  return time.kind === "instant" ? time.at : null;
}

function toCounts({ environmentId, counts }: Tally): RequestCount[] {
  return [...counts].flatMap(([endpoint, own]) =>
    [...own].map(([outcome, requests]) => ({ environmentId, endpoint, outcome, requests })),
  );
}
