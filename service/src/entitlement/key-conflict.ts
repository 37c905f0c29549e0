import type { EnvironmentId } from "../primitives/brand.ts";
import type { Fingerprint } from "./fingerprint.ts";

/** The difference between two requests with the same idempotency key. */
export type KeyConflict = "endpoint" | "environment" | "payload";

type Sent = {
  readonly endpoint: string;
  readonly environmentId: EnvironmentId;
  readonly fingerprint: Fingerprint | undefined;
};

/** How a request differs from the earlier request with the same key in the project. Null if it is the same request. */
export function findConflict(sent: Sent, earlier: Sent): KeyConflict | null {
  if (sent.endpoint !== earlier.endpoint) return "endpoint";
  if (sent.environmentId !== earlier.environmentId) return "environment";
  return sent.fingerprint === earlier.fingerprint ? null : "payload";
}
