import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { addressOf } from "../../edge/guard.ts";
import { Problem } from "../../edge/problem.ts";
import { readDeviceCookie } from "../../edge/session-cookie.ts";
import { single } from "../../postgres/transaction.ts";
import { assertNever } from "../../primitives/assert.ts";
import { invalidField } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { refusePassword } from "../single-sign-on/refuse-password.ts";
import type { LogInGuard } from "./log-in-guard.ts";
import { ATTESTATION_BYTES_MAX, NewPasskeyBody, SecondFactorBody, SetUpAnswer } from "./passkey-schema.ts";
import { relyingPartyOf, requireParty } from "./relying-party.ts";
import { Me } from "./schema.ts";
import { findChallengedMember } from "./second-factor.ts";
import {
  type LogInOutcome,
  logInWithFirstPasskey,
  logInWithPasskey,
  logInWithRecoveryCode,
} from "./second-factor-log-in.ts";
import { replyWithSession, visitOf } from "./session-reply.ts";
import { findKnownDevice } from "./sign-in.ts";

const NOUN = "Session";
const PATH = "/manage/v1/session/second-factor";

/** The second step of a login, for members with a passkey and members whose role requires one. */
export function secondFactorOperations(parts: ManageParts, guard: LogInGuard): Operation[] {
  const { control, publicUrl, failedLogIns, signOn } = parts;
  const recordFailure = (request: FastifyRequest, email: string): void => {
    failedLogIns
      .record("member.second_factor_failed", email, visitOf(request), performance.now())
      .catch((error: unknown) => request.log.error({ err: error }, "could not record a failed login"));
  };
  return [
    operation({
      method: "POST",
      path: PATH,
      access: "anyone",
      id: "logInWithSecondFactor",
      noun: NOUN,
      summary: "Finish a login with a passkey or recovery code",
      description:
        "Takes the token from a `second_factor_required` error, and sets a session cookie. A recovery code works once.",
      body: SecondFactorBody,
      bodyBytesMax: ATTESTATION_BYTES_MAX,
      answer: Me,
      codes: [
        "second_factor_invalid",
        "second_factor_expired",
        "passkey_unavailable",
        "sso_required",
        "rate_limited",
      ],
      handle: async ({ body, request, reply }) => {
        const outcome = await answerChallenge(parts, guard, body, request);
        switch (outcome.kind) {
          case "expired":
            throw expired();
          case "refused":
            recordFailure(request, outcome.member.email);
            throw refused();
          case "opened":
            return replyWithSession(control, { request, reply }, outcome);
          default:
            return assertNever(outcome);
        }
      },
    }),
    operation({
      method: "POST",
      path: `${PATH}/set-up`,
      access: "anyone",
      id: "setUpSecondFactor",
      noun: NOUN,
      summary: "Register the first passkey to finish a login",
      description:
        "Takes the token from a `second_factor_setup_required` error, registers the member's first passkey, creates recovery codes, " +
        "ends the member's other sessions, and sets a session cookie.",
      body: NewPasskeyBody,
      bodyBytesMax: ATTESTATION_BYTES_MAX,
      answer: SetUpAnswer,
      codes: ["passkey_invalid", "second_factor_expired", "passkey_unavailable", "sso_required"],
      handle: async ({ body, request, reply }) => {
        const party = requireParty(relyingPartyOf(request, publicUrl));
        const outcome = await logInWithFirstPasskey(control, { ...body, party }, visitOf(request), (member) =>
          refusePassword(signOn, member),
        );
        switch (outcome.kind) {
          case "expired":
            throw expired();
          case "refused":
            recordFailure(request, outcome.member.email);
            throw passkeyInvalid();
          case "opened": {
            const me = await replyWithSession(control, { request, reply }, outcome);
            return { me, recoveryCodes: [...outcome.recoveryCodes] };
          }
          default:
            return assertNever(outcome);
        }
      },
    }),
  ];
}

function answerChallenge(
  parts: ManageParts,
  guard: LogInGuard,
  { token, passkey, recoveryCode }: Static<typeof SecondFactorBody>,
  request: FastifyRequest,
): Promise<LogInOutcome> {
  if (passkey !== undefined && recoveryCode === undefined) {
    const { control, publicUrl, signOn } = parts;
    const party = requireParty(relyingPartyOf(request, publicUrl));
    return logInWithPasskey(control, { token, passkey, party }, visitOf(request), (member) =>
      refusePassword(signOn, member),
    );
  }
  if (recoveryCode !== undefined && passkey === undefined) {
    return tryRecoveryCode(parts, guard, { token, code: recoveryCode }, request);
  }
  const message = "send either `passkey` or `recoveryCode`";
  throw invalidField({ field: "passkey", code: "required", message });
}

/** Wrong codes are limited like wrong passwords. */
async function tryRecoveryCode(
  { control, signOn }: ManageParts,
  guard: LogInGuard,
  answer: { token: string; code: string },
  request: FastifyRequest,
): Promise<LogInOutcome> {
  const member = await single(control, (tx) => findChallengedMember(tx, answer.token));
  if (member === null) return { kind: "expired" };
  const { email } = member;
  const known = await findKnownDevice(control, { token: readDeviceCookie(request), email });
  const attempt = { email, address: addressOf(request), known };
  // Without a turn, because the transaction can wait for a lock, and nobody could log in with a password meanwhile.
  const outcome = await guard.count(attempt, performance.now(), async () => {
    const tried = await logInWithRecoveryCode(control, answer, visitOf(request), (found) =>
      refusePassword(signOn, found),
    );
    return tried.kind === "refused" ? null : tried;
  });
  return outcome ?? { kind: "refused", member };
}

export function passkeyInvalid(): Problem {
  return new Problem("passkey_invalid", {
    detail: "The passkey was not created for this page, or the device did not verify its user. Try again.",
  });
}

export function expired(): Problem {
  return new Problem("second_factor_expired", {
    detail: "This step timed out, had too many attempts, or the password has changed. Start again.",
  });
}

function refused(): Problem {
  return new Problem("second_factor_invalid", {
    detail: "The passkey or recovery code is not valid. A recovery code works only once.",
  });
}
