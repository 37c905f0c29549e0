import { type Brand, brandAs, type Instant } from "../primitives/brand.ts";
import { readBoolean, readBytes, readInstant, readInteger, readText } from "./column.ts";
import type { Parameter, Statement, Tx } from "./statement.ts";

// A row description has the SQL of each field, and the function that reads its value.

/** Adjacent columns, and the value read from them. */
export type Part<T> = {
  readonly columns: readonly string[];
  readonly readAt: (row: readonly unknown[], start: number) => T;
};

type Description<T> = Part<T> & {
  /** The select list, which other columns may follow. */
  readonly list: string;
  readonly read: (row: readonly unknown[]) => T;
};

export type RowOf<P extends Part<unknown>> = ReturnType<P["readAt"]>;

type Fields = Readonly<Record<string, Part<unknown>>>;

/** Describes a row by its fields, in select order. A field can be another row description. */
export function describeRow<F extends Fields>(
  fields: F,
): Description<{ readonly [K in keyof F]: RowOf<F[K]> }> {
  let width = 0;
  const places = Object.entries(fields).map(([name, part]) => {
    const offset = width;
    width += part.columns.length;
    return { name, part, offset };
  });
  const readAt = (row: readonly unknown[], start: number) => {
    const described: Record<string, unknown> = {};
    for (const { name, part, offset } of places) described[name] = part.readAt(row, start + offset);
    return described as { readonly [K in keyof F]: RowOf<F[K]> };
  };
  const columns = Object.values(fields).flatMap((part) => part.columns);
  return { columns, readAt, list: columns.join(",\n    "), read: (row) => readAt(row, 0) };
}

export function column<T>(read: (value: unknown) => T, sql: string): Part<T> {
  return { columns: [sql], readAt: (row, start) => read(row[start]) };
}

/** Null if the first column is null. A null in any other column throws. */
export function orNull<T>({ columns, readAt }: Part<T>): Part<T | null> {
  return { columns, readAt: (row, start) => (row[start] === null ? null : readAt(row, start)) };
}

export function derive<T, U>({ columns, readAt }: Part<T>, to: (value: T) => U): Part<U> {
  return { columns, readAt: (row, start) => to(readAt(row, start)) };
}

export const integer = (sql: string): Part<number> => column(readInteger, sql);
export const text = (sql: string): Part<string> => column(readText, sql);
export const bytes = (sql: string): Part<Buffer> => column(readBytes, sql);
export const boolean = (sql: string): Part<boolean> => column(readBoolean, sql);
export const uuid = (sql: string): Part<Buffer> => column(readBytes, `uuid_send(${sql})`);
export const hexUuid = (sql: string): Part<string> => column(readText, `encode(uuid_send(${sql}), 'hex')`);
export const instant = (sql: string): Part<Instant> =>
  column(readInstant, `(extract(epoch from ${sql}) * 1000)::bigint`);

/** A branded number, such as `EnvironmentId`. */
export const id = <B extends Brand<number, string>>(sql: string): Part<B> =>
  column((value) => brandAs<B>(readInteger(value) as B extends string ? string : number), sql);

/** An array of texts. */
export const textList = (sql: string): Part<readonly string[]> =>
  column((value) => JSON.parse(readText(value)), `array_to_json(${sql})::text`);

/** A JSON object. */
export const json = (sql: string): Part<Readonly<Record<string, unknown>>> =>
  column((value) => JSON.parse(readText(value)), `${sql}::text`);

export async function listRows<T>(
  tx: Tx,
  statement: Statement,
  parameters: readonly Parameter[],
  { readAt }: Part<T>,
): Promise<T[]> {
  const { rows } = await tx.run(statement, parameters);
  return rows.map((row) => readAt(row, 0));
}

export async function findRow<T>(
  tx: Tx,
  statement: Statement,
  parameters: readonly Parameter[],
  part: Part<T>,
): Promise<T | null> {
  return (await listRows(tx, statement, parameters, part))[0] ?? null;
}

export async function getRow<T>(
  tx: Tx,
  statement: Statement,
  parameters: readonly Parameter[],
  part: Part<T>,
): Promise<T> {
  const row = await findRow(tx, statement, parameters, part);
  if (row === null) throw new Error(`${statement.name} found no row`);
  return row;
}
