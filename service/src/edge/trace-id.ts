import type { IncomingHttpHeaders } from "node:http";

const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The trace ID from the caller's `traceparent` (W3C Trace Context). Null if the header is missing or malformed. */
export function readTraceId(headers: IncomingHttpHeaders): string | null {
  return match(headers)?.[2] ?? null;
}

export type TraceParent = {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
};

/** The caller's span. Null if there is no valid `traceparent`. */
export function readTraceParent(headers: IncomingHttpHeaders): TraceParent | null {
  const [, , traceId = "", spanId = "", flags = ""] = match(headers) ?? [];
  return traceId === "" ? null : { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function match({ traceparent }: IncomingHttpHeaders): RegExpExecArray | null {
  if (typeof traceparent !== "string") return null;
  const found = FORM.exec(traceparent);
  // Only versions after 00 may have more fields.
  return found?.[1] === "00" && found[5] !== undefined ? null : found;
}
