import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { assert } from "../../primitives/assert.ts";

/** The state that the caller's edit is based on. */
export type Preconditions = { readonly ifMatch: string | null; readonly ifNoneMatch: string | null };

export type PreconditionFailure = { readonly kind: "changed_meanwhile" | "precondition_required" };

export const preconditionHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      description: "The `ETag` you read. If the resource has changed since, the call returns 412.",
      examples: ['"5f1d…"'],
    }),
  ),
  "if-none-match": Type.Optional(
    Type.String({
      description: "`*` creates the resource, but never replaces an existing one.",
      examples: ["*"],
    }),
  ),
});

/**
 * The ETag of an item. It covers only fields that an edit to the item itself can change. For example, adding a feature to a plan must
 * not change the feature's ETag.
 */
export function etagOf(content: object): string {
  const canonical = canonicalize(content);
  assert(canonical !== undefined, "an object has a canonical form");
  return etagOfText(canonical);
}

/** The ETag of a document that is already sorted. Canonicalizing a document with 200,000 objects would take seconds. */
export function etagOfText(text: string): string {
  return `"${hash("sha256", text, "hex")}"`;
}

export function readPreconditions({ headers }: FastifyRequest): Preconditions {
  return { ifMatch: headers["if-match"] ?? null, ifNoneMatch: headers["if-none-match"] ?? null };
}

/**
 * Checks the preconditions of RFC 9110, section 13. Call this function while holding the catalog lock, because otherwise two concurrent
 * edits could both pass. `etag` identifies the current state, and is null if the item does not exist. `isReplaced` is true if the edit
 * would overwrite existing work.
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
        ? "The resource has changed since you read it. Read it again before you edit it."
        : "Read the resource first and send its `ETag` as `If-Match`, so that you do not overwrite another edit.",
  });
}
