import type { FastifyRequest } from "fastify";
import { addressOf } from "../../edge/guard.ts";
import { readDeviceCookie, setDeviceCookie, setSessionCookie } from "../../edge/session-cookie.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Call } from "../operation.ts";
import { describeMe, type Identity } from "./describe-member.ts";
import { rememberDevice, type Visit } from "./sign-in.ts";

/** Sends the cookie of a new session, remembers the device, and returns the body of the response. */
export async function replyWithSession(
  control: Pool,
  { request, reply }: Pick<Call, "request" | "reply">,
  { member, sessionToken }: { member: Omit<Identity, "kind">; sessionToken: string },
) {
  setSessionCookie(reply, sessionToken);
  await knowDevice(control, { request, reply }, member.id);
  return describeMe({ kind: "member", ...member });
}

const USER_AGENT_LENGTH_MAX = 200;

export function visitOf(request: FastifyRequest): Visit {
  const userAgent = (request.headers["user-agent"] ?? "").slice(0, USER_AGENT_LENGTH_MAX);
  return { requestId: request.id, address: addressOf(request), userAgent };
}

/**
 * Remembers the device, so that failed attempts from other devices do not block this browser. If the device cannot be stored, the
 * login still succeeds.
 */
export async function knowDevice(
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
