import { createWriteStream, type WriteStream } from "node:fs";
import { isFeatureKey, type PlanKey, type PoolKey } from "./catalog.ts";

type Sent = {
  /** Sent as metadata. It identifies the rows that this request left in the database. */
  readonly marker: string;
  readonly customerId: string;
};

/** Retries under the same key are the same request and share its marker. */
export type EventRequest = Sent & {
  readonly endpoint: "events";
  readonly key: string | null;
  readonly event: string;
  readonly quantity: number;
  /** Sent with a timestamp that is too old, so the service must reject it. */
  readonly isTooOld: boolean;
};

export type Item = { readonly feature: string; readonly quantity: number };

/** The two forms of a consume request: one feature, or several with `items`. */
type Asked = Item | { readonly items: readonly Item[] };

export type ConsumeRequest = Sent & { readonly endpoint: "consume"; readonly key: string } & Asked;

/** Sent with all fields of a consume request, including a key, which a check must ignore. */
export type CheckRequest = Sent & { readonly endpoint: "check"; readonly key: string } & Asked;

/** Opens a hold. It is decided like a consume request. */
export type HoldRequest = Sent & {
  readonly endpoint: "holds";
  readonly key: string;
  readonly expiresInSeconds: number;
  readonly onExpiry: "release" | "charge";
} & Asked;

/** Changes a hold. It needs no key, because only one request can end a hold, and an extension is safe to repeat. */
export type HoldChangeRequest = Sent & { readonly key: null; readonly holdId: string } & (
    | {
        readonly endpoint: "settle";
        /** The quantity of the hold's only feature, or of each feature. Null for everything that is held. */
        readonly used: number | readonly Item[] | null;
        readonly atMostHeld: boolean;
      }
    | { readonly endpoint: "release" }
    /** Both are totals, so that a repeated extension changes nothing. */
    | { readonly endpoint: "extend"; readonly quantity: number; readonly expiresAt: string }
  );

/** Reverses a charge with an API key. */
export type ReverseRequest = Sent & {
  readonly endpoint: "reverse";
  readonly consumeId: string;
} & (
    | {
        readonly key: string;
        readonly quantity: number /** Null if it is not named. */;
        readonly feature: string | null;
      }
    /** Reverses everything that is left of a request's charges. This succeeds only once, so it needs no key. All calls share a marker. */
    | { readonly key: null; readonly quantity: null }
  );

/** A request that is allowed or denied. */
export type DecidedRequest = ConsumeRequest | CheckRequest | HoldRequest;

export function isDecided(request: ClientRequest): request is DecidedRequest {
  return request.endpoint !== "events" && request.endpoint !== "reverse" && !isHoldChange(request);
}

export function isHoldChange(request: ClientRequest): request is HoldChangeRequest {
  return "holdId" in request;
}

export function hasItems(request: DecidedRequest): boolean {
  return "items" in request;
}

/** The requested features, for both forms of a request. */
export function itemsOf(request: DecidedRequest): readonly Item[] {
  if ("items" in request) return request.items;
  const { feature, quantity } = request;
  return [{ feature, quantity }];
}

export type ClientRequest = EventRequest | DecidedRequest | HoldChangeRequest | ReverseRequest;

export type CallOutcome =
  /** A complete 200 response. */
  | { readonly kind: "ok"; readonly body: string; readonly isReplay: boolean }
  /** A 4xx. `conflict` is the problem's `conflict` field, or null. */
  | {
      readonly kind: "fail";
      readonly status: number;
      readonly code: string;
      readonly conflict: string | null;
    }
  /** A timeout, a reset or a 5xx. `reason` is the problem's code or the socket error. */
  | { readonly kind: "info"; readonly status: number | null; readonly reason: string };

/** One attempt to send a request. Times are milliseconds of this process's monotonic clock. */
export type Call = {
  readonly client: string;
  /** The API process that received it. */
  readonly service: string;
  readonly request: ClientRequest;
  readonly fingerprint: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: CallOutcome;
};

/** Errors after which the request must not have been executed. The checker verifies this in the database. */
const NOT_EXECUTED = new Set(["overloaded", "unavailable", "internal_error", "ECONNREFUSED"]);

/** Whether this attempt has an unknown outcome. */
export function isUnknown({ outcome }: Call): boolean {
  return outcome.kind === "info" && !NOT_EXECUTED.has(outcome.reason);
}

/** The idempotency key that the request uses. A check uses no key, even if it sends one. For a whole reversal, the charge is the key. */
export function claimedKey(request: ClientRequest): string | null {
  if (request.endpoint === "reverse") return request.key ?? `reverse ${request.consumeId}`;
  return request.endpoint === "check" ? null : request.key;
}

/** The rejection that an invalid request must receive, after its key was looked up. Null for a valid request. */
export function findDueRefusal(request: ClientRequest): { status: number; code: string } | null {
  if (request.endpoint === "events")
    return request.isTooOld ? { status: 422, code: "timestamp_out_of_range" } : null;
  if (!isDecided(request)) return null;
  const isKnown = itemsOf(request).every(({ feature }) => isFeatureKey(feature));
  return isKnown ? null : { status: 404, code: "feature_not_found" };
}

/** A management operation, requested by the operator's automation while clients send load. */
export type ManageRequest =
  | {
      readonly operation: "addCredits";
      readonly customerId: string;
      /** Absent in requests of an earlier release's operator, which supports only the first pool. */
      readonly pool?: PoolKey;
      readonly kind: "purchase" | "manual" | "promotion";
      readonly credits: number;
      readonly expiresAtMs: number | null;
      /** Makes the operation idempotent. Every top-up in a run has a reference. */
      readonly reference: string;
    }
  | {
      readonly operation: "assignPlan";
      readonly customerId: string;
      readonly plan: PlanKey;
      /** Null starts the plan now. */
      readonly startsAtMs: number | null;
    }
  | {
      readonly operation: "reverseConsume";
      readonly consumeId: string;
      /** The index of one charge of a request with items. Null or absent for the whole request. An earlier release's operator omits the index. */
      readonly item?: number | null;
      /** Null reverses everything that is not reversed yet. */
      readonly quantity: number | null;
    };

/** How much was reversed, and of which charges. An earlier release's operator does not list the charges. */
type Reversed = {
  readonly credits: number;
  readonly quantity: number;
  readonly items?: readonly {
    readonly item: number;
    readonly quantity: number;
    readonly credits: number;
    readonly overageCredits?: number;
  }[];
};

export type ManageOutcome =
  | { readonly kind: "done"; readonly isUnchanged?: boolean }
  | ({ readonly kind: "reversed" } & Reversed)
  /** The operation was certainly not executed. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

/** Management calls never overlap. */
export type ManageCall = {
  readonly request: ManageRequest;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: ManageOutcome;
};

/** Milliseconds of this process's monotonic clock. */
export type Span = { readonly startMs: number; readonly endMs: number };

/** Every call in a run, in memory for the checker and as JSON lines for investigating a failure. */
export class History {
  readonly calls: Call[] = [];
  readonly manageCalls: ManageCall[] = [];
  readonly #file: WriteStream;
  readonly #latestOkStartMs = new Map<string, number>();
  #openCalls = 0;

  constructor(path: string) {
    this.#file = createWriteStream(path);
  }

  /** Calls that started and have not ended. The history is complete only when this is 0. */
  get openCalls(): number {
    return this.#openCalls;
  }

  /** Whether this process has returned 200 to a call that started at or after this time. */
  hasOkSince(ms: number, service: string): boolean {
    return (this.#latestOkStartMs.get(service) ?? Number.NEGATIVE_INFINITY) >= ms;
  }

  async record(work: Promise<Call>): Promise<Call> {
    const call = await this.#count(work);
    this.calls.push(call);
    const { service, startMs, outcome } = call;
    if (outcome.kind === "ok" && !this.hasOkSince(startMs, service))
      this.#latestOkStartMs.set(service, startMs);
    const { client, request, fingerprint, endMs } = call;
    this.#write({ client, service, ...request, fingerprint, startMs, endMs, outcome });
    return call;
  }

  async recordManage(work: Promise<ManageCall>): Promise<ManageCall> {
    const call = await this.#count(work);
    this.manageCalls.push(call);
    const { request, startMs, endMs, outcome } = call;
    this.#write({ client: "manage", ...request, startMs, endMs, outcome });
    return call;
  }

  /** Writes to the file only. The checker receives the faults separately. */
  noteFault(name: string, times: Readonly<Record<string, number>>): void {
    this.#write({ fault: name, ...times });
  }

  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.once("error", reject);
      this.#file.end(resolve);
    });
  }

  async #count<T>(work: Promise<T>): Promise<T> {
    this.#openCalls += 1;
    const done = await work;
    this.#openCalls -= 1;
    return done;
  }

  #write(line: object): void {
    this.#file.write(`${JSON.stringify(line)}\n`);
  }
}
