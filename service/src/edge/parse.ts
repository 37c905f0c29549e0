import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { Problem } from "./problem.ts";
import { parseStrictJson } from "./strict-json.ts";

export const BODY_BYTES_MAX = 64 * 1024;
/** Of a route that anyone may call: what a stranger sends is parsed before they are known. */
export const ANONYMOUS_BODY_BYTES_MAX = 4 * 1024;

/** Only `application/json`, only valid UTF-8, and only JSON with one meaning. */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body: Buffer, done) => {
    // A decoder would replace broken bytes, and two different bodies would become one.
    if (!isUtf8(body)) {
      done(new Problem("invalid_json", { detail: "The body is not valid UTF-8." }));
      return;
    }
    const parsed = parseStrictJson(body.toString("utf8"));
    if (parsed.kind === "value") done(null, parsed.value);
    else done(new Problem("invalid_json", { detail: parsed.why }));
  });
}
