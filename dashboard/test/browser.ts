import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, expect, onTestFinished } from "vitest";
import { OWNER, send } from "../../service/test/manage.ts";

/** Chromium without the browser around its pages, which costs six times as much processor time as they do. */
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium-headless-shell";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let browser: Browser | null = null;

afterAll(async () => {
  await browser?.close();
  browser = null;
});

export type Look = { readonly scheme?: "light" | "dark"; readonly width?: number };

export type Credentials = { readonly email: string; readonly password: string };

/** An own window, as a new visitor has it. A page that complains on the console fails its test. */
export async function openWindow(url: string, { scheme = "light", width = 1440 }: Look = {}): Promise<Page> {
  browser ??= await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const context: BrowserContext = await browser.newContext({
    baseURL: url,
    viewport: { width, height: 900 },
    colorScheme: scheme,
    locale: "en-US",
    timezoneId: "Europe/Berlin",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  // Long enough for a machine that does much else; what is right is there at once.
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    // Chromium says so of every refused call, by itself; what the page makes of it is what tests look at.
    if (/^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text())) return;
    complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  return page;
}

/** A window that is signed in and shows the page. */
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

/** Somebody of another role, invited by the owner's token and come in by the link. */
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
