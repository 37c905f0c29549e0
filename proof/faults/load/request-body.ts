import { createHash } from "node:crypto";
import type { ClientRequest } from "../history/call.ts";

const TOO_OLD = "2020-01-01T00:00:00Z";

export function toBody(request: ClientRequest): string {
  return JSON.stringify({
    ...toFields(request),
    ...(request.key === null ? {} : { idempotencyKey: request.key }),
  });
}

/** The client's own, over what it means to do: not the key, and nothing of how the service computes its own. */
export function fingerprintOf(request: ClientRequest): string {
  return createHash("sha256")
    .update(request.endpoint)
    .update(JSON.stringify(toFields(request)))
    .digest("hex")
    .slice(0, 16);
}

function toFields(request: ClientRequest): object {
  const { endpoint, marker, customerId, quantity } = request;
  const fields = { customerId, quantity, metadata: { marker } };
  if (endpoint !== "events") return { ...fields, feature: request.feature };
  return { ...fields, event: request.event, ...(request.isTooOld ? { timestamp: TOO_OLD } : {}) };
}
