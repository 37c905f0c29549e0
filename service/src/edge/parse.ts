import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { Problem } from "./problem.ts";
import { parseStrictJson } from "./strict-json.ts";

export const BODY_BYTES_MAX = 64 * 1024;
/** For public routes, whose bodies are parsed before the caller is authenticated. */
export const ANONYMOUS_BODY_BYTES_MAX = 4 * 1024;

/** Accepts only `application/json`, valid UTF-8, and JSON without duplicate names. */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body: Buffer, done) => {
    // A decoder would replace invalid bytes, so two different bodies could become equal.
    if (!isUtf8(body)) {
      done(new Problem("invalid_json", { detail: "The body is not valid UTF-8." }));
      return;
    }
    const parsed = parseStrictJson(body.toString("utf8"));
    if (parsed.kind === "value") done(null, parsed.value);
    else done(new Problem("invalid_json", { detail: parsed.why }));
  });
}
