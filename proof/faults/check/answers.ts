import type { Call } from "../history.ts";

/** The response to a consume request or a check. A response is unreadable if a field is missing or has the wrong type. */
export type Decision = {
  readonly allowed: boolean;
  readonly reason: string | null;
  /** The index of the denied item. Null if the request is allowed. */
  readonly deniedItem: number | null;
  /** Null if it is absent. */
  readonly affordableQuantity: number | null;
  readonly customerId: string;
  readonly hasItems: boolean;
  /** A response without items has one. */
  readonly items: readonly DecidedItem[];
  /** Absent in the response to a check. */
  readonly consumeId: string | null;
};

export type DecidedItem = {
  readonly feature: string;
  readonly quantity: number;
  readonly creditsRequired: number;
  /** Absent in the response to a check. */
  readonly creditsCharged: number | null;
  /** Absent in a response without items. */
  readonly pool: string | null;
  readonly balance: number | null;
  readonly limit: { readonly quantity: number; readonly used: number; readonly remaining: number } | null;
};

/** Null if the call has no decision, or an unreadable one. */
export function findDecision({ request, outcome }: Call): Decision | null {
  if (request.endpoint === "events" || outcome.kind !== "ok") return null;
  const fields = fieldsOf(outcome.body);
  const { consumeId = null, affordableQuantity = null } = fields;
  const { allowed, reason, customerId } = fields;
  const hasItems = Array.isArray(fields["items"]);
  const deniedItem = hasItems ? fields["deniedItem"] : allowed === false ? 0 : null;
  const items = findItems(hasItems ? fields["items"] : [fields]);
  const isReadable =
    typeof allowed === "boolean" &&
    isTextOrNull(reason) &&
    isNumberOrNull(deniedItem) &&
    // The field is absent or a number, never null.
    isNumberOrNull(affordableQuantity) &&
    fields["affordableQuantity"] !== null &&
    typeof customerId === "string" &&
    items !== null &&
    isTextOrNull(consumeId);
  if (!isReadable) return null;
  return { allowed, reason, deniedItem, affordableQuantity, customerId, hasItems, items, consumeId };
}

/** Null if the response has none. */
export function findEventId({ outcome }: Call): string | null {
  if (outcome.kind !== "ok") return null;
  const { eventId } = fieldsOf(outcome.body);
  return typeof eventId === "string" ? eventId : null;
}

/** Null if one of them is unreadable. */
function findItems(values: unknown): DecidedItem[] | null {
  const items = Array.isArray(values) ? values.flatMap((value) => findItem(Object(value)) ?? []) : [];
  return Array.isArray(values) && items.length === values.length ? items : null;
}

function findItem(fields: Record<string, unknown>): DecidedItem | null {
  const { feature, quantity, creditsRequired, creditsCharged = null, pool = null, balance } = fields;
  const limit = findLimit(fields["limit"]);
  const isReadable =
    typeof feature === "string" &&
    typeof quantity === "number" &&
    typeof creditsRequired === "number" &&
    isNumberOrNull(creditsCharged) &&
    isTextOrNull(pool) &&
    isNumberOrNull(balance) &&
    limit !== undefined;
  if (!isReadable) return null;
  return { feature, quantity, creditsRequired, creditsCharged, pool, balance, limit };
}

/** Undefined if it is neither null nor a limit. */
function findLimit(value: unknown): DecidedItem["limit"] | undefined {
  if (value === null) return null;
  const { quantity, used, remaining } = Object(value);
  if (typeof quantity !== "number" || typeof used !== "number" || typeof remaining !== "number") return;
  return { quantity, used, remaining };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || typeof value === "number";
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
