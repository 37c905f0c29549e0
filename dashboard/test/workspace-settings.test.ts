import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { post } from "../../service/test/harness.ts";
import { cookieOf, send, setupManage } from "../../service/test/manage.ts";
import { logIn } from "../../service/test/members.ts";
import { OWNER } from "../../service/test/seed.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, openWindow, signIn } from "./browser.ts";

const PATH = "/workspace/settings";
const PROJECTS = `${PATH}/projects`;
const HEALTH = `${PATH}/health`;
const PROFILE = `${PATH}/profile`;

async function changeBox(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.type(text);
}

test("an owner can lower a limit with the keyboard, and the runtime API enforces the new limit", async () => {
  const { service, project, manage } = await setupManage();
  const send = (): Promise<{ status: number }> =>
    post(`${service.url}/v1/events`, project.test.key.secret, {
      customerId: "ada",
      event: "seen",
      quantity: 1,
      metadata: { a: 1, b: 2, c: 3 },
    });
  expect((await send()).status).toBe(200);
  const page = await signIn(service.url, PATH);
  expect(await page.getByRole("button", { name: "Save workspace" }).isDisabled()).toBe(true);
  await changeBox(page, "Metadata keys", "2");
  await page.keyboard.press("Enter");
  await page.getByText("Metadata keys: 50 → 2").waitFor();
  await expect.poll(async () => (await send()).status, { interval: 500 }).toBe(422);
  const { body } = await manage("GET", "/manage/v1/workspace");
  expect(body).toMatchObject({
    limits: { metadataKeysMax: 2, metadataBytesMax: 8192, historyDaysMax: null },
  });
});

test("an empty limit field means no limit, and only changed limits are sent", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, PATH);
  await changeBox(page, "History window, in days", "30");
  await changeBox(page, "Requests per second", "5000");
  await page.getByRole("button", { name: "Code" }).click();
  await page.getByRole("menuitem", { name: "API call" }).click();
  const shown = await page.getByRole("region", { name: "the call" }).textContent();
  expect(shown).toContain(`-d '{"limits":{"historyDaysMax":30,"requestsPerSecondMax":5000}}'`);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Save workspace" }).click();
  await page.getByText("History window: No limit → 30 days").waitFor();
  await changeBox(page, "Requests per second", "");
  await page.getByRole("button", { name: "Save workspace" }).click();
  await page.getByText("Requests per second: 5,000 a second → No limit").waitFor();
  const { body } = await manage("GET", "/manage/v1/workspace");
  expect(body["limits"]).toMatchObject({ historyDaysMax: 30, requestsPerSecondMax: null });
});

test("an admin can rename projects, but a viewer cannot", async () => {
  const { service, tokens, manage } = await setupManage();
  const page = await signIn(service.url, PATH, {
    credentials: await addMember(service.url, tokens.owner, "admin"),
  });
  await page.getByText("Only owners can edit these settings.").waitFor();
  expect(await page.getByRole("button", { name: "Save workspace" }).count()).toBe(0);
  await page.getByRole("link", { name: "Projects", exact: true }).click();
  await page.getByRole("button", { name: /^Rename/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Rocket");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Rename Rocket" }).waitFor();
  await page.getByRole("button", { name: "Project Rocket" }).waitFor();
  expect((await manage("GET", "/manage/v1/projects/1")).body).toMatchObject({ name: "Rocket" });

  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const reader = await signIn(service.url, PROJECTS, { credentials });
  await reader.getByRole("region", { name: "Projects" }).waitFor();
  expect(await reader.getByRole("button", { name: /^(Rename|Save)/ }).count()).toBe(0);
  expect(await reader.getByRole("link", { name: "Create project" }).count()).toBe(0);
});

test("a viewer sees only the Projects and Profile settings", async () => {
  const { service, tokens } = await setupManage();
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, PATH, { credentials });
  await page.waitForURL(`**${PROFILE}`);
  await page.getByLabel("Current password").waitFor();
  const tabs = page.getByRole("navigation", { name: "Settings" }).getByRole("link");
  expect(await tabs.allTextContents()).toEqual(["Projects", "Profile"]);
  await page.goto(HEALTH);
  await page.waitForURL(`**${PROFILE}`);
});

test("the project settings link to each environment's default plan", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "default-plan", { body: { plan: "pro" } });
  const page = await signIn(service.url, PROJECTS);
  expect(await page.getByRole("link", { name: "None" }).getAttribute("href")).toBe("/projects/1/live/plans");
  await page.getByRole("link", { name: "Pro", exact: true }).click();
  await page.waitForURL("**/projects/1/test/plans/pro");
});

test("a password can be changed from the menu, and the old password stops working", async () => {
  const managed = await setupManage();
  const { service } = managed;
  const page = await signIn(service.url, "/workspace/members");
  await page.getByRole("button", { name: /Olga Owner owner/ }).click();
  await page.getByRole("menuitem", { name: "Change password" }).click();
  await page.waitForURL(`**${PROFILE}#password`);
  await page.getByLabel("Current password").fill("not-the-password");
  await page.getByLabel("New password").fill("eleven-silver-spoons");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Current password").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(OWNER.password);
  await page.keyboard.press("Enter");
  await page.getByText("Password changed").waitFor();
  expect(await page.getByLabel("Current password").inputValue()).toBe("");
  expect((await logIn(managed, OWNER.email, OWNER.password)).status).toBe(401);
  expect((await logIn(managed, OWNER.email, "eleven-silver-spoons")).status).toBe(200);
  await page.reload();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
});

test("a member can list their sessions and end another session", async () => {
  const managed = await setupManage();
  const other = await logIn(managed, OWNER.email, OWNER.password);
  const page = await signIn(managed.service.url, PROFILE);
  const rows = page.getByRole("region", { name: "Your sessions" }).getByRole("row");
  await rows
    .filter({ hasText: "Current" })
    .getByText(/Chrome on/)
    .waitFor();
  expect(await rows.count()).toBe(3);
  await rows.getByRole("button", { name: /^End/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Ended 1 session").waitFor();
  await expect.poll(() => rows.count()).toBe(2);
  const headers = cookieOf(other, managed.service.url);
  expect((await send(`${managed.service.url}/manage/v1/session`, "GET", { headers })).status).toBe(401);
  await expectAccessible(page);
});

test("the theme and time zone can be selected with the keyboard and are kept after a reload", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, PROFILE);
  await page.getByRole("radio", { name: "System" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.getByRole("radio", { name: "UTC" }).focus();
  await page.keyboard.press("ArrowDown");
  expect(await page.getByRole("radio", { name: "Local" }).isChecked()).toBe(true);
  await page.reload();
  await page.getByLabel("Current password").waitFor();
  expect(await page.getByRole("radio", { name: "Dark" }).isChecked()).toBe(true);
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
});

test("the system health page shows its status, and warns if the database and browser clocks differ", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, HEALTH);
  await page.getByText("Healthy").waitFor();
  await page.getByText("npx purser verify").waitFor();
  await page.getByRole("rowheader", { name: "cell.customers" }).waitFor();
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("Healthy").waitFor();

  const late = await openWindow(service.url);
  await late.clock.install({ time: Date.now() - 600_000 });
  await late.goto(HEALTH);
  await late.getByLabel("Email").fill(OWNER.email);
  await late.getByLabel("Password").fill(OWNER.password);
  await late.keyboard.press("Enter");
  await late.getByText("The database clock differs from yours").waitFor();
  await late.getByText(/(599|60\d) seconds ahead of your browser/).waitFor();
});

test.each(["light", "dark"] as const)("the settings are accessible (%s)", async (scheme) => {
  const { service } = await setupManage();
  const page = await signIn(service.url, PATH, { scheme });
  await page.getByRole("button", { name: "Code" }).click();
  await page.getByRole("menuitem", { name: "API call" }).click();
  await expectAccessible(page);
  for (const path of [HEALTH, PROFILE, PROJECTS]) {
    await page.goto(path);
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await expectAccessible(page);
  }
  await page.getByRole("button", { name: /^Rename/ }).click();
  await page.getByRole("dialog").waitFor();
  await expectAccessible(page);
});
