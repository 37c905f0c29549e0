import { createHmac, randomBytes } from "node:crypto";
import { assert } from "../primitives/assert.ts";

// Signatures of Standard Webhooks, https://www.standardwebhooks.com

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;

export type SignedContent = {
  /** Identifies the webhook. The same in every attempt to deliver it. */
  readonly id: string;
  /** Time of the attempt, in seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
};

export function makeWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The `webhook-signature` header: one signature for each secret. There are several while a secret is being rotated. */
export function signatureHeader(secrets: readonly string[], content: SignedContent): string {
  assert(secrets.length > 0, "a webhook is signed");
  return secrets.map((secret) => `v1,${sign(secret, content)}`).join(" ");
}

function sign(secret: string, { id, timestamp, body }: SignedContent): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  assert(secret.startsWith(SECRET_PREFIX) && key.length > 0, "a webhook secret has the form whsec_<base64>");
  return createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
}
