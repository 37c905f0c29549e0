import type { ApiKey } from "./queries.ts";

/**
 * A call that works as it stands with a new key, and does as little as its scopes allow: a check changes nothing, a usage
 * event moves no credits.
 */
export function keyCall(
  { scopes }: Pick<ApiKey, "scopes">,
  { origin, secret, feature }: { origin: string; secret: string; feature: string | null },
): string {
  const asked = { customerId: "customer_42", feature: feature ?? "image.generate" };
  const idempotencyKey = "my-first-call";
  const [path, body] =
    scopes.includes("check") && (feature !== null || !scopes.includes("events"))
      ? ["check", asked]
      : scopes.includes("events")
        ? ["events", { customerId: "customer_42", event: "hello", quantity: 1, idempotencyKey }]
        : ["consume", { ...asked, idempotencyKey }];
  return [
    `curl '${origin}/v1/${path}'`,
    `-H 'Authorization: Bearer ${secret}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body)}'`,
  ].join(" \\\n  ");
}
