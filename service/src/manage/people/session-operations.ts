import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { addressOf } from "../../edge/guard.ts";
import type { Principal } from "../../edge/principal.ts";
import { Problem } from "../../edge/problem.ts";
import {
  clearSessionCookie,
  readDeviceCookie,
  setDeviceCookie,
  setSessionCookie,
} from "../../edge/session-cookie.ts";
import type { Pool } from "../../postgres/pool.ts";
import { assertNever } from "../../primitives/assert.ts";
import { invalidField, strictObject } from "../fields.ts";
import { type Call, type Operation, operation, principalOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { acceptLink } from "./accept-link.ts";
import { readEmail } from "./email.ts";
import type { FailedAction } from "./failed-log-ins.ts";
import { isGuessablePassword } from "./guessable-password.ts";
import { LogInGuard } from "./log-in-guard.ts";
import { type HashNew, hashPassword } from "./password.ts";
import { LinkBody, LogInBody, Me, NewOwnerBody, PasswordBody } from "./schema.ts";
import { isSetupNeeded, setUp } from "./set-up.ts";
import {
  changePassword,
  checkPassword,
  findKnownDevice,
  openSession,
  rememberDevice,
  signOut,
  type Visit,
} from "./sign-in.ts";

const NOUN = "Session";
/** How long the service caches that setup is done. */
const SETUP_DONE_MS = 60_000;

export function sessionOperations({ control, failedLogIns }: ManageParts): Operation[] {
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
  const recordFailure = (request: FastifyRequest, action: FailedAction, email: string): void => {
    failedLogIns
      .record(action, email, visitOf(request), performance.now())
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
        const owner = { email, name, password };
        const outcome = await setUp(control, token, owner, visitOf(request), hashNew(guard));
        if (outcome.kind === "link_invalid") throw linkInvalid();
        const { memberId, workspaceId } = outcome;
        setSessionCookie(reply, outcome.sessionToken);
        await knowDevice(control, { request, reply }, memberId);
        return describeMe({ kind: "member", id: memberId, name, email, role: "owner", workspaceId });
      },
    }),
    operation({
      method: "POST",
      path: "/manage/v1/session",
      access: "anyone",
      id: "logIn",
      noun: NOUN,
      summary: "Log in with email and password",
      description: "Sets a session cookie. Use a management token for automation.",
      body: LogInBody,
      answer: Me,
      codes: ["credentials_invalid", "rate_limited"],
      onMalformed: (address) => guard.countMalformed(address, performance.now()),
      handle: async ({ body, request, reply }) => {
        const email = body.email.toLowerCase();
        const known = await findKnownDevice(control, { token: readDeviceCookie(request), email });
        const attempt = { email, address: addressOf(request), known };
        const member = await guard.guard(attempt, performance.now(), () => checkPassword(control, body));
        const visit = visitOf(request);
        const session = member === null ? null : await openSession(control, member, visit);
        if (member === null || session === null) {
          recordFailure(request, "member.sign_in_failed", email);
          throw credentialsInvalid();
        }
        setSessionCookie(reply, session);
        await knowDevice(control, { request, reply }, member.id);
        return describeMe({ kind: "member", ...member });
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
      answer: Type.Object({ signedOut: Type.Boolean() }),
      handle: async (call) => {
        await signOut(control, principalOf(call), visitOf(call.request), call.query.everywhere === "true");
        clearSessionCookie(call.reply);
        return { signedOut: true };
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
      codes: ["credentials_invalid", "role_missing", "rate_limited"],
      handle: async (call) => {
        const principal = principalOf(call);
        const { email, sessionHash } = principal;
        if (email === null || sessionHash === null) {
          throw new Problem("role_missing", { detail: "A token has no password." });
        }
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
    linkOperation(control, guard),
  ];
}

function linkOperation(control: Pool, guard: LogInGuard): Operation {
  return operation({
    method: "POST",
    path: "/manage/v1/links",
    access: "anyone",
    id: "acceptLink",
    noun: NOUN,
    summary: "Log in with a link",
    description:
      "Takes the one-time token from an invitation, password reset or login link and sets a session cookie. An invitation or password " +
      "reset requires a new `password` and ends the member's other sessions. An invitation also accepts a `name`.",
    body: LinkBody,
    answer: Me,
    codes: ["link_invalid", "rate_limited"],
    handle: async ({ body, request, reply }) => {
      const outcome = await acceptLink(control, body, visitOf(request), hashNew(guard));
      switch (outcome.kind) {
        case "link_invalid":
          throw linkInvalid();
        case "misfit": {
          const { field, code, message } = outcome;
          throw invalidField({ field, code, message });
        }
        case "accepted":
          setSessionCookie(reply, outcome.sessionToken);
          await knowDevice(control, { request, reply }, outcome.member.id);
          return describeMe({ kind: "member", ...outcome.member });
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

const USER_AGENT_LENGTH_MAX = 200;

function visitOf(request: FastifyRequest): Visit {
  const userAgent = (request.headers["user-agent"] ?? "").slice(0, USER_AGENT_LENGTH_MAX);
  return { requestId: request.id, address: addressOf(request), userAgent };
}

/**
 * Remembers the device, so that failed attempts from other devices do not block this browser. If the device cannot be stored, the
 * login still succeeds.
 */
async function knowDevice(
  control: Pool,
  { request, reply }: Pick<Call, "request" | "reply">,
  memberId: number,
): Promise<void> {
  const shown = readDeviceCookie(request);
  try {
    setDeviceCookie(reply, await rememberDevice(control, { memberId, shown }));
  } catch (error) {
    request.log.error({ err: error }, "could not remember a device");
  }
}

type Identity = Pick<Principal, "kind" | "id" | "name" | "email" | "role" | "workspaceId">;

function describeMe({ kind, id, name, email, role, workspaceId }: Identity) {
  return { kind, id: String(id), name, email, role, workspaceId: String(workspaceId) };
}

function credentialsInvalid(): Problem {
  return new Problem("credentials_invalid", { detail: "The email or password is incorrect." });
}

function linkInvalid(): Problem {
  return new Problem("link_invalid", { detail: "Ask the sender for a new link." });
}
