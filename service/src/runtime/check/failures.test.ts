import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { connectTo } from "../../../test/harness.ts";
import { Session } from "../../postgres/session.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type FeatureKey } from "../../primitives/brand.ts";
import { CatalogCache } from "../../store/cell/catalogs.ts";
import { Reader } from "./reader.ts";

test("a check that waited too long is rejected, so that the queue stays short", async () => {
  const { cell, context, database } = await setupCredits();
  const reader = new Reader({
    openSession: (connectTimeoutMs) =>
      Session.open({ url: database.serviceUrl, name: "test reader", connectTimeoutMs }),
    catalogs: new CatalogCache((work) => single(cell, work)),
    onFailure: () => {},
  });
  const ask = () =>
    reader.ask({
      environmentId: context.environmentId,
      customerId: brandAs<CustomerId>("ada"),
      items: [{ feature: brandAs<FeatureKey>("image.render"), quantity: 1 }],
      span: null,
    });
  expect(await ask()).toMatchObject({ kind: "decided" });
  const holder = await connectTo(database);
  await holder.query("begin; lock table cell.wallets in access exclusive mode");
  const startMs = performance.now();
  // Seven batches, each waiting up to a second for the lock.
  const outcomes = await Promise.all(Array.from({ length: 1_900 }, ask));
  expect(performance.now() - startMs).toBeLessThan(5_500);
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["overloaded"]));
  await holder.query("rollback");
  expect(await ask()).toMatchObject({ kind: "decided" });
  await reader.close();
}, 20_000);

test("after the reader's connection is terminated, the next check is served on a new one", async () => {
  const { check, database } = await setupCredits();
  const ask = () => check({ customerId: "ada", feature: "image.render" });
  await ask();
  await database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'purser/% reader' and datname = current_database()",
  );
  const replies = await Promise.all(Array.from({ length: 20 }, ask));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
});
