import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectTo, createDatabase, type TestDatabase } from "../../test/harness.ts";
import { migrate } from "../postgres/migrate.ts";
import { checkMigrationsCommand } from "./migrate.ts";

const GUIDE = join(import.meta.dirname, "../../../docs/operations/upgrade.md");
const REBUILD = `
  delete from cell.migrations where number >= 43;
  drop index cell.customers_search, cell.customers_shown_name, cell.audit_collapsed, cell.audit_started;
  drop index cell.open_holds_expires;
  drop table cell.deliveries, cell.notices, cell.webhooks, cell.due_plans;
  alter table cell.pools drop column low_balances;
  alter table cell.catalogs drop column notice_types`;

function listIndexes(database: TestDatabase): Promise<Record<string, unknown>[]> {
  return database.query(
    `select indexrelid::text as id, pg_get_indexdef(indexrelid) as definition, indisvalid
     from pg_index
     where indrelid in ('cell.audit'::regclass, 'cell.customers'::regclass)
     order by definition`,
  );
}

test("indexes built with the commands in the upgrade guide equal the migration's indexes, and are kept", async () => {
  const database = await createDatabase();
  const own = await listIndexes(database);
  await database.query(REBUILD);
  const blocks = [...(await readFile(GUIDE, "utf8")).matchAll(/```sql\n([^`]+)```/g)];
  const results = [];
  for (const [, sql = ""] of blocks) {
    // Runs each statement in its own transaction, as psql does.
    const statements = sql.split(";").filter((text) => text.trim() !== "");
    for (const text of statements) results.push(...(await database.query(text)));
  }
  expect(results).toEqual([
    { index: "cell.customers_search", indisvalid: true },
    { index: "cell.customers_shown_name", indisvalid: true },
    { index: "cell.audit_collapsed", indisvalid: true },
    { index: "cell.audit_started", indisvalid: true },
  ]);
  const built = await listIndexes(database);
  const lines: string[] = [];
  await checkMigrationsCommand({ databaseUrl: database.url, print: (line) => lines.push(line) });
  expect(lines.filter((line) => line.startsWith("  locks"))).toEqual([
    expect.stringMatching(
      /^ {2}locks cell\.customers .+ for milliseconds, because its indexes are already built$/,
    ),
    expect.stringMatching(
      /^ {2}locks cell\.customers .+ for milliseconds, because its indexes are already built$/,
    ),
    expect.stringMatching(
      /^ {2}locks cell\.audit .+ for milliseconds, because its indexes are already built$/,
    ),
    expect.stringMatching(/^ {2}locks cell\.pools .+ for milliseconds/),
    expect.stringMatching(/^ {2}locks cell\.catalogs .+ for milliseconds/),
    expect.stringMatching(/^ {2}locks cell\.open_holds .+ while it builds an index/),
    "  locks no existing table",
  ]);
  await migrate(await connectTo(database));
  expect(await listIndexes(database)).toEqual(built);
  const withoutId = ({ id: _, ...index }: Record<string, unknown>) => index;
  expect(built.map(withoutId)).toEqual(own.map(withoutId));
});

test.each([
  ["customers_search", 43],
  ["customers_shown_name", 44],
  ["audit_collapsed", 45],
] as const)(
  "an interrupted build of %s stops the migration, which succeeds after the index is dropped",
  async (index, number) => {
    const database = await createDatabase();
    const [row] = await database.query("select pg_get_indexdef($1::regclass) as definition", [
      `cell.${index}`,
    ]);
    await database.query(REBUILD);
    await database.query(String(row?.["definition"]));
    await database.query("update pg_index set indisvalid = false where indexrelid = $1::regclass", [
      `cell.${index}`,
    ]);
    const client = await connectTo(database);
    await expect(migrate(client)).rejects.toThrow("drop it");
    expect(await database.count("cell.migrations", `number = ${number}`)).toBe(0);
    await database.query(`drop index cell.${index}`);
    expect(await migrate(client)).toContainEqual(expect.stringMatching(`^cell/0000${number}-`));
  },
);
