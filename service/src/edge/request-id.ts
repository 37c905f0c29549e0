import type { IncomingMessage } from "node:http";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { publicId } from "../primitives/public-id.ts";
import { uuidV7 } from "../primitives/uuid.ts";

const FORM = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/**
 * Uses the caller's `X-Request-Id` if it is well-formed, so that the caller's log and Purser's log have the same ID. Otherwise
 * creates an ID.
 */
export function chooseRequestId(request: IncomingMessage | { headers: IncomingMessage["headers"] }): string {
  const given = request.headers["x-request-id"];
  if (typeof given === "string" && FORM.test(given)) return given;
  return publicId("req", uuidV7(brandAs<Instant>(Date.now())));
}
