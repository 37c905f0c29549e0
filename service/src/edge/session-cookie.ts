import "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

/** `__Host-` makes browsers insist on Secure, on this very host, and on the whole path. */
const NAME = "__Host-purser_session";
export const SESSION_SECONDS = 14 * 24 * 3_600;

/** Outlives sessions and opens nothing: it only tells a browser that logged in before from strangers who guess. */
const DEVICE_NAME = "__Host-purser_device";
/** After its last log-in. Browsers keep no cookie longer than 400 days. */
export const DEVICE_SECONDS = 365 * 24 * 3_600;

export function readSessionCookie(request: FastifyRequest): string | null {
  return request.cookies[NAME] ?? null;
}

export function setSessionCookie(reply: FastifyReply, token: string): void {
  reply.setCookie(NAME, token, {
    path: "/",
    secure: true,
    httpOnly: true,
    sameSite: "lax",
    maxAge: SESSION_SECONDS,
  });
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(NAME, { path: "/", secure: true, httpOnly: true, sameSite: "lax" });
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
