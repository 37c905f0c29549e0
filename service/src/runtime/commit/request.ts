import type { RequestSpan } from "../../edge/tracing.ts";
import type { Consumption, ConsumptionItem, HoldDuration } from "../../entitlement/consumption.ts";
import type { Reason } from "../../entitlement/decide.ts";
import type { Fingerprint } from "../../entitlement/fingerprint.ts";
import type { KeyConflict } from "../../entitlement/key-conflict.ts";
import type { ExceededLimit, Metadata, MetadataLimits } from "../../entitlement/metadata.ts";
import type { StoredAnswer } from "../../entitlement/stored-answer.ts";
import type { EventDecision, UsageEvent } from "../../entitlement/usage-event.ts";
import type { MissingData } from "../../postgres/missing-data.ts";
import type {
  CustomerId,
  EnvironmentId,
  FeatureKey,
  Instant,
  ProjectId,
  Quantity,
} from "../../primitives/brand.ts";
import type { HoldId } from "../../primitives/hold-id.ts";
import type { KeyName } from "../../store/cell/keyed-requests.ts";

export type Keyed = KeyName & { readonly fingerprint: Fingerprint };

type Sender = {
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly customerId: CustomerId;
  readonly requestId: string;
  readonly metadataLimits: MetadataLimits;
  /** Null unless the request is traced. */
  readonly span: RequestSpan | null;
};

export type EventRequest = Sender & {
  readonly endpoint: "events";
  readonly keyed: Keyed | null;
  readonly event: UsageEvent;
};

/** Charges features, or holds the credits for them. */
export type ConsumeRequest = Sender & {
  readonly endpoint: "consume" | "holds";
  readonly keyed: Keyed;
  readonly consumption: Consumption;
  /** Null for a consume request, which charges immediately. */
  readonly duration: HoldDuration | null;
};

/** Settles, releases or extends a hold. Only one request can end a hold, so no idempotency key is needed. */
export type HoldChangeRequest = Sender & {
  readonly endpoint: "hold_change";
  readonly keyed: null;
  readonly hold: HoldId;
  readonly action: HoldAction;
};

export type HoldAction =
  | {
      readonly kind: "settle";
      /** The quantity used, either of the hold's only feature or of each feature. If null, the full hold is charged. */
      readonly used: Quantity | readonly ConsumptionItem[] | null;
      readonly atMostHeld: boolean;
      readonly metadata: Metadata | null;
      readonly fingerprint: Fingerprint;
    }
  | { readonly kind: "release"; readonly fingerprint: Fingerprint }
  | {
      readonly kind: "extend";
      readonly quantity: Quantity | null;
      readonly expiresAt: Instant | { readonly inMs: number } | null;
    };

/** A validated request on its way to the database. */
export type RuntimeRequest = EventRequest | ConsumeRequest | HoldChangeRequest;

/** Whether the request stores data that an older release could not replay, show or erase. */
export function needsNewFormat(request: EventRequest | ConsumeRequest): boolean {
  if (request.endpoint === "events") return request.event.memberId !== null;
  const { hasItems, memberId } = request.consumption;
  return hasItems || memberId !== null || request.duration !== null;
}

export type HoldProblem =
  | "hold_not_found"
  | "hold_settled"
  | "hold_released"
  | "hold_expired"
  | "hold_items_mismatch"
  | "hold_too_long"
  | "too_many_holds";

export type Outcome =
  | { kind: "answered"; answer: StoredAnswer; replayed: boolean }
  /** `text` is the JSON of the response without `holdId` and `customerId`. */
  | { kind: "hold_changed"; text: string; replayed: boolean; reason: Reason | null }
  /** The hold is unknown, has ended, or does not match the request. */
  | { kind: HoldProblem }
  | { kind: "key_reused"; conflict: KeyConflict }
  | { kind: "feature_not_found"; feature: FeatureKey }
  /** Not executed, because an older release that is still running could not replay, show or erase the stored data. */
  | { kind: "upgrade_unfinished" }
  | ExceededLimit
  | Exclude<EventDecision, { kind: "accepted" }>
  /** Not executed, because too many requests are waiting. */
  | { kind: "overloaded" }
  /** Not executed, because the database is unreachable. */
  | { kind: "unavailable" }
  | { kind: "outcome_unknown" }
  /** Not executed, because of a bug. */
  | { kind: "fault"; error: unknown };

/** Not decided, because another transaction has locked the wallet. The next batch retries the request. */
export const LOCKED = { kind: "locked" } as const;

/** Why a request was not decided. A missing part of the catalog is fetched after the wallets are unlocked. */
export type Undecided = typeof LOCKED | { readonly kind: "missing_data"; readonly missing: MissingData };
