import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { post } from "../../service/test/harness.ts";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const CUSTOMER = "/projects/1/test/customers/ada";

const rowOf = (page: Page, text: string | RegExp) => page.getByRole("row").filter({ hasText: text });

test("ledger filters are kept in the URL and survive a reload", async () => {
  const { service, consume } = await setupManage();
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "render-1" });
  await consume({ customerId: "ada", feature: "text.generate", quantity: 900, idempotencyKey: "text-1" });
  const page = await signIn(service.url, `${CUSTOMER}/ledger`);
  await rowOf(page, "render-1").waitFor();
  await page.getByLabel("Feature").selectOption("text.generate");
  await rowOf(page, "render-1").waitFor({ state: "detached" });
  await page.getByLabel("Kind").selectOption("consume");
  await page.waitForURL((url) => url.search === "?kind=consume&feature=text.generate");
  await page.reload();
  await rowOf(page, "text-1").waitFor();
  expect(await page.getByLabel("Feature").inputValue()).toBe("text.generate");
  await expect.poll(() => rowOf(page, "render-1").count()).toBe(0);

  await page.getByLabel("Range").selectOption("Last month");
  await page.getByText("No matches").waitFor();
  await page.getByLabel("Range").selectOption("Last 24 hours");
  await rowOf(page, "text-1").waitFor();
  expect(new URL(page.url()).searchParams.get("range")).toBe("24h");

  // Select a kind without entries with the keyboard.
  await page.getByLabel("Kind").focus();
  await page.keyboard.type("Reversals");
  await page.getByText("No matches").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Clear filters" }).focus();
  await page.keyboard.press("Enter");
  await rowOf(page, "render-1").waitFor();
  await page.goBack();
  await page.getByText("No matches").waitFor();
});

test("an expanded ledger entry shows its grants and JSON, and links to its request", async () => {
  const { service, consume, topUp } = await setupManage();
  await topUp("ada", 40);
  await consume({ customerId: "ada", feature: "image.render", quantity: 12, idempotencyKey: "a/b%c" });
  const page = await signIn(service.url, `${CUSTOMER}/ledger`, { scheme: "dark" });
  await page.getByRole("button", { name: "Details of entry 3" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Plan credits (grant 1)" }).waitFor();
  await page.getByRole("link", { name: "Pro", exact: true }).and(page.locator("td *")).first().waitFor();
  expect(await page.getByRole("listitem").filter({ hasText: "grant 2" }).textContent()).toContain("−20");
  await page.getByRole("button", { name: "JSON" }).click();
  const json = (await page.getByRole("region", { name: "entry 3" }).textContent()) ?? "";
  expect(JSON.parse(json)).toMatchObject({ sequence: 3, amount: -120, idempotencyKey: "a/b%c" });
  await expectAccessible(page);
  await page.getByRole("link", { name: "a/b%c" }).first().click();
  await page.waitForURL("**/projects/1/test/keys/a%2Fb%25c");
});

test("a charge found with the search is marked in the ledger", async () => {
  const { service, consume } = await setupManage();
  const { body } = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k1" });
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "k2" });
  const page = await signIn(service.url, "/projects/1/test");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  await page.keyboard.type(String(body["consumeId"]));
  await page.getByRole("option", { name: /charged to ada/ }).waitFor();
  await page.keyboard.press("Enter");
  await rowOf(page, "k1").and(page.locator("[aria-current]")).waitFor();
  expect(await rowOf(page, "k2").getAttribute("aria-current")).toBeNull();
});

test("a link to a charge finds its ledger entry many pages back", async () => {
  const { service, consume, topUp } = await setupManage();
  await topUp("ada", 100);
  const wanted = { customerId: "ada", feature: "text.generate", quantity: 5 };
  const { body } = await consume({ ...wanted, idempotencyKey: "the-first" });
  await Promise.all(
    Array.from({ length: 120 }, (_, index) => consume({ ...wanted, idempotencyKey: `later-${index}` })),
  );
  const page = await signIn(service.url, CUSTOMER);
  await page.goto(`${CUSTOMER}/ledger?charge=${String(body["consumeId"])}`);
  const found = rowOf(page, "the-first").and(page.locator("[aria-current]"));
  await found.waitFor({ timeout: 30_000 });
  await page.waitForFunction(() => document.activeElement?.closest("tr")?.ariaCurrent === "true");
  expect(await found.evaluate((row) => Math.round(row.getBoundingClientRect().top))).toBeLessThan(900);
  // Long runs of similar charges are not marked as duplicates.
  await expect.poll(() => rowOf(page, "Possible duplicate").count()).toBe(0);
});

test("the plan history shows when each plan started and ended, and who changed it", async () => {
  const { service, manage, publish } = await setupManage();
  await publish({ key: "team", name: "Team" });
  await manage("POST", "customers/ada/plan", { body: { plan: "team" } });
  for (const scheme of ["light", "dark"] as const) {
    const page = await signIn(service.url, `${CUSTOMER}/plans`, { scheme });
    const now = rowOf(page, "Current");
    expect(await now.textContent()).toMatch(/Team.*version 1.*Started.*No end date.*The owner's/);
    expect(await rowOf(page, "Pro").textContent()).toMatch(/Pro.*version 1.*Started/);
    expect(await rowOf(page, "Pro").locator("time").count()).toBeGreaterThanOrEqual(2);
    await page.getByRole("button", { name: "Details of Pro, version 1", exact: true }).waitFor();
    await expectAccessible(page);
  }
  await manage("DELETE", "customers/ada/plan");
  const page = await signIn(service.url, `${CUSTOMER}/plans`);
  await page.getByText("ended by").waitFor();
  expect(await rowOf(page, "Team").textContent()).toContain("The owner's");
  await expect.poll(() => rowOf(page, "Current").count()).toBe(0);
});

test("a customer's requests show their outcome and link to the denial and the idempotency key", async () => {
  const { service, consume, record, manage } = await setupManage();
  await manage("PUT", "event-keys/tokens", { body: { name: "Generated tokens" } });
  await record({ customerId: "ada", event: "tokens", quantity: 1 });
  const body = { customerId: "ada", feature: "image.render", quantity: 4, idempotencyKey: "render-1" };
  await consume(body);
  await consume(body);
  await consume({ ...body, quantity: 99, idempotencyKey: "render-2" });
  await consume({ ...body, feature: "video.render", idempotencyKey: "video-1" });
  const page = await signIn(service.url, `${CUSTOMER}/requests`);
  await expect
    .poll(
      async () => {
        await page.reload();
        await rowOf(page, "render-2").waitFor();
        return rowOf(page, "Replay").count();
      },
      { timeout: 20_000, interval: 1_000 },
    )
    .toBe(1);
  expect(await rowOf(page, "render-2").textContent()).toMatch(
    /Denied.*Not enough credits.*required 990, available 60/,
  );
  expect(await rowOf(page, "video-1").textContent()).toMatch(/Denied.*Feature not in plan/);
  await rowOf(page, "Generated tokens").waitFor();
  expect(await rowOf(page, "−40").textContent()).toMatch(/image\.render.*× 4.*Allowed/);
  await expectAccessible(page);
  await rowOf(page, "render-2").getByRole("link", { name: "Why?" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/projects\/1\/test\/denials\/den_/);
  await page.goBack();
  await rowOf(page, "video-1").getByRole("link", { name: "video-1" }).click();
  await page.waitForURL("**/projects/1/test/keys/video-1");
});

test("a customer's requests are filtered by outcome, feature and time, and denied checks are explained", async () => {
  const managed = await setupManage();
  const { service, consume, project } = managed;
  const body = { customerId: "ada", feature: "image.render", quantity: 1 };
  await consume({ ...body, idempotencyKey: "render-1" });
  await consume({ ...body, quantity: 99, idempotencyKey: "render-2" });
  await consume({ ...body, feature: "video.render", idempotencyKey: "video-1" });
  await post(`${service.url}/v1/check`, project.test.key.secret, { ...body, quantity: 500 });
  const page = await signIn(service.url, `${CUSTOMER}/requests`);
  const why = page.getByRole("button", { name: "Why?" });
  await expect
    .poll(
      async () => {
        await page.reload();
        await rowOf(page, "render-2").waitFor();
        return why.count();
      },
      { timeout: 20_000, interval: 1_000 },
    )
    .toBe(1);
  await why.click();
  await page.getByRole("dialog", { name: "Denied: not enough credits" }).waitFor();
  await page.getByText("Denied checks are logged without").waitFor();
  await page.keyboard.press("Escape");

  await page.getByLabel("Outcome").selectOption("Denied");
  await rowOf(page, "render-1").waitFor({ state: "detached" });
  await expect.poll(() => page.getByRole("row").count()).toBe(1 + 3);
  await page.getByLabel("Feature").selectOption("video.render");
  await rowOf(page, "render-2").waitFor({ state: "detached" });
  await rowOf(page, "video-1").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Range").selectOption("Last month");
  await page.getByText("No matches").waitFor();
  await page.reload();
  await page.getByText("No matches").waitFor();
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    outcome: "denied",
    feature: "video.render",
    range: "last-month",
  });
  await page.getByRole("link", { name: "Clear filters" }).click();
  await rowOf(page, "render-1").waitFor();
});
