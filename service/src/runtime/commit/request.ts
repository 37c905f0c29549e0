import type { StoredAnswer } from "../../entitlement/answer.ts";
import type { Fingerprint } from "../../entitlement/fingerprint.ts";
import type { MetadataLimits } from "../../entitlement/metadata.ts";
import type { EventDecision, UsageEvent } from "../../entitlement/usage-event.ts";
import type { EventName } from "../../store/cell/events.ts";
import type { Endpoint, KeyName } from "../../store/cell/keyed-requests.ts";
import type { EnvironmentId, ProjectId } from "../../words/brand.ts";

/** A validated request on its way to the database. */
export type RuntimeRequest = {
  readonly endpoint: Endpoint;
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly requestId: string;
  readonly keyed: (KeyName & { readonly fingerprint: Fingerprint }) | null;
  readonly event: UsageEvent;
  readonly metadataLimits: MetadataLimits;
};

export type KeyConflict = "endpoint" | "environment" | "payload";

export type Outcome =
  | { kind: "answered"; answer: StoredAnswer; replayed: boolean }
  | { kind: "key_reused"; conflict: KeyConflict }
  | Exclude<EventDecision, { kind: "accepted" }>
  /** Not executed: too many requests wait already. */
  | { kind: "overloaded" }
  /** Not executed: the database does not answer. */
  | { kind: "unavailable" }
  | { kind: "outcome_unknown" }
  /** Not executed: a mistake of ours. */
  | { kind: "fault"; error: unknown };

/** A request that waits in a lane, and what its earlier attempts left behind. */
export type Pending = {
  readonly request: RuntimeRequest;
  readonly enqueuedAtMs: number;
  readonly settle: (outcome: Outcome) => void;
  /** Chosen at the first attempt and kept, so that a repeated attempt cannot store a second event. */
  name: EventName | null;
  /** A commit with this request in it was sent, and its outcome is not known. */
  isUncertain: boolean;
};
