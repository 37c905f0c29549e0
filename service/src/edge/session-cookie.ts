import "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

/** For the `__Host-` prefix, browsers require Secure, no Domain, and `Path=/`. */
const NAME = "__Host-purser_session";
export const SESSION_SECONDS = 14 * 24 * 3_600;
/** Shorter, because only a sign-in checks with the provider whether the person still has access, and with which role. */
export const SIGNED_ON_SESSION_SECONDS = 12 * 3_600;

/** This cookie ties a sign-in at the provider to the browser that started it. */
const ATTEMPT_NAME = "__Host-purser_attempt";
/** Lax, because the provider's site redirects the browser back. */
const ATTEMPT_COOKIE = { path: "/", secure: true, httpOnly: true, sameSite: "lax" } as const;

/** This cookie outlives sessions but does not grant access. It only shows that this browser has logged in before. */
const DEVICE_NAME = "__Host-purser_device";
/** Lifetime, counted from the last login. Browsers keep cookies for at most 400 days. */
export const DEVICE_SECONDS = 365 * 24 * 3_600;

export function readSessionCookie(request: FastifyRequest): string | null {
  return request.cookies[NAME] ?? null;
}

export function setSessionCookie(reply: FastifyReply, token: string, seconds = SESSION_SECONDS): void {
  reply.setCookie(NAME, token, {
    path: "/",
    secure: true,
    httpOnly: true,
    sameSite: "lax",
    maxAge: seconds,
  });
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(NAME, { path: "/", secure: true, httpOnly: true, sameSite: "lax" });
}

export function readAttemptCookie(request: FastifyRequest): string | null {
  return request.cookies[ATTEMPT_NAME] ?? null;
}

export function setAttemptCookie(reply: FastifyReply, token: string, seconds: number): void {
  reply.setCookie(ATTEMPT_NAME, token, { ...ATTEMPT_COOKIE, maxAge: seconds });
}

export function clearAttemptCookie(reply: FastifyReply): void {
  reply.clearCookie(ATTEMPT_NAME, ATTEMPT_COOKIE);
}

export function readDeviceCookie(request: FastifyRequest): string | null {
  return request.cookies[DEVICE_NAME] ?? null;
}

export function setDeviceCookie(reply: FastifyReply, token: string): void {
  reply.setCookie(DEVICE_NAME, token, {
    path: "/",
    secure: true,
    httpOnly: true,
    sameSite: "strict",
    maxAge: DEVICE_SECONDS,
  });
}
