import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectTo, createDatabase, type TestDatabase } from "../../test/harness.ts";
import { migrate } from "../postgres/migrate.ts";

const GUIDE = join(import.meta.dirname, "../../../docs/operations/upgrade.md");
const LAST =
  "delete from cell.migrations where number >= 45; drop index cell.audit_collapsed, cell.audit_started";

function listIndexes(database: TestDatabase): Promise<Record<string, unknown>[]> {
  return database.query(
    `select indexrelid::text as id, pg_get_indexdef(indexrelid) as definition, indisvalid
     from pg_index where indrelid = 'cell.audit'::regclass order by definition`,
  );
}

test("indexes that were built as the upgrade guide says are the migration's own, and are kept", async () => {
  const database = await createDatabase();
  const own = await listIndexes(database);
  await database.query(LAST);
  const [, sql = ""] = /```sql\n([^`]+)```/.exec(await readFile(GUIDE, "utf8")) ?? [];
  // Each in its own transaction, as in psql.
  const statements = sql.split(";").filter((text) => text.trim() !== "");
  const results = [];
  for (const text of statements) results.push(await database.query(text));
  expect(results.at(-1)).toEqual([
    { index: "cell.audit_collapsed", indisvalid: true },
    { index: "cell.audit_started", indisvalid: true },
  ]);
  const built = await listIndexes(database);
  await migrate(await connectTo(database));
  expect(await listIndexes(database)).toEqual(built);
  const withoutId = ({ id: _, ...index }: Record<string, unknown>) => index;
  expect(built.map(withoutId)).toEqual(own.map(withoutId));
});

test("an index whose build was interrupted stops the migration, which succeeds after it is dropped", async () => {
  const database = await createDatabase();
  await database.query(LAST);
  await database.query(
    `create index audit_collapsed on cell.audit (environment_id, id) where after -> 'inBulk' is null;
     update pg_index set indisvalid = false where indexrelid = 'cell.audit_collapsed'::regclass`,
  );
  const client = await connectTo(database);
  await expect(migrate(client)).rejects.toThrow("drop it");
  expect(await database.count("cell.migrations", "number = 45")).toBe(0);
  await database.query("drop index cell.audit_collapsed");
  expect(await migrate(client)).toEqual(["cell/000045-bulk-changes-in-the-audit.sql"]);
});
