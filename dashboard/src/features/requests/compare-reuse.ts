import { formatCount } from "../../format/numbers.ts";
import type { KeyHistory } from "./queries.ts";

type Use = KeyHistory["uses"][number];

export type Compared = {
  readonly field: string;
  /** Null if unknown or not set. */
  readonly first: string | null;
  readonly refused: string | null;
  readonly differs: boolean;
};

const UNKNOWN = "no longer stored";

/** Compares a rejected reuse with the original request, field by field. */
export function compareReuse(history: KeyHistory, use: Use): Compared[] {
  const { differs = [], quantity = null, timestamp = null } = use.refused ?? {};
  const asked = history.charge ?? history.denial ?? history.event;
  const subject = history.event === null ? "feature" : "event";
  const firstSubject = history.event?.event ?? history.charge?.feature ?? history.denial?.feature ?? null;
  const line = (field: string, first: string | null, refused: string | null): Compared => ({
    field,
    first,
    refused,
    differs: differs.includes(field),
  });
  if (differs.includes("environment")) return [line("environment", "other environment", "this environment")];
  if (asked === null) return [];
  const isOtherEndpoint = differs.includes("endpoint");
  return [
    line("endpoint", history.endpoint, use.endpoint),
    line("customerId", history.customerId ?? UNKNOWN, use.customerId ?? "unknown customer"),
    line(subject, firstSubject, use.feature ?? use.event),
    line("quantity", formatCount(asked.quantity), quantity === null ? null : formatCount(quantity)),
    ...(isOtherEndpoint ? [] : [metadataLine(asked.metadata, differs.includes("metadata"))]),
    ...(history.event === null || isOtherEndpoint
      ? []
      : [line("timestamp", sentTime(history.event), timestamp)]),
  ];
}

/** Null if the event was sent without a timestamp. Purser then uses the recording time. */
function sentTime({ occurredAt, recordedAt }: { occurredAt: string; recordedAt: string }): string | null {
  return occurredAt === recordedAt ? null : occurredAt;
}

/** The log does not store metadata, only whether it differed. */
function metadataLine(metadata: object | null, differs: boolean): Compared {
  const first = metadata === null ? null : JSON.stringify(metadata);
  return {
    field: "metadata",
    first,
    refused: differs ? "different (not logged)" : first,
    differs,
  };
}
