import type { Instant } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { bigints, hexUuids, integers, smallints, texts, timestamps, uuids } from "./binary-array.ts";
import { type Parameter, type Rows, type Statement, statement, type Tx } from "./statement.ts";

/** A column of the rows to insert, and how its values are sent. */
type InsertColumn<R> = {
  readonly name: string;
  /** The type of the sent values, and a cast if the column's type differs. */
  readonly type: string;
  readonly cast: string;
  readonly encode: (rows: readonly R[], recordedAt: Instant) => Parameter;
};

/** Describes columns. Each has a name, and a function that returns its value for a row and its recording time. */
export function columnsOf<R>() {
  const column =
    <T>(type: string, encode: (values: readonly T[]) => Parameter, cast = "") =>
    (name: string, of: (row: R, recordedAt: Instant) => T): InsertColumn<R> => ({
      ...{ name, type, cast },
      encode: (rows, recordedAt) => encode(rows.map((row) => of(row, recordedAt))),
    });
  return {
    bigint: column<number | null>("bigint", bigints),
    integer: column<number | null>("integer", integers),
    smallint: column<number | null>("smallint", smallints),
    text: column<string | null>("text", texts),
    jsonb: column<string | null>("text", texts, "::jsonb"),
    timestamp: column<Instant | null>("timestamptz", timestamps),
    uuid: column<Buffer>("uuid", uuids),
    hexUuid: column<string | null>("uuid", hexUuids),
  };
}

/**
 * Inserts many rows into a table of `cell`, with `unnest` of one array per column. If no row has a value in any `rare` column,
 * omits all `rare` columns, because each array costs time in Purser and in PostgreSQL.
 */
export class Insert<R> {
  readonly #columns: readonly InsertColumn<R>[];
  readonly #usual: readonly InsertColumn<R>[];
  readonly #hasRare: (row: R, recordedAt: Instant) => boolean;
  readonly #whole: Statement;
  readonly #plain: Statement;

  constructor(
    name: string,
    table: string,
    columns: {
      readonly usual: readonly InsertColumn<R>[];
      readonly rare: readonly InsertColumn<R>[];
      readonly hasRare: (row: R, recordedAt: Instant) => boolean;
    },
  ) {
    this.#usual = columns.usual;
    this.#columns = [...columns.usual, ...columns.rare];
    this.#hasRare = columns.hasRare;
    this.#whole = insertStatement(name, table, this.#columns);
    this.#plain = insertStatement(`${name}_plain`, table, this.#usual);
  }

  /** Inserts the rows. All have the same `recordedAt`. */
  run(tx: Tx, rows: readonly R[], recordedAt: Instant): Promise<Rows> {
    const isPlain = !rows.some((row) => this.#hasRare(row, recordedAt));
    const values = (isPlain ? this.#usual : this.#columns).map(({ encode }) => encode(rows, recordedAt));
    return tx.run(isPlain ? this.#plain : this.#whole, [formatTimestamp(recordedAt), ...values]);
  }
}

function insertStatement<R>(name: string, table: string, columns: readonly InsertColumn<R>[]): Statement {
  const names = columns.map((column) => column.name).join(", ");
  return statement(
    name,
    `
  insert into cell.${table} (recorded_at, ${names})
  select $1::timestamptz, ${columns.map((column) => `r.${column.name}${column.cast}`).join(", ")}
  from unnest(${columns.map(({ type }, index) => `$${index + 2}::${type}[]`).join(", ")})
    as r (${names})`,
  );
}
