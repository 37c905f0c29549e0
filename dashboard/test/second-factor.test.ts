import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { freePort } from "../../service/src/postgres/free-port.ts";
import type { TestDatabase } from "../../service/test/harness.ts";
import { setupManage } from "../../service/test/manage.ts";
import { tokenOf } from "../../service/test/members.ts";
import { OWNER } from "../../service/test/seed.ts";
import { expectAccessibleInBoth } from "./axe.ts";
import { addMember, type Credentials, type Look, openWindow } from "./browser.ts";

// Full user journeys can be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const PROFILE = "/workspace/settings/profile";

/** The address with a host name. Browsers offer no passkeys at an IP address. */
function localhost(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

type Device = {
  /** Whether the member's finger is on the sensor. */
  answer(isVerified: boolean): Promise<void>;
};

/** Gives the page a built-in authenticator, such as a laptop with a fingerprint sensor. */
async function addDevice(page: Page): Promise<Device> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return {
    answer: async (isUserVerified) => {
      await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
  };
}

async function enterPassword(page: Page, { email, password }: Credentials = OWNER): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
}

async function logOut(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: new RegExp(name) }).click();
  await page.getByRole("menuitem", { name: "Log out", exact: true }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
}

/** Opens the profile at localhost, with a device and a session of the owner. */
async function openProfile(url: string, look: Look = {}): Promise<{ page: Page; device: Device }> {
  const page = await openWindow(localhost(url), look);
  const device = await addDevice(page);
  await page.goto(PROFILE);
  await enterPassword(page);
  await page.getByRole("heading", { name: "Passkeys" }).waitFor();
  return { page, device };
}

/** Adds the first passkey, and returns the recovery codes. */
async function addFirstPasskey(page: Page): Promise<string[]> {
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Work laptop");
  await page.getByRole("dialog").getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("Save these codes now").waitFor();
  const shown = await page.getByRole("region", { name: "the recovery codes" }).textContent();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByRole("cell", { name: "Work laptop", exact: true }).waitFor();
  return (shown ?? "").trim().split("\n");
}

test("a member adds a passkey, logs in with it and, without the device, with a recovery code", async () => {
  const { service } = await setupManage();
  const { page, device } = await openProfile(service.url);
  const codes = await addFirstPasskey(page);
  expect(codes).toHaveLength(10);
  await page.getByText("10 codes left").waitFor();
  await expectAccessibleInBoth(page);
  await logOut(page, OWNER.name);

  // The prompt starts by itself.
  await enterPassword(page);
  await page.getByRole("button", { name: new RegExp(OWNER.name) }).waitFor();
  await logOut(page, OWNER.name);

  await device.answer(false);
  await enterPassword(page);
  await page.getByText("The prompt was closed or timed out, or no passkey matched.").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await page.getByLabel("Recovery code").fill("0000-0000-0000-0000");
  await page.keyboard.press("Enter");
  await page.getByText("The passkey or code is not valid").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByLabel("Recovery code").fill(codes[0] ?? "");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: new RegExp(OWNER.name) }).waitFor();
  await page.goto(PROFILE);
  await page.getByText("9 codes left").waitFor();
});

test("passkeys are renamed and deleted with the keyboard, after a recent log-in", async () => {
  const { service, database } = await setupManage();
  const { page } = await openProfile(service.url);
  await addFirstPasskey(page);
  const open = async (item: string): Promise<void> => {
    await page.getByRole("button", { name: /^Actions for/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: item }).waitFor();
    await page.getByRole("menuitem", { name: item }).press("Enter");
  };
  await open("Rename");
  await page.getByRole("dialog").getByLabel("Name").fill("Old laptop");
  await page.keyboard.press("Enter");
  await page.getByRole("cell", { name: "Old laptop", exact: true }).waitFor();

  await database.query("update control.sessions set created_at = now() - interval '1 hour'");
  await open("Delete");
  await page.getByText("This is your only passkey").waitFor();
  await page.getByRole("button", { name: "Delete passkey" }).click();
  await page.getByText("Log in again to make this change").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Log in again" }).click();
  await enterPassword(page);
  await page.waitForURL(`**${PROFILE}`);
  await open("Delete");
  await page.getByRole("button", { name: "Delete passkey" }).click();
  await page.getByText("You don't have a passkey, so you log in with only your password.").waitFor();
});

test("an owner requires passkeys from admins, and an admin adds one at the next log-in", async () => {
  const port = await freePort();
  const settings = { PORT: String(port), PUBLIC_URL: `http://localhost:${port}` };
  const { service, tokens } = await setupManage(settings);
  const admin = await addMember(service.url, tokens.owner, "admin");
  const { page } = await openProfile(service.url);
  await page.goto("/workspace/settings");
  await page.getByRole("radio", { name: "Admins and owners", exact: true }).check();
  await page.getByRole("button", { name: "Save second factor" }).click();
  await page.getByText("Add a passkey to your account first").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("link", { name: "Open your profile" }).click();
  await addFirstPasskey(page);
  await page.goto("/workspace/settings");
  await page.getByRole("radio", { name: "Admins and owners", exact: true }).check();
  await page.getByRole("button", { name: "Save second factor" }).click();
  await page.getByText("Required for: Admins and owners").waitFor();

  const other = await openWindow(localhost(service.url), { scheme: "dark", width: 390 });
  await addDevice(other);
  await other.goto("/log-in");
  await enterPassword(other, admin);
  await other.getByText("Your role requires a passkey in addition to your password.").waitFor();
  await expectAccessibleInBoth(other);
  await other.getByLabel("Name").fill("Phone");
  await other.keyboard.press("Enter");
  await other.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  await expectAccessibleInBoth(other);
  await other.getByRole("button", { name: "I have saved them" }).click();
  await other.getByRole("heading", { name: "Home", level: 1 }).waitFor();

  // The owner sees who has a passkey, and resets the second factor of the admin.
  await page.goto("/workspace/members");
  await page.getByRole("button", { name: "Actions for The admin" }).click();
  await page.getByRole("menuitem", { name: "Reset second factor" }).click();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Reset second factor" }).click();
  await page.getByText("1 passkey deleted").waitFor();
  expect(await page.getByRole("row", { name: /The admin/ }).textContent()).toContain("No");
});

test("a password reset link asks for the passkey too, and an expired step starts again", async () => {
  const { service, manage, database } = await setupManage();
  const { page } = await openProfile(service.url);
  await addFirstPasskey(page);
  await logOut(page, OWNER.name);
  const link = tokenOf(await manage("POST", "/manage/v1/members/1/link"));
  await page.goto("about:blank");
  await page.goto(`/join#${link}`);
  await page.getByLabel("Password").fill("nine-blue-lanterns");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  await logOut(page, OWNER.name);
  await expireWhileWaiting(page, database);
});

/** The member waits too long with the recovery code. */
async function expireWhileWaiting(page: Page, database: TestDatabase): Promise<void> {
  await page.context().newCDPSession(page);
  await page.evaluate(() => {
    // The member does not answer the prompt.
    navigator.credentials.get = () => Promise.reject(new DOMException("", "NotAllowedError"));
  });
  await enterPassword(page, { email: OWNER.email, password: "nine-blue-lanterns" });
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await database.query("update control.challenges set expires_at = now()");
  await page.getByLabel("Recovery code").fill("0000-0000-0000-0000");
  await page.keyboard.press("Enter");
  await page.getByText("This step has expired").waitFor();
  await page.getByRole("button", { name: "Log in again" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
}

test("at an IP address, the profile shows that passkeys do not work, and links to localhost", async () => {
  const { service } = await setupManage();
  const page = await openWindow(service.url);
  await page.goto(PROFILE);
  await enterPassword(page);
  await page.getByText("Passkeys do not work at 127.0.0.1").waitFor();
  await expectAccessibleInBoth(page);
  expect(await page.getByRole("button", { name: "Add passkey" }).count()).toBe(0);
  const link = page.getByRole("link", { name: /Open this page at localhost/ });
  expect(await link.getAttribute("href")).toBe(`${localhost(service.url)}${PROFILE}`);
});
