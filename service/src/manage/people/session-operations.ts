import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { addressOf } from "../../edge/guard.ts";
import { Problem } from "../../edge/problem.ts";
import { clearSessionCookie, readDeviceCookie } from "../../edge/session-cookie.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { Member } from "../../store/control/members.ts";
import { invalidField, nullable, strictObject } from "../fields.ts";
import { type Operation, operation, principalOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { refusePassword } from "../single-sign-on/refuse-password.ts";
import { mayUsePassword } from "../single-sign-on/settings.ts";
import { acceptLink } from "./accept-link.ts";
import { describeMe } from "./describe-member.ts";
import { readEmail } from "./email.ts";
import type { FailedAction } from "./failed-log-ins.ts";
import { isGuessablePassword } from "./guessable-password.ts";
import { LogInGuard } from "./log-in-guard.ts";
import { type HashNew, hashPassword } from "./password.ts";
import { relyingPartyOf, secondFactorProblem } from "./relying-party.ts";
import { LinkBody, LogInBody, Me, NewOwnerBody, PasswordBody } from "./schema.ts";
import { secondFactorOperations } from "./second-factor-operations.ts";
import { replyWithSession, visitOf } from "./session-reply.ts";
import { isSetupNeeded, setUp } from "./set-up.ts";
import { changePassword, checkPassword, findKnownDevice, openSession, signOut } from "./sign-in.ts";

const NOUN = "Session";
/** How long the service caches that setup is done. */
const SETUP_DONE_MS = 60_000;

export function sessionOperations(parts: ManageParts): Operation[] {
  const { control, failedLogIns, publicUrl, signOn } = parts;
  const guard = new LogInGuard();
  // Caches that setup is done, so that unauthenticated calls do not query the database each time. The cache expires soon, because a
  // failover may lose the first owner.
  let doneUntilMs = Number.NEGATIVE_INFINITY;
  const needsSetup = async (): Promise<boolean> => {
    if (performance.now() < doneUntilMs) return false;
    const isNeeded = await isSetupNeeded(control);
    if (!isNeeded) doneUntilMs = performance.now() + SETUP_DONE_MS;
    return isNeeded;
  };
  const recordFailure = (
    request: FastifyRequest,
    action: FailedAction,
    email: string,
    reason: "sso_required" | null = null,
  ): void => {
    failedLogIns
      .record(action, email, visitOf(request), performance.now(), reason)
      .catch((error: unknown) => request.log.error({ err: error }, "could not record a failed login"));
  };
  return [
    operation({
      method: "GET",
      path: "/manage/v1/setup",
      access: "anyone",
      id: "readSetup",
      noun: NOUN,
      summary: "Check whether setup is needed",
      description:
        "`isNeeded` is true until the first owner is created. Until then, the service logs a setup link when it starts.",
      answer: Type.Object({ isNeeded: Type.Boolean() }),
      handle: async () => ({ isNeeded: await needsSetup() }),
    }),
    operation({
      method: "POST",
      path: "/manage/v1/setup",
      access: "anyone",
      id: "setUp",
      noun: NOUN,
      summary: "Create the first owner",
      description: "Takes the one-time token from the setup link that the service logged when it started.",
      body: NewOwnerBody,
      answer: Me,
      codes: ["link_invalid", "rate_limited"],
      handle: async ({ body: { token, name, password, ...body }, request, reply }) => {
        // Checks the link before the expensive password hash.
        if (!(await needsSetup())) throw linkInvalid();
        const email = readEmail(body.email);
        if (!mayUsePassword(signOn?.settings ?? null, { email, role: "owner" })) throw notLocalOwner();
        const owner = { email, name, password };
        const outcome = await setUp(control, token, owner, visitOf(request), hashNew(guard));
        if (outcome.kind === "link_invalid") throw linkInvalid();
        const { memberId: id, workspaceId, sessionToken } = outcome;
        const member = { id, name, email, role: "owner", projectRoles: [], workspaceId } as const;
        return replyWithSession(control, { request, reply }, { member, sessionToken });
      },
    }),
    operation({
      method: "POST",
      path: "/manage/v1/session",
      access: "anyone",
      id: "logIn",
      noun: NOUN,
      summary: "Log in with email and password",
      description:
        "Sets a session cookie. Use a management token for automation. A member who must use a second factor gets a 401 error. Pass the " +
        "error's `secondFactor` to the next call.",
      body: LogInBody,
      answer: Me,
      codes: [
        "credentials_invalid",
        "second_factor_required",
        "second_factor_setup_required",
        "sso_required",
        "rate_limited",
      ],
      onMalformed: (address) => guard.countMalformed(address, performance.now()),
      handle: async ({ body, request, reply }) => {
        const email = body.email.toLowerCase();
        const known = await findKnownDevice(control, { token: readDeviceCookie(request), email });
        const attempt = { email, address: addressOf(request), known };
        const member = await guard.guard(attempt, performance.now(), () => checkPassword(control, body));
        // After the password, so that the response does not reveal who may use a password.
        if (member !== null && !mayUsePassword(signOn?.settings ?? null, member))
          recordFailure(request, "member.sign_in_failed", email, "sso_required");
        if (member !== null) refusePassword(signOn, member);
        const visit = visitOf(request);
        const opened = member === null ? null : await openSession(control, member, visit, known);
        if (member === null || opened === null) {
          recordFailure(request, "member.sign_in_failed", email);
          throw credentialsInvalid();
        }
        if (opened.kind === "pending") {
          // Somebody who knows only the password cannot continue, so this entry is the only trace of the attempt.
          recordFailure(request, "member.second_factor_asked", email);
          throw secondFactorProblem(opened, relyingPartyOf(request, publicUrl));
        }
        const { sessionToken } = opened;
        return replyWithSession(control, { request, reply }, { member, sessionToken });
      },
    }),
    operation({
      method: "GET",
      path: "/manage/v1/session",
      access: "signed_in",
      id: "readSession",
      noun: NOUN,
      summary: "Read the current session",
      description: "Returns the member or token that makes this call.",
      answer: Me,
      handle: async (call) => describeMe(principalOf(call)),
    }),
    operation({
      method: "DELETE",
      path: "/manage/v1/session",
      access: "signed_in",
      id: "logOut",
      noun: NOUN,
      summary: "Log out",
      description: "Ends this session. With `everywhere=true`, ends all your sessions.",
      query: strictObject({ everywhere: Type.Optional(Type.Enum(["true", "false"])) }),
      answer: Type.Object({
        signedOut: Type.Boolean(),
        providerLogOutUrl: nullable(
          Type.String({
            description:
              "The single sign-on provider's logout page. Null if the provider did not open this session, or has no logout page.",
            examples: ["https://id.example.com/logout?client_id=purser"],
          }),
        ),
      }),
      handle: async (call) => {
        const { request, query } = call;
        const isEverywhere = query.everywhere === "true";
        const isSignedOn = await signOut(control, principalOf(call), visitOf(request), isEverywhere);
        clearSessionCookie(call.reply);
        return { signedOut: true, providerLogOutUrl: isSignedOn ? (signOn?.logOutUrl ?? null) : null };
      },
    }),
    operation({
      method: "POST",
      path: "/manage/v1/session/password",
      access: "signed_in",
      id: "changePassword",
      noun: NOUN,
      summary: "Change your password",
      description:
        "Ends your other sessions and all links created for you. Purser no longer recognizes your other devices. A token has no password " +
        "and cannot make this call.",
      body: PasswordBody,
      answer: Me,
      codes: ["credentials_invalid", "role_missing", "rate_limited", "sso_required"],
      handle: async (call) => {
        const principal = principalOf(call);
        const { email, role, sessionHash } = principal;
        if (email === null || sessionHash === null) {
          throw new Problem("role_missing", { detail: "A token has no password." });
        }
        refusePassword(signOn, { email, role });
        refuseCommon("new", call.body.new, email);
        const { request, body } = call;
        const attempt = { email, address: addressOf(request), known: sessionHash.toString("hex") };
        const checked = await guard.guard(attempt, performance.now(), async () => {
          const member = await checkPassword(control, { email, password: body.current });
          return member && { member, passwordHash: await hashPassword(body.new) };
        });
        const device = readDeviceCookie(request);
        const input = { sessionHash, device, requestId: request.id };
        const isChanged =
          checked !== null &&
          (await changePassword(control, checked.member, { ...input, passwordHash: checked.passwordHash }));
        if (!isChanged) {
          recordFailure(request, "member.password_refused", email);
          throw credentialsInvalid();
        }
        return describeMe(principal);
      },
    }),
    linkOperation(parts, guard, recordFailure),
    ...secondFactorOperations(parts, guard),
  ];
}

function linkOperation(
  { control, publicUrl, signOn }: ManageParts,
  guard: LogInGuard,
  recordFailure: (request: FastifyRequest, action: FailedAction, email: string) => void,
): Operation {
  return operation({
    method: "POST",
    path: "/manage/v1/links",
    access: "anyone",
    id: "acceptLink",
    noun: NOUN,
    summary: "Log in with a link",
    description:
      "Takes the one-time token from an invitation, password reset or login link and sets a session cookie. An invitation or password " +
      "reset requires a new `password` and ends the member's other sessions. An invitation also accepts a `name`. A member who must use " +
      "a second factor gets a 401 error, and the link is used up. Pass the error's `secondFactor` to the next call.",
    body: LinkBody,
    answer: Me,
    codes: [
      "link_invalid",
      "second_factor_required",
      "second_factor_setup_required",
      "sso_required",
      "rate_limited",
    ],
    handle: async ({ body, request, reply }) => {
      const admit = (member: Member): void => refusePassword(signOn, member);
      const outcome = await acceptLink(control, body, visitOf(request), hashNew(guard), admit);
      switch (outcome.kind) {
        case "link_invalid":
          throw linkInvalid();
        case "misfit": {
          const { field, code, message } = outcome;
          throw invalidField({ field, code, message });
        }
        case "accepted": {
          const { member, opened } = outcome;
          if (opened.kind === "pending") {
            recordFailure(request, "member.second_factor_asked", member.email);
            throw secondFactorProblem(opened, relyingPartyOf(request, publicUrl));
          }
          const { sessionToken } = opened;
          return replyWithSession(control, { request, reply }, { member, sessionToken });
        }
        default:
          return assertNever(outcome);
      }
    },
  });
}

function hashNew(guard: LogInGuard): HashNew {
  return (password, email) => {
    refuseCommon("password", password, email);
    return guard.inTurn(() => hashPassword(password));
  };
}

function refuseCommon(field: string, password: string, email: string): void {
  if (!isGuessablePassword(password, email.split(/[@.]/))) return;
  throw invalidField({ field, code: "too_common", message: "is easy to guess: use several unrelated words" });
}

/** The first owner has no account at the provider that could be connected without a login. */
function notLocalOwner(): Problem {
  const message = "must be the email in `OIDC_LOCAL_OWNER`, because single sign-on is required";
  return invalidField({ field: "email", code: "wrong_form", message });
}

function credentialsInvalid(): Problem {
  return new Problem("credentials_invalid", { detail: "The email or password is incorrect." });
}

function linkInvalid(): Problem {
  return new Problem("link_invalid", { detail: "Ask the sender for a new link." });
}
