import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ageAudit, renameAt } from "../../service/test/age-history.ts";
import { setupManage } from "../../service/test/manage.ts";
import { isKnownAction } from "../src/features/audit/sentences.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";

const PATH = "/workspace/audit";
const DAY_MS = 86_400_000;
const CREDITS = { kind: "purchase", credits: 500, reference: "pay_77" };

const lines = (page: Page) => page.getByRole("row").filter({ has: page.getByRole("cell") });

test("the audit log describes an API change in one sentence, and the keyboard opens its before and after values", async () => {
  const { service, manage } = await setupManage();
  const reply = await manage("POST", "customers/ada/credits", { body: CREDITS });
  const page = await signIn(service.url, PATH);
  const line = lines(page).filter({ hasText: "Token The owner's added 500 credits to ada" });
  await line.waitFor();
  const unfold = page.getByRole("button", { name: /Token The owner's added 500 credits to ada/ });
  await unfold.focus();
  await page.keyboard.press("Enter");
  const table = page.getByRole("table", { name: "Before and after" });
  const balance = table.getByRole("row", { name: /balances › credits/ });
  await balance.waitFor();
  expect(await balance.getByRole("cell").allTextContents()).toEqual(["100", "600"]);
  // Changed fields come first.
  const fields = await table.getByRole("rowheader").allTextContents();
  expect(fields[0]).toContain("balances › credits");
  expect(fields.at(-1)).not.toMatch(/changed|new|removed/);
  await page.getByRole("button", { name: "Copy request ID" }).focus();
  await page.keyboard.press("Enter");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(reply.headers.get("x-request-id"));
  await page.getByRole("button", { name: "JSON" }).focus();
  await page.keyboard.press("Enter");
  const json = (await page.getByRole("region", { name: "the entry" }).textContent()) ?? "";
  expect(JSON.parse(json)).toMatchObject({ action: "credits.added", customerId: "ada" });
  await line.getByRole("link", { name: "ada" }).click();
  await page.waitForURL("**/projects/1/test/customers/ada");
});

test("a bulk change can be undone from its audit entry, with a preview of the spent credits", async () => {
  const { service, manage, consume } = await setupManage();
  const customerIds = ["ada", "bob", "carol"];
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  await manage("PUT", "customers/carol", { body: {} });
  await manage("PUT", "customers/dora", { body: { name: "Dora Films" } });
  await manage("POST", "bulk-credits", {
    body: { customerIds, credits: 50, kind: "manual", reference: "r" },
  });
  await consume({ customerId: "bob", feature: "image.render", quantity: 12, idempotencyKey: "k" });
  expect((await manage("POST", "customers/carol/grants/1/move", { body: { to: "dora" } })).status).toBe(200);
  const page = await signIn(service.url, `${PATH}?action=credits.added_in_bulk`);
  await page.getByRole("button", { name: "Undo…" }).click();
  const dialog = page.getByRole("dialog", { name: "Undo change" });
  await dialog.getByText("Removes 80 credits from 2 customers.").waitFor();
  await dialog.getByText("20 credits were already spent and cannot be removed.").waitFor();
  await dialog.getByRole("row", { name: /bob\s+−30 credits \(20 spent\)/ }).waitFor();
  await dialog.getByRole("row", { name: /carol\s+Moved to Dora Films/ }).waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Revoke 80 credits in test" }).click();
  await dialog.getByText("Undone for 2 customers", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ balances: [{ balance: 100 }] });
  await page.getByRole("button", { name: "Undo…" }).click();
  await dialog.getByText("Nothing can be undone.").waitFor();
  expect(await dialog.getByRole("button", { name: "Undo in test" }).isDisabled()).toBe(true);
});

test("an interrupted bulk change can be undone from its start entry, even for customers who spent all credits", async () => {
  const { service, manage, consume, database } = await setupManage();
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  // The trigger rejects the bulk change's summary entry.
  await database.query(`
    create function cell.lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$;
    create trigger lose before insert on cell.audit for each row when (new.action = 'credits.added_in_bulk')
    execute function cell.lose()`);
  const body = { customerIds: ["bob"], credits: 50, kind: "manual", reference: "r" };
  expect((await manage("POST", "bulk-credits", { body })).status).toBe(500);
  await consume({ customerId: "bob", feature: "image.render", quantity: 15, idempotencyKey: "k" });
  await ageAudit(database, 301_000);
  const page = await signIn(service.url, `${PATH}?action=bulk_change.started`);
  await page.getByRole("button", { name: "Undo…" }).click();
  const dialog = page.getByRole("dialog", { name: "Undo change" });
  await dialog.getByText("Removes no credits.").waitFor();
  await dialog.getByRole("row", { name: /bob\s+All credits spent/ }).waitFor();
  await dialog.getByText("Later reversals will not return credits.").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Revoke the spent grant in test" }).click();
  await dialog.getByText("Revoked the spent grant").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.goto(`${service.url}${PATH}`);
  await page.getByText("undid a bulk change for 1 customer").waitFor();
  expect(await database.count("cell.audit", "action = 'grant.revoked'")).toBe(1);
});

test("a bulk change is one row in the audit log, and each customer is shown on request", async () => {
  const { service, manage } = await setupManage();
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  await manage("POST", "bulk-blocks", { body: { customerIds: ["ada", "bob"], blocked: true } });
  const page = await signIn(service.url, PATH);
  await page.getByText("blocked 2 customers").waitFor();
  expect(await page.getByText("blocked bob").count()).toBe(0);
  await page.getByLabel("Show each customer in bulk changes").check();
  await page.waitForURL("**?each=true");
  await page.getByText("blocked bob").first().waitFor();
  await page.goto(`${service.url}${PATH}?customerId=bob`);
  await page.getByText("blocked bob").first().waitFor();
});

test("an action filter also finds the entries for each customer in bulk changes", async () => {
  const { service, manage } = await setupManage();
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  const { body } = await manage("POST", "bulk-credits", {
    body: { customerIds: ["ada", "bob"], credits: 50, kind: "manual", reference: "r" },
  });
  await manage("POST", `audit/${body["auditEntryId"]}/undo`);
  const page = await signIn(service.url, PATH);
  await page.getByText("undid a bulk change for 2 customers").waitFor();
  await page.getByLabel("Action", { exact: true }).selectOption("Credits revoked");
  await page.getByText(/revoked 50 credits .* from bob/).waitFor();
  expect(await lines(page).count()).toBe(2);
  expect(await page.getByLabel("Show each customer in bulk changes").count()).toBe(0);
  await page.getByLabel("Action", { exact: true }).selectOption("Bulk changes undone");
  await page.getByText("undid a bulk change for 2 customers").waitFor();
  expect(await lines(page).count()).toBe(1);
});

test("if no entry matches, the audit log offers to show each customer in bulk changes", async () => {
  const { service, manage, database } = await setupManage();
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  await manage("POST", "bulk-blocks", { body: { customerIds: ["ada", "bob"], blocked: true } });
  // Moves the customers' entries to the previous day, as if the bulk change began before midnight and ended after it.
  await database.query("set session_replication_role = replica");
  await database.query(`update cell.audit set id = ${renameAt("id", DAY_MS)} where after ? 'inBulk'`);
  const day = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  const page = await signIn(service.url, `${PATH}?projectId=1&environment=test&from=${day}&to=${day}`);
  await page.getByText("Individual customers in bulk changes were not searched.").waitFor();
  expect(await page.getByText("All entries were searched.").count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show each customer in bulk changes" }).click();
  await page.getByText("blocked bob").waitFor();
});

test("a bulk change links to the entries for each customer, filtered by day and environment", async () => {
  const { service, manage, here } = await setupManage();
  const live = here.replace("test", "live");
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  await manage("POST", "bulk-blocks", { body: { customerIds: ["ada", "bob"], blocked: true } });
  await manage("POST", `${live}/customers/cleo/credits`, { body: CREDITS });
  const page = await signIn(service.url, PATH);
  await page.getByText("added 500 credits to cleo").waitFor();
  await page.getByRole("button", { name: /blocked 2 customers/ }).click();
  await page.getByRole("link", { name: "Entries for each customer" }).click();
  await page.getByText("blocked bob").waitFor();
  await page.getByText("added 500 credits to cleo").waitFor({ state: "detached" });
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    actor: expect.stringMatching(/^token:\d+$/),
    projectId: "1",
    environment: "test",
    from: day,
    to: day,
    each: "true",
  });
});

test("undoing a change in Live requires a typed confirmation", async () => {
  const { service, manage, here } = await setupManage();
  const live = here.replace("test", "live");
  await manage("POST", `${live}/customers/cleo/credits`, { body: CREDITS });
  const page = await signIn(service.url, `${PATH}?customerId=cleo`);
  await page.getByRole("button", { name: "Undo…" }).click();
  const dialog = page.getByRole("dialog", { name: "Undo change" });
  const button = dialog.getByRole("button", { name: "Revoke 500 credits in live" });
  await button.waitFor();
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByLabel('Type "live" to confirm').fill("live");
  await button.click();
  await dialog.getByText("Undone for 1 customer", { exact: true }).waitFor();
});

test("an owner can export the filtered audit log, but an operator cannot", async () => {
  const { service, manage, tokens } = await setupManage();
  for (const customer of ["ada", "bob"]) {
    await manage("POST", `customers/${customer}/credits`, { body: { ...CREDITS, reference: customer } });
  }
  const page = await signIn(service.url, `${PATH}?customerId=bob&projectId=1&environment=test`);
  await page.getByText("added 500 credits to bob").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).focus();
  await page.keyboard.press("Enter");
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.ndjson$/);
  const entries = (await readFile(await file.path(), "utf8")).trimEnd().split("\n");
  expect(entries.map((line) => JSON.parse(line))).toMatchObject([
    { action: "credits.added", customerId: "bob" },
  ]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("exported the audit log as NDJSON").waitFor();
  await expectAccessible(page);
  const credentials = await addMember(service.url, tokens.owner, "operator");
  const other = await signIn(service.url, PATH, { credentials });
  await other.getByText("exported the audit log as NDJSON").waitFor();
  expect(await other.getByRole("button", { name: "Export", exact: true }).count()).toBe(0);
});

test("audit log filters are kept in the URL and survive a reload", async () => {
  const { service, manage, tokens } = await setupManage();
  await manage("POST", "customers/ada/credits", { body: CREDITS });
  await manage("POST", "customers/bob/credits", {
    body: { ...CREDITS, reference: "pay_78" },
    token: tokens.operator,
  });
  await manage("PUT", "customers/bob", { body: { name: "Bob Studio" } });
  await manage("PATCH", "/manage/v1/projects/1", { body: { name: "Rocket" } });
  const page = await signIn(service.url, PATH);
  await page.getByText("renamed a project").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("bo");
  const found = page.getByRole("option", { name: /^Bob Studio/ });
  await found.getByText("Test", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  // A customer belongs to one environment, so the environment filter is set too.
  await page.waitForURL("**?customerId=bob&projectId=1&environment=test");
  await page.getByText("renamed a project").waitFor({ state: "detached" });
  await page.getByText("added 500 credits to Bob Studio").waitFor();
  await page.getByLabel("Action", { exact: true }).selectOption("Credits added");
  await page.getByLabel("Actor").selectOption("Token The operator's");
  await page.getByLabel("Environment").selectOption("Rocket (Test)");
  await page.getByLabel("To (UTC)").fill("2099-12-31");
  await page.waitForURL(/to=2099-12-31/);
  await page.getByText("Token The operator's added 500 credits to Bob Studio").waitFor();
  const address = new URL(page.url());
  expect(Object.fromEntries(address.searchParams)).toEqual({
    customerId: "bob",
    action: "credits.added",
    actor: expect.stringMatching(/^token:\d+$/),
    projectId: "1",
    environment: "test",
    to: "2099-12-31",
  });
  await page.reload();
  await page.getByText("Token The operator's added 500 credits to Bob Studio").waitFor();
  expect(await lines(page).count()).toBe(1);
  await expect.poll(() => page.getByRole("combobox", { name: "Customer" }).inputValue()).toBe("Bob Studio");
  expect(await page.getByLabel("Actor").inputValue()).toBe(address.searchParams.get("actor"));

  await page.getByLabel("Environment").selectOption("Rocket (Live)");
  await page.getByText("No matches").waitFor();
  await page.getByRole("button", { name: "Show all entries" }).click();
  await page.getByText("renamed a project").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("the audit log shows plans, pools and event keys by name", async () => {
  const { service, manage, publish } = await setupManage();
  await publish({ key: "max", name: "The largest" });
  await manage("POST", "customers/ada/plan", { body: { plan: "max" } });
  const page = await signIn(service.url, PATH);
  await page.getByText("assigned plan The largest to ada instead of Pro").waitFor();
  // A cancellation assigns the same plan with an end date.
  await manage("POST", "customers/ada/plan", { body: { plan: "max", endsAt: "period_end", shorten: true } });
  await page.reload();
  await page.getByText("set the end date of plan The largest for ada").waitFor();
  await manage("PUT", "pools/gpu", { body: { name: "GPU time" } });
  await manage("PUT", "event-keys/tokens", { body: { name: "Generated tokens" } });
  await manage("POST", "customers/ada/credits", { body: { ...CREDITS, pool: "gpu" } });
  await page.reload();
  await page.getByText("created pool GPU time").waitFor();
  await page.getByText("named event key Generated tokens").waitFor();
  await page.getByText("added 500 credits (GPU time) to ada").waitFor();
});

test("invalid audit log filters in the URL are dropped", async () => {
  const { service } = await setupManage();
  const page = await signIn(
    service.url,
    `${PATH}?actor=nobody&from=yesterday&projectId=-1&environment=moon&to=2099-01-01`,
  );
  await page.getByText("Olga Owner").first().waitFor();
  expect(await page.getByLabel("Actor").inputValue()).toBe("");
  expect(await page.getByLabel("To (UTC)").inputValue()).toBe("2099-01-01");
});

test("a viewer can read the audit log", async () => {
  const { service, tokens } = await setupManage();
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, PATH, { credentials });
  await page.getByText("Token The owner's invited viewer@example.com as a viewer").waitFor();
});

test.each(["light", "dark"] as const)("the audit log is accessible (%s)", async (scheme) => {
  const { service, manage } = await setupManage();
  await manage("POST", "customers/ada/credits", { body: CREDITS });
  const page = await signIn(service.url, PATH, { scheme });
  await page.getByRole("button", { name: /added 500 credits to ada/ }).click();
  await page.getByRole("button", { name: "JSON" }).click();
  await expectAccessible(page);
  await page.goto(`${PATH}?customerId=nobody`);
  await page.getByText("No matches").waitFor();
  await expectAccessible(page);
});

test("every audited action has a sentence in the audit log", () => {
  const root = join(import.meta.dirname, "../../service/src");
  const recorded = globSync("{manage,edge,jobs}/**/*.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => readFileSync(join(root, file), "utf8").split("\n"))
    .filter((line) => line.includes("action"))
    .flatMap((line) => [...line.matchAll(/"([a-z_]+\.[a-z_]+)"/g)].map(([, action = ""]) => action));
  const archiving = ["feature", "plan"].flatMap((noun) => [`${noun}.archived`, `${noun}.unarchived`]);
  expect(recorded.length).toBeGreaterThan(30);
  expect(
    [...recorded, ...archiving].filter((action) => !isKnownAction(action) && action !== "api_key."),
  ).toEqual([]);
});
