import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import type { Parameter, Rows, Tx } from "../postgres/statement.ts";
import { assert } from "../words/assert.ts";
import type { CellTables } from "./cell/tables.ts";

/**
 * Builds the lists and searches of the management API, whose filters come and go. It connects to nothing: what it builds
 * runs in a transaction of ours like any other statement, planned anew each time for the filters it has.
 */
export const query = new Kysely<CellTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** `name` stands in the text, so that `pg_stat_activity` tells which list a session is at. */
export function runQuery(tx: Tx, name: string, built: { compile(): CompiledQuery }): Promise<Rows> {
  const { sql, parameters } = built.compile();
  return tx.run({ name: "", text: `/* ${name} */ ${sql}` }, parameters.map(toParameter));
}

function toParameter(value: unknown): Parameter {
  assert(
    value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean",
    "a list filters by plain values",
  );
  return value;
}
