import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { makeWebhookSecret, signatureHeader } from "./sign.ts";

const [current, previous, foreign] = [makeWebhookSecret(), makeWebhookSecret(), makeWebhookSecret()];
const content = {
  id: "msg_1",
  timestamp: Math.floor(Date.now() / 1_000),
  body: '{"type":"plan.changed","name":"Zoë"}',
};

function verify(secret: string, signature: string, received: Partial<typeof content> = {}): unknown {
  const { id, timestamp, body } = { ...content, ...received };
  return new Webhook(secret).verify(body, {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signature,
  });
}

test("a secret has 32 random bytes in base64", () => {
  expect(current).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(current).not.toBe(previous);
});

test("the signature is that of the Standard Webhooks specification", () => {
  // The example of the reference libraries.
  const signature = signatureHeader(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  });
  expect(signature).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("a receiver verifies the signature", () => {
  expect(verify(current, signatureHeader([current], content))).toEqual(JSON.parse(content.body));
});

test("a receiver rejects another secret, body, id or timestamp", () => {
  const signature = signatureHeader([current], content);
  expect(() => verify(foreign, signature)).toThrow("No matching signature");
  expect(() => verify(current, signature, { body: content.body.replace("Zoë", "Zoe") })).toThrow(
    "No matching",
  );
  expect(() => verify(current, signature, { id: "msg_2" })).toThrow("No matching signature");
  expect(() => verify(current, signature, { timestamp: content.timestamp + 1 })).toThrow(
    "No matching signature",
  );
});

test("during a rotation, a receiver can verify with either secret", () => {
  const signature = signatureHeader([current, previous], content);
  expect(signature.split(" ")).toHaveLength(2);
  for (const secret of [current, previous])
    expect(verify(secret, signature)).toEqual(JSON.parse(content.body));
  expect(() => verify(foreign, signature)).toThrow("No matching signature");
});

test("nothing is signed without a secret", () => {
  for (const secrets of [[], [""], ["whsec_"], [current.replace("whsec_", "")]])
    expect(() => signatureHeader(secrets, content)).toThrow("invariant broken");
});
