import type { IncomingHttpHeaders } from "node:http";

const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** The trace id of the caller's `traceparent` (W3C Trace Context). Null if there is none, or if it is malformed. */
export function readTraceId({ traceparent }: IncomingHttpHeaders): string | null {
  if (typeof traceparent !== "string") return null;
  const [, version, traceId = null, more] = FORM.exec(traceparent) ?? [];
  // Only later versions may have more fields.
  return version === "00" && more !== undefined ? null : traceId;
}
