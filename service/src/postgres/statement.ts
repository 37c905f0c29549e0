import type { QueryResult } from "pg";

/** A SQL statement, prepared once per connection under its name. Rows are arrays in column order. */
export type Statement = {
  readonly name: string;
  readonly text: string;
};

export type Parameter = string | number | boolean | Buffer | null | readonly (string | number)[];

/** Runs statements in a transaction. Operations open transactions and pass them to the store. */
export type Tx = {
  run(statement: Statement, parameters?: readonly Parameter[]): Promise<Rows>;
  /** The pool or session of the connection. Caches use it to identify the database. */
  readonly source: object;
};

export type Rows = {
  readonly rows: readonly (readonly unknown[])[];
  readonly rowCount: number;
};

/** Adds the name to the text as a comment, so that `pg_stat_activity` shows it. */
export function statement(name: string, text: string): Statement {
  return { name, text: `/* ${name} */ ${text.trim()}` };
}

export function toRows(result: QueryResult): Rows {
  return { rows: result.rows, rowCount: result.rowCount ?? 0 };
}
