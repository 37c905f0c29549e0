import type { operations } from "./manage.gen.d.ts";

type Ok<R> = R extends { 200: { content: { "application/json": infer Body } } }
  ? Body
  : R extends { 201: { content: { "application/json": infer Body } } }
    ? Body
    : never;

/** What an operation answers, by its name in the contract: `Answer<"readCustomer">`. */
export type Answer<Name extends keyof operations> = Ok<operations[Name]["responses"]>;

/** One line of a list: `Item<"listCustomers">`. */
export type Item<Name extends keyof operations> =
  Answer<Name> extends { items: readonly (infer Line)[] } ? Line : never;

/** What an operation takes as its body. */
export type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody?: { content: { "application/json": infer Wanted } };
}
  ? Wanted
  : never;

export type Environment = "test" | "live";

/** Where most things are: the path parameters that nearly every call begins with. */
export type Place = { readonly projectId: string; readonly environment: Environment };

/** A route's own parameters are more than a place: a key made of them would be nobody else's. */
export function placeOf({ projectId, environment }: Place): Place {
  return { projectId, environment };
}
