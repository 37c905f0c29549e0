import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Managed, setupManage } from "../../test/manage.ts";
import { type Ended, runPurser } from "../../test/purser.ts";
import { readClientConfig } from "../config.ts";
import { type CatalogOptions, catalogCommand } from "./catalog.ts";
import { describeChanges } from "./catalog-changes.ts";

const catalog = (args: string[], env: Record<string, string>): Promise<Ended> =>
  runPurser(["catalog", ...args], env);

const settingsOf = ({ service, tokens }: Managed): Record<string, string> => ({
  PURSER_URL: `${service.url}/`,
  PURSER_TOKEN: tokens.admin,
});

async function writeCatalog(document: unknown): Promise<string> {
  const file = join(tmpdir(), `catalog-${process.pid}-${performance.now()}.json`);
  await writeFile(file, typeof document === "string" ? document : JSON.stringify(document));
  onTestFinished(() => rm(file));
  return file;
}

test("a catalog can be exported, compared and applied elsewhere, and applying it again changes nothing", async () => {
  const managed = await setupManage();
  const { manage, project } = managed;
  const env = settingsOf(managed);
  const id = String(project.projectId);
  const exported = await catalog(["export", "--project", id], env);
  expect(JSON.parse(exported.stdout)).toEqual((await manage("GET", "catalog")).body);
  const file = await writeCatalog(exported.stdout);
  const live = ["apply", file, "--project", id, "--environment", "live"];
  const shown = await catalog([...live, "--dry-run"], env);
  expect(shown.stdout).toContain("+ plan pro\n");
  expect(shown.stdout).toContain("    allowances.credits.credits: 100\n");
  expect(shown.stdout).toContain("5 to change, 2 unchanged\n");
  expect((await manage("GET", "/manage/v1/projects/1/live/plans")).body["items"]).toEqual([]);
  const applied = await catalog([...live, "--reach", "now"], env);
  expect(applied.stdout).toBe(`${shown.stdout}Applied. The live catalog is at version 1.\n`);
  const again = await catalog([...live, "--archive-missing"], env);
  expect([again.code, again.stdout]).toEqual([0, "0 to change, 7 unchanged\n"]);
});

test("invalid arguments are rejected before the call, and other errors show the service's message", async () => {
  const { service, tokens } = await setupManage();
  const wrong = await writeCatalog({ defaultPlan: "none", plans: [] });
  const broken = await writeCatalog("{");
  const odd = await writeCatalog({ pools: [{ key: "", name: "" }] });
  const client = { url: service.url, token: tokens.viewer };
  const attempt = (options: Partial<CatalogOptions>): Promise<void> =>
    catalogCommand({
      client,
      file: null,
      project: "1",
      environment: "test",
      reach: "now",
      "dry-run": false,
      "archive-missing": false,
      print: () => {},
      ...options,
    });
  const empty = await writeCatalog({ pools: [{ key: "a", name: "A" }] });
  const cases: [Partial<CatalogOptions>, string][] = [
    [{ project: undefined }, "--project"],
    [{ environment: "prod" }, "test or live"],
    [{ client: { ...client, url: "http://127.0.0.1:1" } }, "cannot reach"],
    [{ client: { ...client, token: "none" } }, "sign_in_required: "],
    [{ project: "99" }, "not_found: There is no such project"],
    [{ file: wrong }, "unknown_key: There is no plan `none`"],
    [{ file: broken }, "is not JSON"],
    [{ file: odd }, "invalid_request: `catalog.pools.0.key`"],
    [{ file: empty, reach: "everyone" }, "invalid_request: `reach`"],
    [{ file: empty }, "role_missing: "],
  ];
  for (const [options, message] of cases) await expect(attempt(options)).rejects.toThrow(message);
  await attempt({ file: empty, "dry-run": true });
});

test("a token without access to the chosen environment gets a hint", async () => {
  const { manage, service, project } = await setupManage();
  const projectId = String(project.projectId);
  const body = { name: "Live only", role: "admin", projectId, environment: "live" };
  const { secret } = (await manage("POST", "/manage/v1/tokens", { body })).body;
  const env = { PURSER_URL: service.url, PURSER_TOKEN: String(secret) };
  const refused = await catalog(["export", "--project", projectId], env);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    `Tried project ${projectId}, environment test. The token may not have access`,
  );
  expect((await catalog(["export", "--project", projectId, "--environment", "live"], env)).code).toBe(0);
});

test("the catalog command reports missing arguments and settings", async () => {
  const refused = await catalog(["apply"], { PURSER_TOKEN: "pur_mgmt_x" });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("catalog apply takes exactly one file"),
  ]);
  expect(() => readClientConfig({ PURSER_TOKEN: "" })).toThrow("PURSER_TOKEN must be set");
  expect(() => readClientConfig({ PURSER_TOKEN: "x", PURSER_URL: "purser" })).toThrow(
    "PURSER_URL must start",
  );
  const config = readClientConfig({ PURSER_TOKEN: "x", PURSER_URL: "https://purser.example/" });
  expect(config).toEqual({ url: "https://purser.example", token: "x" });
});

test("catalog changes are listed value by value, and list items are named by key", () => {
  const plan = (credits: number, features: object[]) => ({
    key: "pro",
    name: "Pro",
    allowances: [{ pool: "credits", credits, period: "month" }],
    features,
  });
  const included = { feature: "image", limit: null, pool: "credits", cost: { credits: 1, per: 1 } };
  const lines = describeChanges([
    { noun: "pool", key: "credits", change: "unchanged", before: {}, after: {} },
    {
      noun: "pool",
      key: "seconds",
      change: "change",
      before: { lowBalances: [100, 10] },
      after: { lowBalances: [50] },
    },
    {
      noun: "plan",
      key: "pro",
      change: "change",
      before: plan(100, [included]),
      after: plan(200, [
        { ...included, cost: { credits: 2, per: 1 } },
        { ...included, feature: "text" },
      ]),
    },
    {
      noun: "feature",
      key: "old",
      change: "archive",
      before: { archived: false },
      after: { archived: true },
    },
    {
      noun: "default_plan",
      key: "default_plan",
      change: "change",
      before: { plan: null },
      after: { plan: "pro" },
    },
  ]);
  expect(lines).toEqual([
    "~ pool seconds",
    "    lowBalances: [100,10] -> [50]",
    "~ plan pro",
    "    allowances.credits.credits: 100 -> 200",
    "    features.image.cost.credits: 1 -> 2",
    '    features.text.pool: "credits"',
    "    features.text.limit: null",
    "    features.text.cost.credits: 1",
    "    features.text.cost.per: 1",
    "- feature old",
    "    archived: false -> true",
    "~ default plan",
    '    plan: null -> "pro"',
    "4 to change, 1 unchanged",
  ]);
});
