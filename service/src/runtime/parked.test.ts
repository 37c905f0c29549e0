import { expect, onTestFinished, test } from "vitest";
import { consumeOn } from "../../test/consume-on.ts";
import { type Credits, setupCredits } from "../../test/credits.ts";
import { connectTo } from "../../test/harness.ts";
import { times } from "../../test/two-services.ts";
import { defineFeature } from "../manage/features/define-feature.ts";
import { Session } from "../postgres/session.ts";
import { single } from "../postgres/transaction.ts";
import { brandAs, type CustomerId, type EnvironmentId, type FeatureKey } from "../primitives/brand.ts";
import { CatalogCache } from "../store/cell/catalogs.ts";
import { Reader } from "./check/reader.ts";
import { Lanes } from "./commit/lanes.ts";

const CUSTOMER = brandAs<CustomerId>("ada");
const FEATURE = brandAs<FeatureKey>("image.render");

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Ask = (environmentId: EnvironmentId) => Promise<{ readonly kind: string }>;

/** One environment whose plan cannot be read during the test, and one with its whole catalog in memory. */
async function setupMissing(): Promise<Credits & { neighbor: EnvironmentId; parts: Parts }> {
  const credits = await setupCredits();
  const { cell, context, database, project } = credits;
  const neighbor = project.live.environmentId;
  await defineFeature(
    cell,
    { ...context, environmentId: neighbor },
    { key: "image.render", name: "Render", unit: null, pool: "credits", cost: { credits: 10, per: 1 } },
  );
  const holder = await connectTo(database);
  await holder.query("begin; lock table cell.plan_features in access exclusive mode");
  onTestFinished(async () => void (await holder.query("rollback")));
  const parts = {
    openSession: (connectTimeoutMs: number) =>
      Session.open({ url: database.serviceUrl, name: "test", connectTimeoutMs }),
    catalogs: new CatalogCache((work) => single(cell, work)),
    onFailure: () => {},
  };
  return { ...credits, neighbor, parts };
}

type Parts = Pick<ConstructorParameters<typeof Reader>[0], "openSession" | "catalogs" | "onFailure">;

async function expectNeighborServed(
  ask: Ask,
  missing: EnvironmentId,
  neighbor: EnvironmentId,
): Promise<void> {
  const served = (await ask(neighbor)).kind;
  const refused: string[] = [];
  const note = ({ kind }: { kind: string }): void => void refused.push(kind);
  // Sent in two halves, because all requests together would exceed the queue.
  for (const half of times(2, () => times(1_200, () => missing))) {
    for (const environmentId of half) void ask(environmentId).then(note);
    await pause(150);
  }
  const kinds = await Promise.all(times(20, async () => (await ask(neighbor)).kind));
  expect(kinds).toEqual(times(20, () => served));
  // 1,000 requests wait. The others were rejected immediately, and not because of their age.
  await expect.poll(() => refused.length, { timeout: 1_000 }).toBeGreaterThanOrEqual(1_400);
  expect(new Set(refused)).toEqual(new Set(["overloaded"]));
}

test("consume requests that wait for one environment's catalog do not block other environments", async () => {
  const { project, context, neighbor, parts } = await setupMissing();
  const lanes = new Lanes(1, { ...parts, idempotencyDays: null, onBatch: () => {} });
  let count = 0;
  const ask: Ask = (environmentId) =>
    consumeOn(
      lanes,
      { projectId: project.projectId, environmentId },
      { feature: FEATURE, quantity: 1, key: `key-${count++}` },
    );
  await expectNeighborServed(ask, context.environmentId, neighbor);
  await lanes.close();
}, 30_000);

test("checks that wait for one environment's catalog do not block other environments", async () => {
  const { context, neighbor, parts } = await setupMissing();
  const reader = new Reader(parts);
  const ask: Ask = (environmentId) =>
    reader.ask({
      environmentId,
      customerId: CUSTOMER,
      items: [{ feature: FEATURE, quantity: 1 }],
      span: null,
    });
  await expectNeighborServed(ask, context.environmentId, neighbor);
  await reader.close();
}, 30_000);
