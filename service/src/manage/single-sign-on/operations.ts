import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { addressOf } from "../../edge/guard.ts";
import { Problem } from "../../edge/problem.ts";
import {
  clearAttemptCookie,
  readAttemptCookie,
  readSessionCookie,
  SIGNED_ON_SESSION_SECONDS,
  setAttemptCookie,
  setSessionCookie,
} from "../../edge/session-cookie.ts";
import { TokenBuckets } from "../../edge/token-bucket.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { networkOf } from "../../primitives/network.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { readDataFormat } from "../../store/cell/data-format.ts";
import { findMemberOfIdentity } from "../../store/control/identities.ts";
import { findMemberById } from "../../store/control/members.ts";
import { strictObject } from "../fields.ts";
import { type Call, type Operation, operation, redirectOperation } from "../operation.ts";
import { MAIN_CELL, type ManageParts } from "../parts.ts";
import { refusedChange } from "../people/passkey-operations.ts";
import { findProof } from "../people/second-factor.ts";
import { knowDevice, visitOf } from "../people/session-reply.ts";
import { refuseUnfinishedUpgrade } from "../refuse-unfinished-upgrade.ts";
import { ATTEMPT_SECONDS, endAttempt, readReturnPath, startAttempt } from "./attempts.ts";
import type { Person } from "./claims.ts";
import { connectAccount } from "./connect.ts";
import { SIGN_ON_FAILURES, type SignOnFailure } from "./failures.ts";
import type { Provider } from "./provider.ts";
import { CALLBACK_PATH } from "./settings.ts";
import { signOn } from "./sign-on.ts";

export const NOUN = "Single sign-on";
/** Sign-ins per network: an initial burst, then a steady rate. Colleagues often share one network. */
const STARTS = { size: 60, perSecond: 1 } as const;
/** Callbacks per network that do not belong to a sign-in. */
const STRAY_CALLBACKS = { size: 60, perSecond: 1 } as const;
const NETWORKS_MAX = 10_000;
/** The first data format with single sign-on. An older release would treat members without a password as not joined. */
const DATA_FORMAT = 2;

const LOG_IN_PAGE = "/log-in";
const PROFILE_PAGE = "/workspace/settings/profile";

/** The limits of one process. */
type Guard = {
  readonly admitsStart: (request: FastifyRequest) => boolean;
  readonly admitsStray: (request: FastifyRequest) => boolean;
};

export function signOnOperations(parts: ManageParts): Operation[] {
  const starts = new TokenBuckets<string>(NETWORKS_MAX);
  const strays = new TokenBuckets<string>(NETWORKS_MAX);
  const guard: Guard = {
    admitsStart: (request) => starts.take(networkOf(addressOf(request)), STARTS, performance.now()) !== null,
    admitsStray: (request) =>
      strays.take(networkOf(addressOf(request)), STRAY_CALLBACKS, performance.now()) !== null,
  };
  return [
    operation({
      method: "GET",
      path: "/manage/v1/single-sign-on",
      access: "anyone",
      id: "readSignOn",
      noun: NOUN,
      summary: "Check whether single sign-on is available",
      description: "The login page uses this call to choose what to show.",
      answer: Type.Object({
        isConfigured: Type.Boolean({ description: "True if members can use single sign-on." }),
        isRequired: Type.Boolean({
          description: "True if only one owner, for emergencies, can log in with a password.",
        }),
      }),
      handle: async () => ({
        isConfigured: parts.signOn !== null,
        isRequired: (parts.signOn?.settings.onlyLocalOwner ?? null) !== null,
      }),
    }),
    startOperation(parts, guard),
    finishOperation(parts, guard),
  ];
}

const CODES = Object.entries(SIGN_ON_FAILURES).map(([code, reason]) => `- \`${code}\`: ${reason}`);

function startOperation({ control, cellNamed, signOn: provider }: ManageParts, guard: Guard): Operation {
  return redirectOperation({
    method: "GET",
    path: "/manage/v1/session/oidc",
    access: "anyone",
    id: "startSignOn",
    noun: NOUN,
    summary: "Start single sign-on",
    description:
      "For browsers. Redirects to the provider. If that is not possible, or if another site opened this address, redirects to the " +
      "login page.",
    query: strictObject({
      next: Type.Optional(
        Type.String({
          description:
            "The dashboard path to open after the login, of at most 1,000 characters. Other values are ignored.",
          examples: ["/projects/1/live"],
        }),
      ),
    }),
    codes: ["not_found"],
    handle: async ({ request, reply, query }) => {
      const chosen = requireProvider(provider);
      const returnPath = readReturnPath(query.next);
      const back = (code: SignOnFailure | null) => pageWith(LOG_IN_PAGE, code, returnPath);
      if (!isOwnNavigation(request)) return back(null);
      if (!guard.admitsStart(request)) return back("too_many_attempts");
      if ((await single(cellNamed(MAIN_CELL), readDataFormat)) < DATA_FORMAT)
        return back("upgrade_unfinished");
      const started = await startAttempt(control, chosen, { returnPath, memberId: null, sessionHash: null });
      if (started.kind === "failed") {
        logFailure(request, started);
        return back(started.code);
      }
      setAttemptCookie(reply, started.token, ATTEMPT_SECONDS);
      return started.url;
    },
  });
}

function finishOperation(
  { control, sessions, signOn: provider, failedLogIns }: ManageParts,
  guard: Guard,
): Operation {
  return redirectOperation({
    method: "GET",
    path: CALLBACK_PATH,
    access: "anyone",
    id: "finishSignOn",
    noun: NOUN,
    summary: "Finish single sign-on",
    description:
      "The redirect URI that you register at the provider. Sets a session cookie that is valid for 12 hours, and redirects to the " +
      `dashboard. If the sign-in fails, the login page gets the reason in \`problem\`:\n\n${CODES.join("\n")}`,
    // Providers add parameters of their own.
    query: Type.Object({
      code: Type.Optional(Type.String({ examples: ["SplxlOBeZQQYbYS6WxSbIA"] })),
      state: Type.Optional(Type.String({ examples: ["af0ifjsldkj"] })),
      error: Type.Optional(Type.String({ examples: ["access_denied"] })),
    }),
    codes: ["not_found"],
    handle: async ({ request, reply }) => {
      const chosen = requireProvider(provider);
      const token = readAttemptCookie(request);
      const attempt = token === null ? null : await endAttempt(control, token);
      if (attempt === null && !guard.admitsStray(request))
        return pageWith(LOG_IN_PAGE, "too_many_attempts", "/");
      clearAttemptCookie(reply);
      const fail = (code: SignOnFailure, person: Person | null, cause: string = SIGN_ON_FAILURES[code]) => {
        logFailure(request, { code, cause });
        // The response does not wait for the database, which may be the reason for the failure.
        findEmail(control, attempt?.memberId ?? null, person)
          .catch(() => null)
          .then((email) =>
            failedLogIns.record(
              "member.sign_on_failed",
              email ?? "",
              visitOf(request),
              performance.now(),
              code,
            ),
          )
          .catch((error: unknown) => request.log.error({ err: error }, "could not record a failed login"));
        const isConnecting = attempt !== null && attempt.memberId !== null;
        return pageWith(isConnecting ? PROFILE_PAGE : LOG_IN_PAGE, code, attempt?.returnPath ?? "/");
      };
      if (attempt === null) return fail("attempt_invalid", null);
      const identified = await chosen.identify(queryOf(request), attempt);
      if (identified.kind === "failed") return fail(identified.code, null, identified.cause);
      const { person } = identified;
      const { memberId, sessionHash, returnPath } = attempt;
      const cookie = readSessionCookie(request);
      if (memberId === null || sessionHash === null) {
        const previous = cookie === null ? null : hashSecret(cookie);
        const outcome = await signOn(control, chosen.settings, person, { ...visitOf(request), previous });
        if (outcome.kind === "failed") return fail(outcome.code, person);
        setSessionCookie(reply, outcome.sessionToken, SIGNED_ON_SESSION_SECONDS);
        await knowDevice(control, { request, reply }, outcome.memberId);
        return returnPath;
      }
      if (cookie === null || !hashSecret(cookie).equals(sessionHash)) return fail("attempt_invalid", null);
      // Sessions can end while the person is at the provider: by a setting, after the idle timeout, or for lack of a second factor.
      if ((await sessions.find(cookie, addressOf(request)))?.id !== memberId)
        return fail("attempt_invalid", null);
      const connecting = { memberId, sessionHash, requestId: request.id };
      const outcome = await connectAccount(control, chosen.settings, person, connecting);
      return outcome.kind === "failed" ? fail(outcome.code, person) : returnPath;
    },
  });
}

function queryOf({ url }: FastifyRequest): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

/**
 * The email for the audit log: that of the member who connects an account, or who has connected this one. Otherwise the person's, if it is
 * verified, because anyone can write any address into a profile.
 */
async function findEmail(
  control: Pool,
  connectingId: number | null,
  person: Person | null,
): Promise<string | null> {
  if (connectingId === null && person === null) return null;
  return single(control, async (tx) => {
    const memberId = connectingId ?? (person && (await findMemberOfIdentity(tx, person)));
    if (memberId !== null) return (await findMemberById(tx, memberId))?.email ?? null;
    return person?.isEmailVerified === true ? person.email : null;
  });
}

/** The provider, or a problem if single sign-on is not set up. */
export function requireProvider(provider: Provider | null): Provider {
  if (provider !== null) return provider;
  throw new Problem("not_found", { detail: "Single sign-on is not set up. Set `OIDC_ISSUER`." });
}

/** Starts connecting an account in an open session, and returns the provider's URL. */
export async function startConnecting(
  { control, cellNamed, provider }: Pick<ManageParts, "control" | "cellNamed"> & { provider: Provider },
  { request, reply }: Pick<Call, "request" | "reply">,
  { memberId, sessionHash }: { memberId: number; sessionHash: Buffer },
): Promise<string> {
  await single(cellNamed(MAIN_CELL), (tx) =>
    refuseUnfinishedUpgrade(tx, { feature: "Single sign-on", dataFormat: DATA_FORMAT }),
  );
  if ((await single(control, (tx) => findProof(tx, sessionHash))) === null)
    throw refusedChange("log_in_again");
  const returnPath = `${PROFILE_PAGE}?connected=true`;
  const started = await startAttempt(control, provider, {
    returnPath,
    memberId,
    sessionHash,
  });
  if (started.kind === "failed") {
    logFailure(request, started);
    throw new Problem("unavailable", { detail: `Single sign-on failed: ${SIGN_ON_FAILURES[started.code]}.` });
  }
  setAttemptCookie(reply, started.token, ATTEMPT_SECONDS);
  return started.url;
}

/** Never logs a code, token or cookie. */
function logFailure(request: FastifyRequest, { code, cause }: { code: SignOnFailure; cause: string }): void {
  request.log.warn({ requestId: request.id, code, cause }, "single sign-on failed");
}

/**
 * Whether the person began the sign-in here or entered the address. Another site can make a browser load or open this path, and the
 * provider may return without a click. That would replace the session, and could end tokens by the role claim.
 */
function isOwnNavigation({ headers }: FastifyRequest): boolean {
  const { "sec-fetch-dest": purpose = "document", "sec-fetch-site": site = "none" } = headers;
  return purpose === "document" && (site === "same-origin" || site === "none");
}

/** A page of the dashboard that shows why the sign-in failed, and continues to `next` after a login. */
function pageWith(page: string, problem: SignOnFailure | null, next: string): string {
  const search = new URLSearchParams({
    ...(problem === null ? {} : { problem }),
    ...(next === "/" || page !== LOG_IN_PAGE ? {} : { next }),
  });
  return search.size === 0 ? page : `${page}?${search}`;
}
