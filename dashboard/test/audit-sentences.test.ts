import { expect, test } from "vitest";
import { describeAction } from "../src/features/audit/sentences.ts";

function sentence(action: string, after: object, subject = "x"): string {
  const entry = { action, subject, before: {}, after };
  const pieces = describeAction(entry as unknown as Parameters<typeof describeAction>[0]);
  return pieces.map(({ kind, text }) => (kind === "customer" ? "ada" : text)).join("");
}

test.for([
  ["credits.added_in_bulk", { credits: 500, changed: 1 }, "added 500 credits to 1 customer"],
  ["credits.added_in_bulk", { credits: 500, changed: 12 }, "added 500 credits to each of 12 customers"],
  ["request.tried", { times: 1 }, "sent 1 test request for x as ada"],
  ["request.tried", { times: 32 }, "sent 32 test requests for x as ada"],
  ["webhook.secret_rotated", {}, "rotated the secret for webhook x"],
  ["webhook.replayed", { replayed: 3 }, "replayed notices to webhook x"],
  [
    "member.sign_on_failed",
    { attempts: 2, addresses: ["203.0.113.7"], reason: "not_invited" },
    "rejected 2 sign-ins with single sign-on for x from 203.0.113.7: not invited",
  ],
  ["member.sign_on_connected", {}, "connected single sign-on"],
  ["member.invited", { role: "viewer" }, "invited x as a viewer"],
  ["member.invited", { role: "admin" }, "invited x as an admin"],
  ["member.signed_in", { openedWith: "password" }, "logged in"],
  ["member.signed_in", { openedWith: "recovery_code" }, "logged in with a recovery code"],
  ["member.passkey_added", { passkey: "Phone" }, "added passkey Phone"],
  ["member.second_factor_reset", {}, "reset the second factor for x"],
  [
    "member.second_factor_asked",
    { attempts: 2, addresses: ["203.0.113.7"] },
    "accepted the password or link of x in 2 login attempts from 203.0.113.7, and asked for a second factor",
  ],
  [
    "member.passkey_refused",
    { passkey: "Phone", address: "203.0.113.7" },
    "rejected passkey Phone of x from 203.0.113.7, because it may have been copied",
  ],
  [
    "workspace.second_factor_changed",
    { requiredFrom: "admin" },
    "required a second factor from admins and above",
  ],
  ["workspace.second_factor_changed", { requiredFrom: null }, "stopped requiring a second factor"],
  [
    "member.session_ended",
    { address: "203.0.113.7" },
    "ended one of their sessions (request from 203.0.113.7)",
  ],
] as const)("the audit log describes %s with %o in one sentence", ([action, after, expected]) => {
  expect(sentence(action, after)).toBe(expected);
});
