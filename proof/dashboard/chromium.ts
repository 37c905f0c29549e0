import type { Browser, BrowserContext, Page } from "playwright-core";
import { collectComplaints, launchChromium } from "../../dashboard/test/chromium.ts";

export type Owner = { readonly email: string; readonly password: string };
export type Look = { readonly scheme: "light" | "dark"; readonly width: number };

export async function openChromium(stack: AsyncDisposableStack): Promise<Browser> {
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  return browser;
}

/** Of somebody who has never been here. What its pages complain of on the console is added to `complaints`. */
export async function openContext(
  browser: Browser,
  { url, look, complaints }: { url: string; look: Look; complaints: string[] },
): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: look.width, height: 900 },
    colorScheme: look.scheme,
    locale: "en-US",
    timezoneId: "UTC",
  });
  collectComplaints(context, (text, page) => complaints.push(`${page}: ${text}`));
  return context;
}

export async function logIn(context: BrowserContext, { email, password }: Owner): Promise<Page> {
  const page = await context.newPage();
  await page.goto("/log-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL((address) => address.pathname !== "/log-in");
  return page;
}

/** When the page shows what it is about: no skeleton is left, and nothing is under way. */
export async function awaitReady(page: Page, wanted: readonly string[], timeoutMs: number): Promise<void> {
  await Promise.all(wanted.map((one) => page.locator(one).first().waitFor({ timeout: timeoutMs })));
  await page.locator("[aria-label=Loading]").waitFor({ state: "detached", timeout: timeoutMs });
}
