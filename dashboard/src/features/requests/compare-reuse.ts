import type { RequestItem } from "../../format/denial-sentences.ts";
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
  // The log does not store these fields, only whether they differed.
  const unlogged = (field: string, first: string | null): Compared =>
    line(field, first, differs.includes(field) ? "different (not logged)" : first);
  if (differs.includes("environment")) return [line("environment", "other environment", "this environment")];
  if (asked === null) return [];
  const isOtherEndpoint = differs.includes("endpoint");
  const items = itemsOf(history);
  const single = [
    line(subject, firstSubject, use.feature ?? use.event),
    line("quantity", formatCount(asked.quantity), quantity === null ? null : formatCount(quantity)),
  ];
  const several = isOtherEndpoint ? [] : [unlogged("items", items === null ? null : listItems(items))];
  return [
    line("endpoint", history.endpoint, use.endpoint),
    line("customerId", history.customerId ?? UNKNOWN, use.customerId ?? "unknown customer"),
    ...(items !== null || differs.includes("items") ? several : single),
    ...(isOtherEndpoint
      ? []
      : [
          ...(asked.memberId !== null || differs.includes("memberId")
            ? [unlogged("memberId", asked.memberId)]
            : []),
          unlogged("metadata", asked.metadata === null ? null : JSON.stringify(asked.metadata)),
        ]),
    ...(history.event === null || isOtherEndpoint
      ? []
      : [line("timestamp", sentTime(history.event), timestamp)]),
  ];
}

/** The items of the request, which its stored response repeats; null if it had none. */
export function itemsOf({ answer }: KeyHistory): readonly RequestItem[] | null {
  const items = answer?.["items"];
  return Array.isArray(items) ? items : null;
}

function listItems(items: readonly RequestItem[]): string {
  return items.map(({ feature, quantity }) => `${feature} × ${formatCount(quantity)}`).join(", ");
}

/** Null if the event was sent without a timestamp. Purser then uses the recording time. */
function sentTime({ occurredAt, recordedAt }: { occurredAt: string; recordedAt: string }): string | null {
  return occurredAt === recordedAt ? null : occurredAt;
}
