import type { FastifyInstance } from "fastify";
import { isStorableText, UNSTORABLE_TEXT } from "../primitives/storable-text.ts";
import { describe } from "./errors.ts";
import { Problem } from "./problem.ts";

const PATH_LENGTH_MAX = 200;

/**
 * Rejects strings that PostgreSQL cannot store, in any field. Runs after validation, so that a body that fails validation is not
 * searched.
 */
export function refuseUnstorableText(app: FastifyInstance): void {
  app.addHook("preHandler", (request, _reply, done) => {
    const field =
      findUnstorable(request.params) ?? findUnstorable(request.query) ?? findUnstorable(request.body);
    if (field === null) return done();
    const error = { field, code: "wrong_form", message: UNSTORABLE_TEXT };
    done(new Problem("invalid_request", { detail: describe([error]), errors: [error] }));
  });
}

type Value = Readonly<Record<string, unknown>>;
type Node = { readonly value: Value; readonly name: string; readonly parent: Node | null };

/** Returns the path of the first string that cannot be stored, or null. Not recursive, because a body can have thousands of levels. */
function findUnstorable(value: unknown): string | null {
  if (typeof value === "string") return isStorableText(value) ? null : "";
  if (!isObject(value)) return null;
  const rest: Node[] = [{ value, name: "", parent: null }];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    for (const name in node.value) {
      const member = node.value[name];
      if (!isStorableText(name)) return pathOf(node);
      if (typeof member === "string" && !isStorableText(member))
        return pathOf({ value: {}, name, parent: node });
      if (isObject(member)) rest.push({ value: member, name, parent: node });
    }
  }
  return null;
}

/** Builds the path of a node. Truncates it if the body is deeply nested. */
function pathOf(node: Node): string {
  const names: string[] = [];
  for (let next: Node | null = node; next?.parent != null; next = next.parent) names.push(next.name);
  return names.reverse().join(".").slice(0, PATH_LENGTH_MAX).toWellFormed();
}

function isObject(value: unknown): value is Value {
  return typeof value === "object" && value !== null;
}
