import { expect, test } from "vitest";
import type { Reply } from "../../../test/harness.ts";
import { setupManage } from "../../../test/manage.ts";

const PROJECT = "/manage/v1/projects/1";

function changesOf({ body }: Reply): string[] {
  return (body["changes"] as { noun: string; key: string; change: string }[])
    .filter(({ change }) => change !== "unchanged")
    .map(({ change, noun, key }) => `${change} ${noun} ${key}`);
}

test("a promotion applies the test catalog to Live as previewed, and only once", async () => {
  const { manage, assign, topUp } = await setupManage();
  await manage("PUT", "pools/credits", { body: { name: "Credits", lowBalances: [20] } });
  await assign("bob");
  await topUp("bob", 5);
  const compared = await manage("POST", `${PROJECT}/promote/diff`);
  expect(changesOf(compared)).toEqual([
    "change pool credits",
    ...["export", "image.render", "text.generate", "video.render"].map((key) => `create feature ${key}`),
    "create plan pro",
  ]);
  const body = { reach: "new_assignments", expectedVersion: compared.body["version"] };
  const promoted = await manage("POST", `${PROJECT}/promote`, { body });
  expect([promoted.body["outcome"], promoted.body["changes"]]).toEqual(["applied", compared.body["changes"]]);
  expect((await manage("GET", `${PROJECT}/live/pools`)).body["items"]).toMatchObject([{ lowBalances: [20] }]);
  expect((await manage("GET", `${PROJECT}/live/catalog`)).text).toBe((await manage("GET", "catalog")).text);
  expect(changesOf(await manage("POST", `${PROJECT}/promote/diff`))).toEqual([]);
  const again = await manage("POST", `${PROJECT}/promote`, { body: { reach: "now" } });
  expect(again.body).toMatchObject({ outcome: "unchanged", version: promoted.body["version"] });
  // Customers and balances are never promoted.
  expect((await manage("GET", `${PROJECT}/live/customers`)).body["items"]).toEqual([]);
});

test("an edit to Live between preview and promotion makes the promotion fail", async () => {
  const { manage, database } = await setupManage();
  const { version } = (await manage("POST", `${PROJECT}/promote/diff`, { body: {} })).body;
  await manage("PUT", `${PROJECT}/live/pools/seconds`, { body: { name: "Seconds" } });
  const count = () => database.count("cell.plans");
  const before = await count();
  const promote = (expectedVersion: unknown) =>
    manage("POST", `${PROJECT}/promote`, { body: { reach: "now", expectedVersion } });
  const stopped = await promote(version);
  expect([stopped.status, stopped.body["code"]]).toEqual([412, "changed_meanwhile"]);
  expect(await count()).toBe(before);
  const latest = (await manage("POST", `${PROJECT}/promote/diff`)).body["version"];
  expect((await promote(latest)).status).toBe(200);
});

test("a promotion archives items in Live that are archived in Test, but does not create them", async () => {
  const { manage, publish } = await setupManage();
  await publish({ key: "old", name: "Old" });
  await manage("POST", `${PROJECT}/promote`, { body: { reach: "now" } });
  await publish({
    key: "experiment",
    name: "Experiment",
    features: [{ feature: "video.render", limit: null }],
  });
  await manage("PUT", "features/idea", { body: { name: "Idea", cost: { credits: 1 } } });
  await manage("PUT", "features/kept", { body: { name: "Kept", cost: { credits: 1 } } });
  await publish({ key: "new", name: "New", features: [{ feature: "kept", limit: null }] });
  for (const path of ["plans/experiment", "plans/old", "features/idea", "features/kept"]) {
    expect((await manage("POST", `${path}/archive`)).status).toBe(200);
  }
  expect(changesOf(await manage("POST", `${PROJECT}/promote`, { body: { reach: "now" } }))).toEqual([
    "create feature kept",
    "create plan new",
    "archive plan old",
  ]);
  expect((await manage("GET", `${PROJECT}/live/plans/experiment`)).status).toBe(404);
  expect((await manage("GET", `${PROJECT}/live/features/kept`)).body["archivedAt"]).not.toBeNull();
});

test("a promotion needs an admin for the whole project", async () => {
  const { manage, tokens } = await setupManage();
  const body = { reach: "now" };
  const asOperator = await manage("POST", `${PROJECT}/promote`, { body, token: tokens.operator });
  expect(asOperator.body["code"]).toBe("role_missing");
  expect((await manage("POST", `${PROJECT}/promote/diff`, { token: tokens.viewer })).status).toBe(200);
  expect((await manage("POST", "/manage/v1/projects/99/promote", { body })).body["code"]).toBe("not_found");
});
