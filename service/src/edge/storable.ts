import type { FastifyInstance } from "fastify";
import { describe } from "./errors.ts";
import { Problem } from "./problem.ts";

const PATH_LENGTH_MAX = 200;

/**
 * PostgreSQL stores no NUL, and a lone surrogate is no text at all: refused wherever they stand. After validation: what no
 * schema admits is refused without a walk over all of it.
 */
export function refuseUnstorableText(app: FastifyInstance): void {
  app.addHook("preHandler", (request, _reply, done) => {
    const field =
      findUnstorable(request.params) ?? findUnstorable(request.query) ?? findUnstorable(request.body);
    if (field === null) return done();
    const error = { field, code: "wrong_form", message: "holds a NUL or a lone surrogate" };
    done(new Problem("invalid_request", { detail: describe([error]), errors: [error] }));
  });
}

type Value = Readonly<Record<string, unknown>>;
type Node = { readonly value: Value; readonly name: string; readonly parent: Node | null };

/** The path of one such text; null when there is none. Without recursion: a body may be nested as deep as it is long. */
function findUnstorable(value: unknown): string | null {
  if (typeof value === "string") return isStorable(value) ? null : "";
  if (!isObject(value)) return null;
  const rest: Node[] = [{ value, name: "", parent: null }];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    for (const name in node.value) {
      const member = node.value[name];
      if (!isStorable(name)) return pathOf(node);
      if (typeof member === "string" && !isStorable(member)) return pathOf({ value: {}, name, parent: node });
      if (isObject(member)) rest.push({ value: member, name, parent: node });
    }
  }
  return null;
}

/** Made when it is needed. Nobody would read that of a deep body to its end. */
function pathOf(node: Node): string {
  const names: string[] = [];
  for (let next: Node | null = node; next?.parent != null; next = next.parent) names.push(next.name);
  return names.reverse().join(".").slice(0, PATH_LENGTH_MAX).toWellFormed();
}

function isObject(value: unknown): value is Value {
  return typeof value === "object" && value !== null;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
