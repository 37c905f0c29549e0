import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { assert } from "../../primitives/assert.ts";

/** What a caller says about the state that their edit is meant for. */
export type Preconditions = { readonly ifMatch: string | null; readonly ifNoneMatch: string | null };

export type PreconditionFailure = { readonly kind: "changed_meanwhile" | "precondition_required" };

export const preconditionHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      description: "The `ETag` of what you read: another one's edit in between makes this a 412.",
      examples: ['"5f1d…"'],
    }),
  ),
  "if-none-match": Type.Optional(
    Type.String({ description: "`*`: only if there is none yet.", examples: ["*"] }),
  ),
});

/**
 * Of what an edit of the thing itself could change, and of nothing that others say about it: a plan that takes up a
 * feature must not make an edit of that feature fail.
 */
export function etagOf(content: object): string {
  const canonical = canonicalize(content);
  assert(canonical !== undefined, "an object has a canonical form");
  return etagOfText(canonical);
}

/** Of what is always written in one order: to find a canonical form takes seconds where there are 200,000 objects. */
export function etagOfText(text: string): string {
  return `"${hash("sha256", text, "hex")}"`;
}

export function readPreconditions({ headers }: FastifyRequest): Preconditions {
  return { ifMatch: headers["if-match"] ?? null, ifNoneMatch: headers["if-none-match"] ?? null };
}

/**
 * RFC 9110, section 13. To be asked after the lock, or two editors would both find what they expect. `etag` is of what
 * there is now, null where there is nothing; `isReplaced` tells whether the edit would overwrite somebody's work.
 */
export function judgePreconditions(
  { ifMatch, ifNoneMatch }: Preconditions,
  { etag, isReplaced }: { readonly etag: string | null; readonly isReplaced: boolean },
): PreconditionFailure | null {
  if (ifNoneMatch !== null && isReplaced && names(ifNoneMatch, etag)) return { kind: "changed_meanwhile" };
  if (ifMatch !== null) return names(ifMatch, etag) ? null : { kind: "changed_meanwhile" };
  return isReplaced && ifNoneMatch === null ? { kind: "precondition_required" } : null;
}

function names(header: string, etag: string | null): boolean {
  if (etag === null) return false;
  return header.trim() === "*" || header.split(",").some((part) => part.trim() === etag);
}

export function preconditionProblem({ kind }: PreconditionFailure): Problem {
  return new Problem(kind, {
    detail:
      kind === "changed_meanwhile"
        ? "It was changed since. Read it again, then decide again."
        : "Read it first, and send its `ETag` as `If-Match`, so that nobody's work is overwritten unseen.",
  });
}
