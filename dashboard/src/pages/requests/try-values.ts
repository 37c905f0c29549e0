import type { Body } from "../../api/answer.ts";
import { randomHex } from "../../words/hex.ts";

export type TryValues = {
  endpoint: "check" | "consume";
  customerId: string;
  feature: string;
  quantity: string;
  idempotencyKey: string;
  times: string;
};

/** Numbers as they stand in the boxes: what is wrong about them the API says, beside the box. */
export function toTryBody(values: TryValues): Body<"tryRequest"> {
  const { endpoint, customerId, feature, idempotencyKey } = values;
  return {
    endpoint,
    customerId: customerId.trim(),
    feature: feature.trim(),
    quantity: Number(values.quantity),
    idempotencyKey: idempotencyKey.trim(),
    times: Number(values.times),
  };
}

/** One that nobody has used. */
export function freshKey(): string {
  return `try-${randomHex(6)}`;
}
