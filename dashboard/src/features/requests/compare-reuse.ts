import type { RequestItem } from "../../format/denial-sentences.ts";
import { formatCount } from "../../format/numbers.ts";
import { reversedBy } from "../../format/request-sentences.ts";
import type { KeyHistory } from "./queries.ts";

type Use = KeyHistory["uses"][number];

export type Compared = {
  readonly field: string;
  /** Value in the original request. Null if unknown or not set. */
  readonly first: string | null;
  readonly refused: string | null;
  readonly differs: boolean;
};

const UNKNOWN = "no longer stored";

/** Compares a rejected reuse with the original request, field by field. */
export function compareReuse(history: KeyHistory, use: Use): Compared[] {
  const { differs = [], quantity = null, timestamp = null } = use.refused ?? {};
  const asked = history.charge ?? history.denial ?? history.hold ?? history.event;
  const subject = history.event === null ? "feature" : "event";
  const first = firstItemOf(history);
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
    line(subject, first.name, use.feature ?? use.event),
    line(
      "quantity",
      first.quantity === null ? null : formatCount(first.quantity),
      quantity === null ? null : formatCount(quantity),
    ),
  ];
  const isReversal = history.endpoint === "consume/reverse";
  const several = isOtherEndpoint ? [] : [unlogged("items", items === null ? null : listItems(items))];
  return [
    line("endpoint", history.endpoint, use.endpoint),
    line("customerId", history.customerId ?? UNKNOWN, use.customerId ?? "unknown customer"),
    ...(isReversal && !isOtherEndpoint ? [unlogged("consumeId", history.charge?.consumeId ?? null)] : []),
    ...(items !== null || differs.includes("items") ? several : single),
    ...(isOtherEndpoint || isReversal
      ? []
      : [
          ...(asked.memberId !== null || differs.includes("memberId")
            ? [unlogged("memberId", asked.memberId)]
            : []),
          unlogged("metadata", asked.metadata === null ? null : JSON.stringify(asked.metadata)),
        ]),
    ...(history.hold === null || isOtherEndpoint
      ? []
      : [
          unlogged("expiresInSeconds", secondsOf(history)),
          line("onExpiry", history.hold.onExpiry, onExpiryOf(history.hold, differs)),
        ]),
    ...(history.event === null || isOtherEndpoint
      ? []
      : [line("timestamp", sentTime(history.event), timestamp)]),
  ];
}

type FirstItem = { readonly name: string | null; readonly quantity: number | null };

/**
 * The first feature or event of the request. For a hold, the quantity is read from the stored response, because an extension changes the
 * hold.
 */
function firstItemOf({ endpoint, charge, denial, hold, event, answer }: KeyHistory): FirstItem {
  const reversed = endpoint === "consume/reverse" ? reversedBy(answer) : null;
  if (reversed !== null) return { name: reversed.feature, quantity: reversed.quantity };
  if (event !== null) return { name: event.event, quantity: event.quantity };
  const decided = charge ?? denial;
  if (decided !== null) return { name: decided.feature, quantity: decided.quantity };
  const [item] = hold?.items ?? [];
  const quantity = answer?.["quantity"];
  return { name: item?.feature ?? null, quantity: typeof quantity === "number" ? quantity : null };
}

/** The requested duration of a hold. An extension changes the end of the hold, but not its stored response. */
function secondsOf({ hold, answer }: KeyHistory): string | null {
  const end = answer?.["expiresAt"];
  if (hold === null || typeof end !== "string") return null;
  return String(Math.round((Date.parse(end) - Date.parse(hold.openedAt)) / 1_000));
}

/** The log does not store the value. If it differs, it must be the other of the two values. */
function onExpiryOf({ onExpiry }: { onExpiry: "release" | "charge" }, differs: readonly string[]): string {
  if (!differs.includes("onExpiry")) return onExpiry;
  return onExpiry === "release" ? "charge" : "release";
}

/** The items of the request, read from its stored response. Null if the request had no items. A reversal names at most one feature. */
export function itemsOf({ endpoint, answer }: KeyHistory): readonly RequestItem[] | null {
  const items = answer?.["items"];
  return Array.isArray(items) && endpoint !== "consume/reverse" ? items : null;
}

function listItems(items: readonly RequestItem[]): string {
  return items.map(({ feature, quantity }) => `${feature} × ${formatCount(quantity)}`).join(", ");
}

/** The timestamp of the event in the request. Null if the request had none, in which case Purser uses the recording time. */
function sentTime({ occurredAt, recordedAt }: { occurredAt: string; recordedAt: string }): string | null {
  return occurredAt === recordedAt ? null : occurredAt;
}
