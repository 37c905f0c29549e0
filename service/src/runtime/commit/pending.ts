import type { EventName } from "../../store/cell/events.ts";
import { isTooOld } from "../request-queue.ts";
import type { Outcome, RuntimeRequest } from "./request.ts";

/** A request in a lane's queue, with the state of earlier attempts. */
export type Pending<R extends RuntimeRequest = RuntimeRequest> = {
  readonly request: R;
  readonly enqueuedAtMs: number;
  readonly settle: (outcome: Outcome) => void;
  /** The time and ID of the stored row. Chosen at the first attempt and kept, so that a retry cannot store a second event. */
  name: EventName | null;
  /** Whether a commit that includes this request was sent but has an unknown outcome. */
  isUncertain: boolean;
  /** How many times the request was skipped because its wallet was locked. */
  skips: number;
  /** How many times a missing part of the catalog was fetched for this request. */
  fetches: number;
};

export function toPending(request: RuntimeRequest, settle: Pending["settle"]): Pending {
  const enqueuedAtMs = performance.now();
  return { request, enqueuedAtMs, settle, name: null, isUncertain: false, skips: 0, fetches: 0 };
}

/** The size of a request in a batch: its number of items, or 1 without items. */
export function sizeOf({ request }: Pending): number {
  return "consumption" in request ? request.consumption.items.length : 1;
}

/** Rejects requests. If a request may have been committed, reports its outcome as unknown instead. */
export function refuse(batch: readonly Pending[], outcome: Outcome): void {
  for (const pending of batch) pending.settle(pending.isUncertain ? { kind: "outcome_unknown" } : outcome);
}

/** Rejects requests that have waited too long, and returns the remaining requests. */
export function refuseAged(batch: readonly Pending[]): Pending[] {
  refuse(batch.filter(isTooOld), { kind: "overloaded" });
  return batch.filter((pending) => !isTooOld(pending));
}
