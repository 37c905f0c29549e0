import { type Call, type Item, isDecided } from "../history.ts";

/** The response to a consume request, hold or check. It is unreadable if a field is missing or has the wrong type. */
export type Decision = {
  readonly allowed: boolean;
  readonly reason: string | null;
  /** The index of the denied item. Null if the request is allowed. */
  readonly deniedItem: number | null;
  /** Null if the field is absent. */
  readonly affordableQuantity: number | null;
  readonly customerId: string;
  readonly hasItems: boolean;
  /** One item if the request had no `items`. */
  readonly items: readonly DecidedItem[];
  /** Only in the response to a consume request. */
  readonly consumeId: string | null;
  /** Only in the response to a request for a hold. */
  readonly holdId: string | null;
  readonly expiresAtMs: number | null;
};

export type DecidedItem = {
  readonly feature: string;
  readonly quantity: number;
  readonly creditsRequired: number;
  /** Only in the response to a consume request. */
  readonly creditsCharged: number | null;
  /** Only in the response to a request for a hold. */
  readonly creditsHeld: number | null;
  /** Absent in a response without items. */
  readonly pool: string | null;
  readonly balance: number | null;
  readonly limit: { readonly quantity: number; readonly used: number; readonly remaining: number } | null;
  /** Null if the plan allows no overage. Both fields must then be absent. */
  readonly overage: Overage | null;
  readonly overageCredits: number | null;
};

/** Null for unlimited. */
export type Overage = {
  readonly credits: number | null;
  readonly used: number;
  readonly remaining: number | null;
};

/** Null if the call has no decision or an unreadable decision. */
export function findDecision({ request, outcome }: Call): Decision | null {
  if (!isDecided(request) || outcome.kind !== "ok") return null;
  const fields = fieldsOf(outcome.body);
  const { consumeId = null, holdId = null, expiresAt = null, affordableQuantity = null } = fields;
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
    isTextOrNull(consumeId) &&
    isTextOrNull(holdId) &&
    isTextOrNull(expiresAt);
  if (!isReadable) return null;
  const expiresAtMs = expiresAt === null ? null : Date.parse(expiresAt);
  const hold = { holdId, expiresAtMs };
  return { allowed, reason, deniedItem, affordableQuantity, customerId, hasItems, items, consumeId, ...hold };
}

/** The response to an extension: the hold after the change. */
export type Extension = {
  readonly allowed: boolean;
  readonly reason: string | null;
  readonly quantity: number;
  readonly creditsHeld: number;
  readonly overageCredits: number;
  readonly expiresAtMs: number;
};

/** Null if the call has no extension or an unreadable extension. */
export function findExtension({ request, outcome }: Call): Extension | null {
  if (request.endpoint !== "extend" || outcome.kind !== "ok") return null;
  const { allowed, reason, quantity, creditsHeld, overageCredits, expiresAt } = fieldsOf(outcome.body);
  const isReadable =
    typeof allowed === "boolean" &&
    isTextOrNull(reason) &&
    typeof quantity === "number" &&
    typeof creditsHeld === "number" &&
    typeof overageCredits === "number" &&
    typeof expiresAt === "string";
  if (!isReadable) return null;
  return { allowed, reason, quantity, creditsHeld, overageCredits, expiresAtMs: Date.parse(expiresAt) };
}

/** The response to the request that ended a hold. It is stored with the hold's end. */
export type Closing = {
  readonly status: string;
  readonly late: boolean;
  readonly creditsCharged: number;
  readonly creditsReleased: number;
  readonly overageCredits: number;
  readonly creditsBeyondHold: number;
  readonly creditsUncovered: number;
  readonly items: readonly ClosedItem[];
  readonly consumeId: string | null;
};

export type ClosedItem = {
  readonly feature: string;
  readonly quantity: number;
  readonly creditsRequired: number;
  readonly creditsCharged: number;
  readonly overageCredits: number;
  readonly creditsBeyondHold: number;
  readonly creditsUncovered: number;
  readonly balance: number;
};

/** Null if it is unreadable. Numbers are compared with the expected values later. */
export function findClosing(text: string | null): Closing | null {
  const fields = fieldsOf(text ?? "");
  const { status, late, consumeId } = fields;
  const { creditsCharged, creditsReleased, overageCredits, creditsBeyondHold, creditsUncovered } = fields;
  const items: unknown = fields["items"];
  const isReadable =
    typeof status === "string" &&
    typeof late === "boolean" &&
    typeof creditsCharged === "number" &&
    typeof creditsReleased === "number" &&
    typeof overageCredits === "number" &&
    typeof creditsBeyondHold === "number" &&
    typeof creditsUncovered === "number" &&
    isTextOrNull(consumeId) &&
    Array.isArray(items);
  if (!isReadable) return null;
  const sums = { creditsCharged, creditsReleased, overageCredits, creditsBeyondHold, creditsUncovered };
  return { status, late, ...sums, items, consumeId };
}

/** The charges of a consume request or a settlement. */
type Charge = {
  readonly consumeId: string;
  readonly hasItems: boolean;
  /** One item for each charge. */
  readonly items: readonly (Item & { readonly overageCredits: number })[];
};

/** Null if the call charged nothing. */
export function findCharge(call: Call): Charge | null {
  const { request, outcome } = call;
  const isSettled = request.endpoint === "settle" && outcome.kind === "ok";
  const closing = isSettled ? findClosing(outcome.body) : null;
  const decision = findDecision(call);
  const { consumeId = null, items: all = [] } = closing ?? decision ?? {};
  const items = all
    .filter(({ quantity }) => quantity > 0)
    .map(({ feature, quantity, overageCredits }) => ({
      ...{ feature, quantity, overageCredits: overageCredits ?? 0 },
    }));
  const hasItems = decision?.hasItems ?? items.length > 1;
  return consumeId === null ? null : { consumeId, hasItems, items };
}

/** The response to a reversal. */
export type Reversed = {
  readonly consumeId: string;
  readonly customerId: string;
  readonly creditsReturned: number;
  readonly overageCredits: number;
  readonly items: readonly ReversedItem[];
};

export type ReversedItem = {
  readonly feature: string;
  readonly quantity: number;
  readonly creditsReturned: number;
  readonly overageCredits: number;
  readonly pool: string;
  readonly balance: number;
};

/** Null if the call reversed nothing, or has an unreadable response. The fields of items are compared with the expected values later. */
export function findReversed({ request, outcome }: Call): Reversed | null {
  if (request.endpoint !== "reverse" || outcome.kind !== "ok") return null;
  const { consumeId, customerId, creditsReturned, overageCredits, items } = fieldsOf(outcome.body);
  const isReadable =
    typeof consumeId === "string" &&
    typeof customerId === "string" &&
    typeof creditsReturned === "number" &&
    typeof overageCredits === "number" &&
    Array.isArray(items);
  return isReadable ? { consumeId, customerId, creditsReturned, overageCredits, items } : null;
}

/** Null if the response has none. */
export function findEventId({ outcome }: Call): string | null {
  if (outcome.kind !== "ok") return null;
  const { eventId } = fieldsOf(outcome.body);
  return typeof eventId === "string" ? eventId : null;
}

/** Null if an item is unreadable. */
function findItems(values: unknown): DecidedItem[] | null {
  const items = Array.isArray(values) ? values.flatMap((value) => findItem(Object(value)) ?? []) : [];
  return Array.isArray(values) && items.length === values.length ? items : null;
}

function findItem(fields: Record<string, unknown>): DecidedItem | null {
  const { feature, quantity, creditsRequired, pool = null, balance } = fields;
  const { creditsCharged = null, creditsHeld = null, overageCredits = null } = fields;
  const limit = findLimit(fields["limit"]);
  const overage = findOverage(fields["overage"]);
  const isReadable =
    typeof feature === "string" &&
    typeof quantity === "number" &&
    typeof creditsRequired === "number" &&
    isNumberOrNull(creditsCharged) &&
    isNumberOrNull(creditsHeld) &&
    isTextOrNull(pool) &&
    isNumberOrNull(balance) &&
    limit !== undefined &&
    overage !== undefined &&
    isNumberOrNull(overageCredits) &&
    (overage === null) === (overageCredits === null);
  if (!isReadable) return null;
  const taken = { creditsCharged, creditsHeld, overageCredits };
  return { feature, quantity, creditsRequired, ...taken, pool, balance, limit, overage };
}

/** Null if it is absent, undefined if it is unreadable. */
function findOverage(value: unknown): Overage | null | undefined {
  if (value === undefined) return null;
  const { credits, used, remaining } = Object(value);
  if (!isNumberOrNull(credits) || typeof used !== "number" || !isNumberOrNull(remaining)) return;
  return { credits, used, remaining };
}

/** Undefined if the value is neither null nor a limit. */
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
