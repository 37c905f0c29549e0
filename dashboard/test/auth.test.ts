import { expect, onTestFinished, test, vi } from "vitest";
import { openDevelopment } from "../../service/src/manage/people/development-owner.ts";
import { makeSetupLink } from "../../service/src/manage/people/set-up.ts";
import type { Pool } from "../../service/src/postgres/pool.ts";
import { createDatabase, createTestProject, startTestService } from "../../service/test/harness.ts";
import { setupManage } from "../../service/test/manage.ts";
import { OWNER, openTestPool } from "../../service/test/seed.ts";
import { expectAccessible } from "./axe.ts";
import { openWindow } from "./browser.ts";

// Full user journeys can be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

/** An installation without members. */
async function setupEmpty(): Promise<{ url: string; pool: Pool }> {
  const database = await createDatabase();
  await createTestProject(database);
  const pool = openTestPool(database.serviceUrl, 2);
  onTestFinished(() => pool.end());
  const { url } = await startTestService(database);
  return { url, pool };
}

test("an invitation can be accepted with the keyboard, and reusing its link explains how to log in", async () => {
  const { service, manage } = await setupManage();
  const invited = await manage("POST", "/manage/v1/members", {
    body: { email: "vera@example.com", name: "Vera Viewer", role: "viewer" },
  });
  const { path } = invited.body["link"] as { path: string };
  const page = await openWindow(service.url, { scheme: "dark" });
  await page.goto(path);
  await page.getByLabel("Password").waitFor();
  expect(page.url()).not.toContain("#");
  await expectAccessible(page);
  await page.keyboard.type("short");
  await page.keyboard.press("Enter");
  expect(await page.getByLabel("Password").evaluate((input: HTMLInputElement) => input.validity.valid)).toBe(
    false,
  );
  await page.keyboard.press("Control+a");
  await page.keyboard.type("nine-blue-lanterns");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /Vera Viewer/ }).waitFor();

  const later = await openWindow(service.url);
  await later.goto(path);
  await later.getByLabel("Password").fill("another-long-password");
  await later.getByRole("button", { name: "Save and log in" }).click();
  await later.getByText("This link was already used or has expired").waitFor();
  await later.getByText("Log in with your password, or ask an admin for a new link.").waitFor();
  await expectAccessible(later);
  await later.getByRole("link", { name: "Log in" }).click();
  await later.getByLabel("Email").fill("vera@example.com");
  await later.getByLabel("Password").fill("nine-blue-lanterns");
  await later.keyboard.press("Enter");
  await later.getByRole("button", { name: /Vera Viewer/ }).waitFor();
});

test("a login link requires a click, works once, and shows an error when it is used again", async () => {
  const { url, pool } = await setupEmpty();
  const { signInPath } = await openDevelopment(pool, null);
  const page = await openWindow(url);
  await page.goto(signInPath);
  await page.getByRole("button", { name: "Log in" }).waitFor();
  await expectAccessible(page);
  // Opening and reloading the page does not use up the link.
  await page.reload();
  await page.getByText("This link is incomplete").waitFor();
  await expectAccessible(page);
  await page.goto("about:blank");
  await page.goto(signInPath);
  await page.getByRole("button", { name: "Log in" }).dblclick();
  await page.waitForURL("**/projects/1/test");

  const later = await openWindow(url, { scheme: "dark" });
  await later.goto(signInPath);
  await later.getByRole("button", { name: "Log in" }).focus();
  await later.keyboard.press("Enter");
  await later.getByText("This link was already used or has expired").waitFor();
  await expectAccessible(later);
  await later.getByRole("link", { name: "Log in" }).click();
  await later.getByRole("heading", { name: "Log in" }).waitFor();
  await expectAccessible(later);
});

test("the setup page explains where to find a valid link, and links to the login page once setup is complete", async () => {
  const { url, pool } = await setupEmpty();
  const page = await openWindow(url);
  await page.goto("/");
  await page.getByText("Open the setup link").waitFor();
  await expectAccessible(page);
  const token = await makeSetupLink(pool);
  const enter = async (link: string | null): Promise<void> => {
    await page.goto("about:blank");
    await page.goto(`${url}/setup#${link}`);
    await page.getByLabel("Your name").fill(OWNER.name);
    await page.getByLabel("Email").fill(OWNER.email);
    await page.getByLabel("Password").fill(OWNER.password);
    await page.getByRole("button", { name: "Create owner" }).click();
  };
  await enter("pur_link_of-last-week");
  await page.getByText("This link is no longer valid").waitFor();
  await expectAccessible(page);
  await enter(token);
  // Setup opens Home instead of the welcome page, because a project already exists.
  await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();

  const late = await openWindow(url, { scheme: "dark" });
  await late.goto(`/setup#${token}`);
  await late.getByText("Setup is complete.").waitFor();
  await expectAccessible(late);
  await late.getByRole("link", { name: "Log in" }).click();
  await late.getByLabel("Email").fill(OWNER.email);
  await late.getByLabel("Password").fill("not-the-password");
  await late.keyboard.press("Enter");
  await late.getByText("Wrong email or password").waitFor();
  await expectAccessible(late);
});
