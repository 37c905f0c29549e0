import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../test/harness.ts";
import { openTestPool } from "../../test/seed.ts";
import { brandAs, type ProjectId } from "../primitives/brand.ts";
import { SharedPool } from "./pool.ts";
import { findDatabaseTrouble } from "./sql-error.ts";
import { statement } from "./statement.ts";
import { single } from "./transaction.ts";

const SLEEP = statement("test.sleep", "select pg_sleep(3)");
const ONE = statement("test.one", "select 1");
const [first, second] = [brandAs<ProjectId>(1), brandAs<ProjectId>(2)];

test("a project's work waits for its share, and is reported as busy if it waits too long", async () => {
  const database = await createDatabase();
  const pool = openTestPool(database.serviceUrl, 8);
  onTestFinished(() => pool.end());
  const shared = new SharedPool(pool);
  const run = (project: ProjectId, wanted: typeof SLEEP) =>
    single(shared.shareOf(project), (tx) => tx.run(wanted)).then(
      () => "done",
      (error: unknown) => findDatabaseTrouble(error),
    );
  const sleeping = Array.from({ length: 6 }, () => run(first, SLEEP));
  const third = run(first, ONE);
  const startMs = performance.now();
  expect(await run(second, ONE)).toBe("done");
  expect(performance.now() - startMs).toBeLessThan(1_000);
  expect(pool.totalCount).toBeLessThanOrEqual(4);
  // Three sleep, then the next three; the last one waits for longer than four seconds.
  expect(await Promise.all(sleeping)).toEqual(Array(6).fill("done"));
  expect(await third).toBe("busy");
  expect(await run(first, ONE)).toBe("done");
});
