// Parses URL search parameters. Invalid values are dropped, because users can edit the URL.

type Reader<T> = (value: unknown) => T | undefined;
type Schema = Readonly<Record<string, Reader<unknown>>>;

/** The parsed search parameters of a schema. */
export type SearchOf<S extends Schema> = { [Name in keyof S]?: NonNullable<ReturnType<S[Name]>> };

/** For a route's `validateSearch`: `searchOf({ plan: text(), show: choice(["all"]) })`. */
export function searchOf<const S extends Schema>(schema: S) {
  return (search: Record<string, unknown>): SearchOf<S> => {
    const read = Object.entries(schema).map(([name, reader]) => [name, reader(search[name])] as const);
    // Each value was read by its own reader, so it has the type of the schema.
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as SearchOf<S>;
  };
}

/** The router parses 42 as a number, but a customer ID can be 42. */
export function text(lengthMax = 255, pattern = /^/): Reader<string> {
  return (value) => {
    const said = typeof value === "string" || typeof value === "number" ? String(value) : "";
    return said !== "" && said.length <= lengthMax && pattern.test(said) ? said : undefined;
  };
}

export function choice<const T>(choices: readonly T[]): Reader<T> {
  return (value) => choices.find((known) => known === value);
}

export function whole(least = 0): Reader<number> {
  return (value) => {
    const said = /^\d{1,15}$/.test(String(value)) ? Number(value) : -1;
    return said >= least ? said : undefined;
  };
}
