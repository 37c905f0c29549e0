import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { Problem } from "./problem.ts";

export const BODY_BYTES_MAX = 64 * 1024;

/** Only `application/json`, only valid UTF-8, and no `__proto__` to poison an object with. */
export function acceptOnlyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    // A decoder would replace broken bytes, and two different bodies would become one.
    if (!isUtf8(body)) {
      done(new Problem("invalid_json", { detail: "The body is not valid UTF-8." }));
      return;
    }
    const text = body.toString("utf8");
    parse(request, text, (error, value) => {
      if (error === null) done(null, value);
      else done(new Problem("invalid_json", { detail: explain(text) }));
    });
  });
}

function explain(text: string): string {
  if (text === "") return "The body is empty; send a JSON object.";
  return isPlainJson(text)
    ? "The body holds a key such as `__proto__`, which is not accepted."
    : "The body could not be parsed as JSON.";
}

function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
