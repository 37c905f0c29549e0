import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, expect, onTestFinished } from "vitest";
import { send } from "../../service/test/manage.ts";
import { OWNER } from "../../service/test/seed.ts";
import { collectComplaints, launchChromium } from "./chromium.ts";

let browser: Browser | null = null;

afterAll(async () => {
  await browser?.close();
  browser = null;
});

export type Look = { readonly scheme?: "light" | "dark"; readonly width?: number };

export type Credentials = { readonly email: string; readonly password: string };

/** Opens a page in a new browser context. A console error or warning fails the test. */
export async function openWindow(url: string, { scheme = "light", width = 1440 }: Look = {}): Promise<Page> {
  browser ??= await launchChromium();
  const context: BrowserContext = await browser.newContext({
    baseURL: url,
    viewport: { width, height: 900 },
    colorScheme: scheme,
    locale: "en-US",
    timezoneId: "Europe/Berlin",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  // Allows for a busy machine.
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  collectComplaints(context, (complaint) => complaints.push(complaint));
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  return page;
}

/** Opens a page and logs in. */
export async function signIn(
  url: string,
  path: string,
  { credentials = OWNER, ...look }: Look & { credentials?: Credentials } = {},
): Promise<Page> {
  const page = await openWindow(url, look);
  await page.goto(path);
  await page.getByLabel("Email").fill(credentials.email);
  await page.getByLabel("Password").fill(credentials.password);
  await page.keyboard.press("Enter");
  await page.waitForURL((address) => address.pathname !== "/log-in");
  await page.locator("h1:not(:text('Log in'))").waitFor();
  return page;
}

/** Invites a member with the given role and accepts the invitation. */
export async function addMember(
  url: string,
  ownerToken: string,
  role: "viewer" | "operator" | "admin",
): Promise<Credentials> {
  const credentials = { email: `${role}@example.com`, password: "nine-blue-lanterns" };
  const invited = await send(`${url}/manage/v1/members`, "POST", {
    token: ownerToken,
    body: { email: credentials.email, name: `The ${role}`, role },
  });
  const [, token = ""] = JSON.stringify(invited.body).match(/#(pur_link_[A-Za-z0-9]+)/) ?? [];
  const joined = await send(`${url}/manage/v1/links`, "POST", {
    body: { token, password: credentials.password },
  });
  expect([invited.status, joined.status]).toEqual([200, 200]);
  return credentials;
}
