import type { EventName } from "../../store/cell/events.ts";
import { isTooOld } from "../request-queue.ts";
import type { Outcome, RuntimeRequest } from "./request.ts";

/** A request in a lane's queue, with the state of earlier attempts. */
export type Pending<R extends RuntimeRequest = RuntimeRequest> = {
  readonly request: R;
  readonly enqueuedAtMs: number;
  readonly settle: (outcome: Outcome) => void;
  /** Chosen at the first attempt and kept, so that a repeated attempt cannot store a second event. */
  name: EventName | null;
  /** A commit with this request was sent, and its outcome is unknown. */
  isUncertain: boolean;
  /** How often the request was skipped because its wallet was locked. */
  skips: number;
  /** How often a missing part of the catalog was fetched for this request, only to be outdated again at the next attempt. */
  fetches: number;
};

export function toPending(request: RuntimeRequest, settle: Pending["settle"]): Pending {
  const enqueuedAtMs = performance.now();
  return { request, enqueuedAtMs, settle, name: null, isUncertain: false, skips: 0, fetches: 0 };
}

/** How much of a batch a request takes. Each of its items counts. */
export function sizeOf({ request }: Pending): number {
  return "consumption" in request ? request.consumption.items.length : 1;
}

/** A request that may have been committed is not rejected: its outcome is reported as unknown. */
export function refuse(batch: readonly Pending[], outcome: Outcome): void {
  for (const pending of batch) pending.settle(pending.isUncertain ? { kind: "outcome_unknown" } : outcome);
}

/** Rejects requests that have waited too long, and returns the others. */
export function refuseAged(batch: readonly Pending[]): Pending[] {
  refuse(batch.filter(isTooOld), { kind: "overloaded" });
  return batch.filter((pending) => !isTooOld(pending));
}
