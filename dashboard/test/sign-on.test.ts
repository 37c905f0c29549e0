import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { resetOwner } from "../../service/src/manage/people/reset-owner.ts";
import { startTestService } from "../../service/test/harness.ts";
import { setupManage } from "../../service/test/manage.ts";
import { join } from "../../service/test/members.ts";
import { invite, setupSignOn } from "../../service/test/oidc.ts";
import { OWNER, openTestPool } from "../../service/test/seed.ts";
import { expectAccessible } from "./axe.ts";
import { type Look, openWindow, signIn } from "./browser.ts";

// Full user journeys can be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const verified = (email: string) => ({ email, email_verified: true });
const SIGN_ON = "Sign in with single sign-on";

/** A window in which the provider's login form does not load its font from the internet. */
async function openOffline(url: string, look: Look = {}): Promise<Page> {
  const page = await openWindow(url, look);
  await keepOffline(page);
  return page;
}

const keepOffline = (page: Page): Promise<unknown> =>
  page
    .context()
    .route("https://fonts.googleapis.com/**", (route) =>
      route.fulfill({ contentType: "text/css", body: "" }),
    );

/** Fills in the provider's login form. It accepts any password. */
async function logInThere(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
}

test("an invited person signs in through the provider's form, logs out, and can also log out there", async () => {
  const managed = await setupSignOn({ vera: verified("vera@example.com") });
  await invite(managed, "vera@example.com");
  const page = await openOffline(managed.service.url);
  await page.goto("/workspace/members");
  await page.getByRole("link", { name: SIGN_ON }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await logInThere(page, "vera");
  // Returns to the page that the person opened.
  await page.getByRole("heading", { name: "Members", level: 1 }).waitFor();
  const row = page.getByRole("row").filter({ hasText: "vera@example.com" });
  await row.getByText("Single sign-on").waitFor();
  await expectAccessible(page);
  await page.goto("/workspace/settings/profile");
  await page.getByText("You log in with single sign-on, and cannot use a password.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: /viewer/ }).click();
  await page.getByRole("menuitem", { name: "Log out", exact: true }).click();
  const there = page.getByRole("link", { name: "Log out of provider" });
  await there.waitFor();
  expect(await there.getAttribute("href")).toContain(managed.provider.issuer);
  await expectAccessible(page);
});

test("a person without an invitation sees why the sign-in failed", async () => {
  const managed = await setupSignOn({ eve: verified("eve@example.com") });
  const page = await openOffline(managed.service.url, { scheme: "dark", width: 390 });
  await page.goto("/log-in?next=%2Fworkspace%2Fmembers");
  await page.getByRole("link", { name: SIGN_ON }).click();
  await logInThere(page, "eve");
  await page.getByText("You are not invited").waitFor();
  await expectAccessible(page);
  // A login with a password still leads to the page that the person opened.
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Members", level: 1 }).waitFor();
});

test("a member connects single sign-on on the profile page, and disconnects it", async () => {
  const managed = await setupSignOn({ ada: verified("ada@example.com"), eve: verified("eve@example.com") });
  const credentials = await join(managed, "operator", "ada");
  const page = await signIn(managed.service.url, "/workspace/settings/profile", { credentials });
  await keepOffline(page);
  const connect = page.getByRole("button", { name: "Connect single sign-on" });
  await connect.click();
  await logInThere(page, "eve");
  await page.getByText("The account has a different email").waitFor();
  await expectAccessible(page);
  // The provider remembers who is logged in there.
  await page.context().clearCookies({ domain: "127.0.0.1", name: /^_(session|interaction)/ });
  await connect.click();
  await logInThere(page, "ada");
  await page.getByText("You can now log in with single sign-on.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("From now on, you'll log in with your password.").waitFor();
  await expectAccessible(page);
  await managed.database.query("update control.sessions set created_at = now() - interval '11 minutes'");
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("dialog").getByText("Log in again to make this change").waitFor();
  await expectAccessible(page);
  await managed.database.query("update control.sessions set created_at = now()");
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await connect.waitFor();
});

test("with single sign-on required, the login page has only its button, and a link for the local owner", async () => {
  const managed = await setupSignOn({}, { OIDC_ONLY: "true", OIDC_LOCAL_OWNER: OWNER.email });
  const page = await openOffline(managed.service.url);
  await page.goto("/log-in");
  await page.getByRole("link", { name: SIGN_ON }).waitFor();
  expect(await page.getByLabel("Password").count()).toBe(0);
  await expectAccessible(page);
  await page.goto("/log-in");
  await page.getByRole("link", { name: "Log in as the local owner" }).click();
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
});

test("with single sign-on required, a link is for joining with it, and for the local owner's new password", async () => {
  const managed = await setupSignOn({}, { OIDC_ONLY: "true", OIDC_LOCAL_OWNER: OWNER.email });
  const pool = openTestPool(managed.database.url);
  const { path } = (await resetOwner(pool, OWNER.email)).link;
  await pool.end();
  const page = await openOffline(managed.service.url);
  await page.goto(path);
  await page.getByText("You don't need a password.").waitFor();
  expect(page.url()).not.toContain("pur_link");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Choose a password as the local owner" }).click();
  await expectAccessible(page);
  await page.getByLabel("Password").fill("a new password for emergencies");
  await page.getByRole("button", { name: "Save and log in" }).click();
  await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
});

test("the settings page shows the settings and tests the connection", async () => {
  const roles = { OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: "staff=viewer,platform=admin" };
  const managed = await setupSignOn({}, { ...roles, OIDC_ALLOWED_DOMAINS: "example.com" });
  const page = await signIn(managed.service.url, "/workspace/settings/single-sign-on", { scheme: "dark" });
  await page.getByText(`${managed.service.url}/manage/v1/session/oidc/callback`).waitFor();
  await page.getByText("platform").waitFor();
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("The provider supports PKCE with S256.").waitFor();
  await expectAccessible(page);
  await managed.provider.stop();
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("The provider's metadata cannot be used").waitFor();
});

test("without single sign-on, no page offers it, and the settings explain how to set it up", async () => {
  const { service, database } = await setupManage();
  const page = await signIn(service.url, "/workspace/settings/single-sign-on");
  await page.getByText("Not set up").waitFor();
  await expectAccessible(page);
  await page.goto("/workspace/settings/profile");
  await page.getByRole("heading", { name: "Your password" }).waitFor();
  expect(await page.getByText("Connect single sign-on").count()).toBe(0);
  const other = await startTestService(database);
  const visitor = await openWindow(other.url);
  await visitor.goto("/log-in");
  await visitor.getByLabel("Email").waitFor();
  expect(await visitor.getByRole("link", { name: SIGN_ON }).count()).toBe(0);
});
