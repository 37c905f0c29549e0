import type { Call } from "../history/call.ts";

/** What an answer of consume or check says; a field that is missing or of another type makes it unreadable. */
export type Decision = {
  readonly allowed: boolean;
  readonly reason: string | null;
  readonly customerId: string;
  readonly feature: string;
  readonly quantity: number;
  readonly creditsRequired: number;
  readonly balance: number | null;
  readonly limit: { readonly quantity: number; readonly used: number; readonly remaining: number } | null;
  /** Of a check both are absent. */
  readonly consumeId: string | null;
  readonly creditsCharged: number | null;
};

/** Null when the call has no such answer, or none that can be read. */
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

/** Null when there is none: the checker then says so, with the whole body beside it. */
export function findEventId({ outcome }: Call): string | null {
  if (outcome.kind !== "ok") return null;
  const { eventId } = fieldsOf(outcome.body);
  return typeof eventId === "string" ? eventId : null;
}

/** Undefined when it is neither null nor a limit. */
function findLimit(value: unknown): Decision["limit"] | undefined {
  if (value === null) return null;
  const { quantity, used, remaining } = asFields(value);
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
    return asFields(JSON.parse(text));
  } catch {
    return {};
  }
}

function asFields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
