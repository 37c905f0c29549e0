import type { QueryResult } from "pg";

/** One SQL statement, prepared once per connection under its name. Rows come back as arrays, in column order. */
export type Statement = {
  readonly name: string;
  readonly text: string;
};

export type Parameter = string | number | boolean | Buffer | null | readonly (string | number)[];

/** What a statement needs to run in: a transaction. Only operations open one; the store only uses it. */
export type Tx = {
  run(statement: Statement, parameters?: readonly Parameter[]): Promise<Rows>;
  /** What its connection came from: what a process keeps in memory of a database is kept by that. */
  readonly source: object;
};

export type Rows = {
  readonly rows: readonly (readonly unknown[])[];
  readonly rowCount: number;
};

/** The name goes into the text too, so that `pg_stat_activity` tells which statement a session is in. */
export function statement(name: string, text: string): Statement {
  return { name, text: `/* ${name} */ ${text.trim()}` };
}

export function toRows(result: QueryResult): Rows {
  return { rows: result.rows, rowCount: result.rowCount ?? 0 };
}
