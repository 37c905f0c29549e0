import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../test/harness.ts";
import { openTestPool } from "../../test/seed.ts";
import { findWaiting } from "./own-backend.ts";
import { statement } from "./statement.ts";
import { single } from "./transaction.ts";

const SHADOW = statement("test.shadow", "set local search_path = shadow, pg_catalog");

test("a commit that waits for a standby is found by this PostgreSQL version's wait event names", async () => {
  const database = await createDatabase();
  const [server] = await database.query("select current_setting('server_version_num')::integer as version");
  // PostgreSQL 17 changed the spelling of the names, and is the first version that lists them in a view.
  const names =
    Number(server?.["version"]) >= 170000
      ? "select name from pg_wait_events where lower(name) in ('syncrep', 'walsync', 'walwrite') and type in ('IO', 'IPC')"
      : "select unnest(array['SyncRep', 'WALSync', 'WALWrite'])";
  // Replaces the system view in the search path, with one backend for each wait event.
  await database.query(`
    create schema shadow;
    create table shadow.pg_stat_activity as
      select (row_number() over ())::integer as pid, name as wait_event from (${names}) as n (name);
    insert into shadow.pg_stat_activity values (9, 'ClientRead'), (10, null)`);
  const pool = openTestPool(database.url);
  onTestFinished(() => pool.end());
  const waiting = await single(pool, async (tx) => {
    await tx.run(SHADOW);
    return findWaiting(tx, [1, 2, 3, 9, 10]);
  });
  expect(waiting.toSorted()).toEqual([1, 2, 3]);
});
