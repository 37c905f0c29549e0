import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const RENDER = { customerId: "ada", feature: "image.render" };
const REQUESTS = "/projects/1/test/requests";

/** Waits until the request log has `count` rows. A row is written about a second after the response. */
async function logged({ database }: Managed, count: number): Promise<void> {
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(count);
}

const rowsOf = (page: Page) => page.getByRole("region", { name: "Requests" }).locator("tbody tr");

async function act({ consume, check, record }: Managed): Promise<void> {
  await consume({ ...RENDER, idempotencyKey: "a" });
  await consume({ ...RENDER, idempotencyKey: "a" });
  await consume({ ...RENDER, idempotencyKey: "a", quantity: 2 });
  await consume({ ...RENDER, idempotencyKey: "b", quantity: 200 });
  await consume({ ...RENDER, idempotencyKey: "c", feature: "image.rendr" });
  await check({ customerId: "nobody", feature: "image.render" });
  await record({ customerId: "ada", event: "tokens", quantity: 3 });
}

test.for(["light", "dark"] as const)(
  "the request log shows the outcome and details of each request (%s)",
  async (scheme) => {
    const managed = await setupManage();
    await act(managed);
    await managed.manage("PUT", "event-keys/tokens", { body: { name: "Generated tokens" } });
    await logged(managed, 7);
    const page = await signIn(managed.service.url, REQUESTS, { scheme });
    await rowsOf(page).getByText("Generated tokens", { exact: true }).waitFor();
    await expect.poll(() => rowsOf(page).count()).toBe(7);
    const texts = await rowsOf(page).allInnerTexts();
    for (const [index, words] of [
      /events\s+Generated tokens\s+Recorded/,
      /check\s+image\.render\s+Denied\s+Unknown customer/,
      /image\.rendr\s+Rejected\s+Unknown feature\s+Create feature/,
      /Denied\s+Not enough credits\s+Why\?/,
      /Rejected\s+Key already used for another request/,
      /Allowed\s+Replay/,
      /consume\s+image\.render\s+Allowed\s+ada\s+a\s/,
    ].entries())
      expect(texts[index]).toMatch(words);
    await expectAccessible(page);
    await rowsOf(page)
      .nth(4)
      .getByRole("button", { name: /Details/ })
      .click();
    await page.getByText("409 idempotency_key_reused").waitFor();
    await page.getByRole("button", { name: "JSON" }).click();
    await page.getByText('"durationMs"').waitFor();
    await expectAccessible(page);
    await rowsOf(page).getByRole("link", { name: "Create feature" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Create feature" });
    await expect.poll(() => dialog.getByLabel("Key").inputValue()).toBe("image.rendr");
  },
);

test("an empty request log offers to send a test request, and shows the first request when it arrives", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, REQUESTS);
  await page.getByRole("link", { name: "Send a test request" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Send test requests" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  expect(await page.getByRole("switch", { name: "Live tail" }).isChecked()).toBe(true);
  await managed.consume({ ...RENDER, idempotencyKey: "first" });
  await rowsOf(page).getByText("first").waitFor();
  // Test requests are not available in Live.
  await page.goto("/projects/1/live/requests");
  await page.getByRole("link", { name: "Go to API keys" }).waitFor();
  expect(await page.getByRole("link", { name: "Send a test request" }).count()).toBe(0);
});

test("request filters are kept in the URL and can be used with the keyboard", async () => {
  const managed = await setupManage();
  await act(managed);
  await logged(managed, 7);
  const page = await signIn(managed.service.url, REQUESTS);
  await managed.manage("PUT", "customers/ada", { body: { name: "Ada Films", email: "pay@films.example" } });
  const customer = page.getByRole("combobox", { name: "Customer" });
  await page.keyboard.press("/");
  await page.keyboard.type("nobody-else");
  await page.getByText("No customer found.").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  expect(new URL(page.url()).search).toBe("");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("films.ex");
  await page.getByRole("option", { name: /^Ada Films ?ada · pay@films.example$/ }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await expect.poll(() => rowsOf(page).count()).toBe(6);
  expect(await customer.inputValue()).toBe("Ada Films");
  await page.keyboard.press("Tab");
  await page.keyboard.type("consume");
  await expect.poll(() => rowsOf(page).count()).toBe(5);
  await page.keyboard.press("Tab");
  await page.keyboard.type("Denied: Not enough");
  await expect.poll(() => rowsOf(page).count()).toBe(1);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    endpoint: "consume",
    customerId: "ada",
    reason: "insufficient_credits",
  });
  await page.reload();
  await expect.poll(() => rowsOf(page).count()).toBe(1);
  await expect.poll(() => customer.inputValue()).toBe("Ada Films");
  await page.getByRole("button", { name: "Clear customer" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.has("customerId")).toBe(false);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect.poll(() => rowsOf(page).count()).toBe(7);
  await page.goto(`${REQUESTS}?endpoint=holds/release`);
  await page.getByText("No requests in the last 7 days match the filters.").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect.poll(() => rowsOf(page).count()).toBe(7);
});

test("the live tail shows new requests, and the L key pauses it", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, REQUESTS);
  await page.getByText("No requests in the last 7 days").waitFor();
  await page.keyboard.press("l");
  await expect.poll(() => page.getByRole("switch", { name: "Live tail" }).isChecked()).toBe(true);
  await managed.consume({ ...RENDER, idempotencyKey: "first" });
  await rowsOf(page).getByText("first").waitFor();
  await managed.consume({ ...RENDER, idempotencyKey: "second" });
  await rowsOf(page).getByText("second").waitFor();
  expect((await rowsOf(page).allInnerTexts()).map((text) => /first|second/.exec(text)?.[0])).toEqual([
    "second",
    "first",
  ]);
  await expectAccessible(page);
  await page.keyboard.press("l");
  await expect.poll(() => page.getByRole("switch", { name: "Live tail" }).isChecked()).toBe(false);
  await managed.consume({ ...RENDER, idempotencyKey: "third" });
  await logged(managed, 3);
  await page.waitForTimeout(2_500);
  expect(await rowsOf(page).count()).toBe(2);
  await page.keyboard.press("l");
  await rowsOf(page).getByText("third").waitFor();
});

test("new requests are not inserted while the user has scrolled down", async () => {
  const managed = await setupManage();
  const { consume } = managed;
  for (let i = 0; i < 24; i++)
    await consume({ ...RENDER, feature: "text.generate", idempotencyKey: `old-${i}` });
  await logged(managed, 24);
  const page = await signIn(managed.service.url, `${REQUESTS}?live=true`);
  await expect.poll(() => rowsOf(page).count()).toBe(24);
  const read = rowsOf(page).getByText("old-9", { exact: true });
  await page.evaluate(() => window.scrollTo(0, 500));
  const before = await read.boundingBox();
  for (let i = 0; i < 3; i++)
    await consume({ ...RENDER, feature: "text.generate", idempotencyKey: `new-${i}` });
  await page.getByRole("button", { name: "Show 3 new requests" }).waitFor();
  expect(await read.boundingBox()).toEqual(before);
  expect(await rowsOf(page).count()).toBe(24);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show 3 new requests" }).click();
  await expect.poll(() => rowsOf(page).count()).toBe(27);
  expect(await rowsOf(page).first().textContent()).toContain("new-2");
});

test("if more requests arrive than the live tail can load, the list reloads without a gap", async () => {
  const managed = await setupManage();
  const { check } = managed;
  await check({ customerId: "first", feature: "export" });
  await logged(managed, 1);
  const page = await signIn(managed.service.url, REQUESTS);
  await expect.poll(() => rowsOf(page).count()).toBe(1);
  // Sends rejected requests, because successful requests are sampled under load.
  for (let i = 0; i < 230; i++) await check({ customerId: "ada", feature: "unknown" });
  await logged(managed, 231);
  await page.keyboard.press("l");
  await page.getByText("First 50 requests").waitFor();
  await page.keyboard.press("l");
  for (const shown of [100, 150, 200, 231]) {
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(shown);
  }
});

test("an expanded request does not move when new requests arrive", async () => {
  const managed = await setupManage();
  await managed.consume({ ...RENDER, idempotencyKey: "read" });
  await logged(managed, 1);
  const page = await signIn(managed.service.url, `${REQUESTS}?live=true`);
  const unfold = page.getByRole("button", { name: /Details of the request/ });
  await unfold.focus();
  await page.keyboard.press("Enter");
  await page.getByText("POST /v1/consume").waitFor();
  const before = await unfold.boundingBox();
  await managed.consume({ ...RENDER, idempotencyKey: "other" });
  await page.getByRole("button", { name: "Show 1 new request" }).waitFor();
  expect(await unfold.boundingBox()).toEqual(before);
  await page.keyboard.press("Enter");
  await rowsOf(page).getByText("other").waitFor();
});

test("the live tail does not poll in a hidden browser tab, and catches up when the tab is visible", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, `${REQUESTS}?live=true`);
  await page.getByText("No requests in the last 7 days").waitFor();
  await setVisible(page, false);
  await page.waitForTimeout(500);
  let asked = 0;
  page.on("request", (request) => (asked += request.url().includes("/requests") ? 1 : 0));
  await managed.consume({ ...RENDER, idempotencyKey: "unseen" });
  await logged(managed, 1);
  await page.waitForTimeout(3_000);
  expect(asked).toBe(0);
  await setVisible(page, true);
  await rowsOf(page).getByText("unseen").waitFor();
});

function setVisible(page: Page, isVisible: boolean): Promise<void> {
  return page.evaluate(
    (state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    },
    isVisible ? "visible" : "hidden",
  );
}

test("the request log fits a window 1,024 pixels wide without horizontal scrolling", async () => {
  const managed = await setupManage();
  const { service, manage, consume } = managed;
  const customerId = "org_northlight_robotics_and_automation_gmbh";
  await manage("PUT", `customers/${customerId}`, { body: { name: "Northlight Robotics and Automation" } });
  await act(managed);
  await consume({ ...RENDER, customerId, idempotencyKey: "render-2026-11-18-0000000001-final", quantity: 9 });
  await logged(managed, 8);
  const page = await signIn(service.url, REQUESTS, { width: 1024 });
  await expect.poll(() => rowsOf(page).count()).toBe(8);
  const table = page.getByRole("region", { name: "Requests" });
  const [content, shown] = await table.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
  expect(content).toBe(shown);
  await rowsOf(page).getByRole("link", { name: "Northlight Robotics and Automation" }).waitFor();
  const why = await rowsOf(page).getByRole("link", { name: "Why?" }).first().boundingBox();
  expect((why?.x ?? 1024) + (why?.width ?? 0)).toBeLessThan(1024);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1024);
});
