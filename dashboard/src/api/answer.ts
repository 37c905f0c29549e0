import type { operations } from "./manage.gen.d.ts";

type Ok<R> = R extends { 200: { content: { "application/json": infer Body } } }
  ? Body
  : R extends { 201: { content: { "application/json": infer Body } } }
    ? Body
    : never;

/** Response body of an operation, by operation ID: `Answer<"readCustomer">`. */
export type Answer<Name extends keyof operations> = Ok<operations[Name]["responses"]>;

/** One item of a list response: `Item<"listCustomers">`. */
export type Item<Name extends keyof operations> =
  Answer<Name> extends { items: readonly (infer Line)[] } ? Line : never;

/** Request body of an operation. */
export type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody?: { content: { "application/json": infer Wanted } };
}
  ? Wanted
  : never;

export const ENVIRONMENTS = ["test", "live"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** The project and environment, which are in the path of most calls. */
export type Scope = { readonly projectId: string; readonly environment: Environment };

/** Drops the other route parameters, so that equal scopes give equal query keys. */
export function scopeOf({ projectId, environment }: Scope): Scope {
  return { projectId, environment };
}
