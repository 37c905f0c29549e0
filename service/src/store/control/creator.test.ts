import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectTo, createDatabase } from "../../../test/harness.ts";
import { migrate } from "../../postgres/migrate.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../migrations");

/** Copies the control migrations that precede the creator columns to a new folder, and returns its path. */
async function migrationsBefore(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "purser-migrations-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, "cell"));
  await mkdir(join(directory, "control"));
  const files = (await readdir(join(MIGRATIONS, "control"))).sort();
  const first = files.findIndex((name) => name.endsWith("-created-by.sql"));
  expect(first).toBeGreaterThan(0);
  for (const name of files.slice(0, first))
    await cp(join(MIGRATIONS, "control", name), join(directory, "control", name));
  return directory;
}

test("a migration sets the creators of existing tokens and keys from the audit log, and does not grant managesAccess", async () => {
  const database = await createDatabase();
  await database.query("drop schema control, cell cascade");
  const client = await connectTo(database);
  await migrate(client, await migrationsBefore());
  const audit = (action: string, actor: string, after: object) =>
    database.query(
      `insert into control.audit (workspace_id, environment_id, id, recorded_at, actor_kind, actor_id, action, subject, after)
       values (1, $4, gen_random_uuid(), now(), split_part($1::text, ':', 1), nullif(split_part($1::text, ':', 2), ''), $2, '', $3)`,
      [actor, action, JSON.stringify(after), action.startsWith("api_key") ? 1 : null],
    );
  await database.query(`
    insert into control.members (workspace_id, email, name, role, removed_at)
    values (1, 'a@example.com', 'Ada', 'admin', null), (1, 'b@example.com', 'Bob', 'admin', now())`);
  const tokens: [name: string, creator: string | null, expiresAt: string | null, revokedAt: string | null][] =
    [
      ["by Ada", "member:1", "2099-01-01Z", null],
      ["by Ada's token", "token:1", null, null],
      ["by token 2", "token:2", "2050-01-01Z", null],
      ["by Bob", "member:2", null, null],
      ["by a command", "command:purser dev", null, null],
      ["by an unknown creator", null, null, null],
      ["by token 6", "token:6", null, null],
      ["revoked", "member:1", null, "2026-01-01Z"],
      ["by a revoked token", "token:8", null, null],
    ];
  for (const [index, [name, creator, ...ends]] of tokens.entries()) {
    await database.query(
      `insert into control.management_tokens (workspace_id, name, role, secret_hash, last_four, expires_at, revoked_at)
       values (1, $1::text, 'admin', sha256($1::text::bytea), 'abcd', $2, $3)`,
      [name, ...ends],
    );
    if (creator !== null) await audit("token.created", creator, { id: String(index + 1) });
  }
  await database.query("insert into control.projects (workspace_id, name) values (1, 'P')");
  await database.query("insert into control.environments (project_id, kind) values (1, 'test')");
  for (const name of ["first", "rotated", "unknown"]) {
    await database.query(
      `insert into control.api_keys (project_id, environment_id, name, secret_hash, last_four, scopes)
       values (1, 1, $1::text, sha256($1::text::bytea), 'abcd', array['check'])`,
      [name],
    );
  }
  await audit("api_key.created", "system:", { id: "1" });
  await audit("api_key.rotated", "member:1", { id: "2", replaced: { id: "1" } });

  await migrate(client);
  const rows = await database.query(`
    select name, created_by_kind as by, root_member_id as root, extract(year from expires_at at time zone 'utc')::integer as year,
      revoked_at is not null as "isRevoked", manages_access as manages
    from control.management_tokens
    order by id`);
  expect(
    rows.map(({ name, by, root, year, isRevoked, manages }) => [name, by, root, year, isRevoked, manages]),
  ).toEqual([
    ["by Ada", "member", 1, 2099, false, false],
    ["by Ada's token", "token", 1, 2099, false, false],
    ["by token 2", "token", 1, 2050, false, false],
    ["by Bob", "member", 2, null, false, false],
    ["by a command", "command", null, null, false, false],
    ["by an unknown creator", null, null, null, true, false],
    ["by token 6", "token", null, null, true, false],
    ["revoked", "member", 1, null, true, false],
    ["by a revoked token", "token", 1, null, true, false],
  ]);
  expect(
    await database.query(
      "select created_by_kind as by, created_by_id as creator from control.api_keys order by id",
    ),
  ).toEqual([
    { by: "system", creator: null },
    { by: "member", creator: "1" },
    { by: null, creator: null },
  ]);
});
