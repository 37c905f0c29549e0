import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, openWindow, signIn } from "./browser.ts";
import { startFreshInstallation } from "./fresh-installation.ts";
import { runShownCurl } from "./shown-curl.ts";

// These tests start complete service processes, which is slow.
vi.setConfig({ testTimeout: 120_000 });

const OWNER = { name: "Olga Owner", email: "olga@example.com", password: "seven-green-kettles" };

const IN_USE = { status: 409, contentType: "application/problem+json", body: '{"code": "in_use"}' };

async function becomeOwner(page: Page, setupUrl: URL): Promise<void> {
  await page.goto(setupUrl.href);
  await page.getByLabel("Your name").fill(OWNER.name);
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create owner" }).click();
  await page.getByRole("heading", { name: "Welcome to Purser" }).waitFor();
}

test("setup creates an owner and a sample catalog, and the curl command shown sends the first event", async () => {
  const { database, setupUrl } = await startFreshInstallation();
  const page = await openWindow(setupUrl.origin);
  await becomeOwner(page, setupUrl);
  expect(page.url()).not.toContain("#");
  await expectAccessible(page);
  await page.getByText("Text generation: 3 credits per 1,000 tokens").waitFor();
  await page.getByLabel("Project name").fill("Acme Images");
  await page.getByRole("button", { name: "Create project" }).dblclick();

  await page.getByRole("heading", { name: "Your first event in test" }).waitFor();
  await page.getByText("Waiting for the first event").waitFor();
  await expectAccessible(page);
  expect(await database.count("control.projects")).toBe(1);
  await page.getByRole("button", { name: "Live API key" }).click();
  const liveKey = await page.getByLabel("the live key", { exact: true }).textContent();
  expect(liveKey).toMatch(/^pur_live_/);

  const sent = await runShownCurl(page, "the event as curl");
  expect([sent.status, sent.body["accepted"]]).toEqual([200, true]);
  await page.getByText("Your event has arrived").waitFor();
  const row = page.getByRole("status").filter({ hasText: "Your event has arrived" });
  for (const part of [String(sent.body["eventId"]), "customer_42", "tokens.generated", "× 1,250"])
    expect(await row.textContent()).toContain(part);
  await expectAccessible(page);

  const charge = await runShownCurl(page, "the charge as curl");
  expect(charge.body).toMatchObject({ allowed: true, creditsCharged: 10, balance: 90 });
  await page.getByText("Allowed", { exact: true }).waitFor();
  expect(await database.count("cell.events")).toBe(1);
  const plans = await database.query("select key from cell.plans order by key");
  expect(plans).toEqual([{ key: "free" }, { key: "pro" }]);
});

test("setup with an empty catalog can be completed with the keyboard", async () => {
  const { database, setupUrl } = await startFreshInstallation();
  const page = await openWindow(setupUrl.origin, { scheme: "dark" });
  await page.goto(setupUrl.href);
  await page.getByLabel("Your name").waitFor();
  await page.keyboard.type(OWNER.name);
  await page.keyboard.press("Tab");
  await page.keyboard.type(OWNER.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(OWNER.password);
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByLabel("Project name").waitFor();
  await page.keyboard.type("Acme Voices");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  expect(await page.getByRole("radio", { name: "Empty catalog" }).isChecked()).toBe(true);
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByText("Waiting for the first event").waitFor();
  await expectAccessible(page);

  const copy = page.getByRole("button", { name: "Copy the event as curl" });
  while (!(await copy.evaluate((button) => button === document.activeElement)))
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(await page.getByLabel("the event as curl", { exact: true }).textContent());
  await runShownCurl(page, "the event as curl");
  await page.getByText("Your event has arrived").waitFor();
  // Without plans, the page explains what is missing.
  await page.getByText("No plan includes a feature yet.").waitFor();
  expect(await database.count("cell.plans")).toBe(0);
});

test("the first-event page can be reopened, and creates a new API key on request", async () => {
  const { service, database } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/first-event");
  await page.getByText("$PURSER_KEY").first().waitFor();
  await page.getByRole("button", { name: "Create API key in test" }).dblclick();
  await page.getByLabel("the event as curl", { exact: true }).getByText("pur_test_").waitFor();
  expect(await database.count("control.api_keys", "name = 'First event'")).toBe(1);
  await page.getByRole("link", { name: "Customers", exact: true }).first().click();
  await page.getByRole("heading", { name: "Customers" }).waitFor();
  await page.goBack();
  const sent = await runShownCurl(page, "the event as curl");
  expect(sent.status).toBe(200);
  await page.getByText(String(sent.body["eventId"])).waitFor();
  // After a reload, the secret is gone but the event is still shown.
  await page.reload();
  await page.getByText(String(sent.body["eventId"])).waitFor();
  expect(await page.content()).not.toContain(sent.secret);
});

test("the first-event page shows rejected requests and replays", async () => {
  const { service, record } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/first-event");
  await page.getByText("Waiting for the first event").waitFor();
  expect((await record({ customerId: "ada", event: "e", quantity: 0 })).status).toBe(400);
  await page.getByText("A request was rejected").waitFor();
  await page.getByRole("link", { name: "invalid_request" }).waitFor();
  await expectAccessible(page);
  const event = { customerId: "ada", event: "e", quantity: 1, idempotencyKey: "once" };
  const { body } = await record(event);
  await page.getByText(String(body["eventId"])).waitFor();
  await expect.poll(() => page.getByText("A request was rejected").count()).toBe(0);
  await record(event);
  await page.getByText("Replay: the event was recorded only once").waitFor();
  await page.getByText(String(body["eventId"])).waitFor();
});

test("a second project can be created from the menu, and a retry does not create it twice", async () => {
  const { service, database } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByRole("button", { name: /^Project/ }).click();
  await page.getByRole("menuitem", { name: "Create project" }).click();
  await page.getByLabel("Project name").fill("Second");
  await page.route("**/catalog/apply", (route) => route.fulfill(IN_USE), { times: 1 });
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByText("Created Second without the sample catalog").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Apply sample catalog in test" }).click();
  await page.waitForURL("**/projects/2/test/first-event");
  await page.getByLabel("the event as curl", { exact: true }).getByText("pur_test_").waitFor();
  expect(await database.count("control.projects")).toBe(2);
  expect(await database.count("cell.plans")).toBe(3);
});

test("a viewer sees who can create projects and API keys", async () => {
  const { service, tokens } = await setupManage();
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, "/welcome", { credentials });
  await page.getByText("Only admins can create projects").waitFor();
  await expectAccessible(page);
  await page.goto("/projects/1/test/first-event");
  await page.getByText("Ask an admin for a key.").waitFor();
  expect(await page.getByRole("button", { name: /Create API key/ }).count()).toBe(0);
});
