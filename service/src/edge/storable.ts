import type { FastifyInstance } from "fastify";
import { describe } from "./errors.ts";
import { Problem } from "./problem.ts";

const PATH_LENGTH_MAX = 200;

/** PostgreSQL stores no NUL, and a lone surrogate is no text at all: refused wherever they stand. */
export function refuseUnstorableText(app: FastifyInstance): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const field =
      findUnstorable(request.params) ?? findUnstorable(request.query) ?? findUnstorable(request.body);
    if (field === null) return done();
    const error = { field, code: "wrong_form", message: "holds a NUL or a lone surrogate" };
    done(new Problem("invalid_request", { detail: describe([error]), errors: [error] }));
  });
}

/** The path of one such text; null when there is none. Without recursion: a body may be nested as deep as it is long. */
function findUnstorable(value: unknown): string | null {
  const rest: { value: unknown; path: string }[] = [{ value, path: "" }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { path } = next;
    if (typeof next.value === "string" && !isStorable(next.value)) return path;
    if (typeof next.value !== "object" || next.value === null) continue;
    for (const [key, member] of Object.entries(next.value)) {
      if (!isStorable(key)) return path;
      // A path that nobody would read to its end is not worth the memory of a deep body.
      rest.push({
        value: member,
        path: path.length > PATH_LENGTH_MAX ? path : path === "" ? key : `${path}.${key}`,
      });
    }
  }
  return null;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
