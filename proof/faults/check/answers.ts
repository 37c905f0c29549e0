import type { Call } from "../history.ts";

/** The response to a consume request or a check. A response is unreadable if a field is missing or has the wrong type. */
export type Decision = {
  readonly allowed: boolean;
  readonly reason: string | null;
  readonly customerId: string;
  readonly feature: string;
  readonly quantity: number;
  readonly creditsRequired: number;
  readonly balance: number | null;
  readonly limit: { readonly quantity: number; readonly used: number; readonly remaining: number } | null;
  /** Both are absent in the response to a check. */
  readonly consumeId: string | null;
  readonly creditsCharged: number | null;
};

/** Null if the call has no decision, or an unreadable one. */
export function findDecision({ request, outcome }: Call): Decision | null {
  if (request.endpoint === "events" || outcome.kind !== "ok") return null;
  const fields = fieldsOf(outcome.body);
  const { consumeId = null, creditsCharged = null } = fields;
  const { allowed, reason, customerId, feature, quantity, creditsRequired, balance } = fields;
  const limit = findLimit(fields["limit"]);
  const isReadable =
    typeof allowed === "boolean" &&
    isTextOrNull(reason) &&
    typeof customerId === "string" &&
    typeof feature === "string" &&
    typeof quantity === "number" &&
    typeof creditsRequired === "number" &&
    isNumberOrNull(balance) &&
    limit !== undefined &&
    isTextOrNull(consumeId) &&
    isNumberOrNull(creditsCharged);
  if (!isReadable) return null;
  return {
    ...{ allowed, reason, customerId, feature, quantity, creditsRequired, balance, limit },
    ...{ consumeId, creditsCharged },
  };
}

/** Null if the response has none. */
export function findEventId({ outcome }: Call): string | null {
  if (outcome.kind !== "ok") return null;
  const { eventId } = fieldsOf(outcome.body);
  return typeof eventId === "string" ? eventId : null;
}

/** Undefined if it is neither null nor a limit. */
function findLimit(value: unknown): Decision["limit"] | undefined {
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
