import type { Body } from "../../api/answer.ts";

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
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `try-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
