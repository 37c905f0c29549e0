import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

// Tests requests with `items`, which charge several features together.

const CUSTOMER = "/projects/1/test/customers/ada";

const ITEMS = [
  { feature: "image.render", quantity: 3 },
  { feature: "text.generate", quantity: 2_000 },
  { feature: "export", quantity: 2 },
];

/** Charges 30, 6 and 0 credits in one request, as ledger entries 2 to 4. */
async function setupCharge(): Promise<
  Managed & { consumeId: string; reverse: (body: object) => Promise<unknown> }
> {
  const managed = await setupManage();
  const { body } = await managed.consume({ customerId: "ada", idempotencyKey: "chat-1", items: ITEMS });
  expect(body).toMatchObject({ allowed: true });
  const consumeId = String(body["consumeId"]);
  const path = `customers/ada/consumes/${consumeId}/reverse`;
  return { ...managed, consumeId, reverse: (input) => managed.manage("POST", path, { body: input }) };
}

/** Sends one request for 0, 90 and 15 credits with a balance of 100, so the third item is denied. */
async function setupDenial(): Promise<Managed> {
  const managed = await setupManage();
  const items = [
    { feature: "export", quantity: 1 },
    { feature: "image.render", quantity: 9 },
    { feature: "text.generate", quantity: 5_000 },
  ];
  const { body } = await managed.consume({ customerId: "ada", idempotencyKey: "chat-2", items });
  expect(body).toMatchObject({ allowed: false, deniedItem: 2 });
  return managed;
}

const entry = (page: Page, sequence: number): Locator => page.locator(`#entry-${sequence}`);

function markedEntries(page: Page): Promise<string[]> {
  return page.locator("tr[aria-current]").evaluateAll((rows) => rows.map(({ id }) => id));
}

async function linesOf(rows: Locator): Promise<string[]> {
  return (await rows.allInnerTexts()).map((line) => line.replaceAll(/\s+/g, " ").trim());
}

test("an item and its reversal link to each other, and a link to the request marks all its ledger entries", async () => {
  const { service, consumeId, reverse } = await setupCharge();
  await reverse({ item: 0, quantity: 1 });
  await reverse({ item: 1 });
  const page = await signIn(service.url, `${CUSTOMER}/ledger?charge=${consumeId}`);
  await entry(page, 6).waitFor();
  expect(await markedEntries(page)).toEqual(["entry-6", "entry-5", "entry-4", "entry-3", "entry-2"]);

  await entry(page, 2).getByRole("link", { name: "1 of 3 reversed" }).click();
  await page.waitForURL((url) => url.search === `?charge=${consumeId}&item=0` && url.hash === "#entry-5");
  await expect.poll(() => markedEntries(page)).toEqual(["entry-5", "entry-2"]);
  await entry(page, 6).getByRole("link", { name: "of a charge" }).click();
  await page.waitForURL((url) => url.search === `?charge=${consumeId}&item=1` && url.hash === "#entry-3");
  await expect.poll(() => markedEntries(page)).toEqual(["entry-6", "entry-3"]);

  await page.getByRole("button", { name: "Details of entry 3" }).click();
  await page.getByText("Item 2 of the request").waitFor();
  await expectAccessible(page);
  await page.reload();
  await expect.poll(() => markedEntries(page)).toEqual(["entry-6", "entry-3"]);
  await page.waitForFunction(() => document.activeElement?.closest("tr")?.id === "entry-3");
});

test("a single item can be reversed, and the curl call shown names that item", async () => {
  const { service, manage, consumeId } = await setupCharge();
  const page = await signIn(service.url, `${CUSTOMER}/ledger`);
  await page.getByRole("button", { name: "Reverse entry 3" }).click();
  const dialog = page.getByRole("dialog", { name: "Reverse charge" });
  await dialog.getByText("The other items in the request are not reversed.").waitFor();
  await dialog.getByLabel("Quantity to reverse").fill("1000");
  await dialog.getByRole("button", { name: "API call" }).click();
  const curl = (await page.getByRole("region", { name: "the call" }).textContent()) ?? "";
  const [, body = ""] = curl.match(/-d '(.+)'$/s) ?? [];
  expect(JSON.parse(body)).toMatchObject({ item: 1, quantity: 1_000 });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Reverse 3 credits in test" }).click();
  await page.getByText("3 credits returned. Balance 67").waitFor();
  await entry(page, 3).getByRole("link", { name: "1,000 of 2,000 reversed" }).waitFor();
  expect(await page.getByRole("link", { name: /reversed/i }).count()).toBe(1);
  const { items } = (await manage("GET", "customers/ada/ledger")).body;
  expect(items).toMatchObject([{ kind: "reverse", reverses: consumeId, item: 1 }, {}, {}, {}, {}]);

  // An item that cost nothing can be reversed too.
  await page.getByRole("button", { name: "Reverse entry 4" }).click();
  await dialog.getByRole("button", { name: "Reverse 2 units in test" }).click();
  await entry(page, 4).getByRole("link", { name: "Reversed" }).waitFor();
});

test("a denial lists its items, marks the denied item and includes the cost of earlier items", async () => {
  const { service, manage } = await setupDenial();
  const { body } = await manage("GET", "customers/ada/denials");
  const [newest] = body["items"] as { denialId: string }[];
  const page = await signIn(service.url, `/projects/1/test/denials/${newest?.denialId}`);
  await page
    .getByText(
      "5,000 × text.generate and the earlier items that use the same pool cost 105 credits. Only 100 credits were left. That is 5 credits short.",
    )
    .waitFor();
  const sum = page.getByRole("table", { name: "Calculation" }).getByRole("row");
  expect(await linesOf(sum)).toEqual([
    "Required, including earlier items 105",
    "Available 100",
    "Shortfall 5",
  ]);
  const request = page.locator("section").filter({ has: page.getByRole("heading", { name: "Request" }) });
  expect(await linesOf(request.getByRole("listitem"))).toEqual([
    "export × 1",
    "image.render × 9",
    "text.generate × 5,000 Denied",
  ]);
  await request.getByText("105 credits, including earlier items that use the same pool").waitFor();
  await expectAccessible(page);
});

test("the page of a charge's key shows all items, their reversals and a rejected reuse with other items", async () => {
  const { service, database, consume, consumeId, reverse } = await setupCharge();
  await reverse({ item: 0, quantity: 1 });
  await consume({ customerId: "ada", idempotencyKey: "chat-1", items: ITEMS.slice(1) });
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(2);
  const page = await signIn(service.url, "/projects/1/test/keys/chat-1");
  await page.getByText("Charged ada 36 credits for 3 items.").waitFor();
  const charges = page.getByRole("region", { name: "Charges in this request" }).locator("tbody tr");
  expect(await linesOf(charges)).toEqual([
    "image.render 3 30 1 of 3",
    "text.generate 2,000 6 –",
    "export 2 0 –",
  ]);
  expect(await linesOf(page.getByRole("table", { name: /^Differences/ }).locator("tbody tr"))).toEqual([
    "endpoint consume consume",
    "customerId ada ada",
    "items Differs image.render × 3, text.generate × 2,000, export × 2 different (not logged)",
    "metadata none none",
  ]);
  // A test request has only one feature, so it cannot repeat this request.
  expect(await page.getByRole("button", { name: "Test retries" }).count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("link", { name: consumeId }).click();
  await entry(page, 2).waitFor();
  expect(await markedEntries(page)).toEqual(["entry-5", "entry-4", "entry-3", "entry-2"]);
});

test("the page of a denial's key shows the request's items", async () => {
  const { service } = await setupDenial();
  const page = await signIn(service.url, "/projects/1/test/keys/chat-2", { scheme: "dark" });
  await page.getByText("Denied 5,000 × text.generate for ada: not enough credits.").waitFor();
  const result = page.locator("section").filter({ has: page.getByRole("heading", { name: "Result" }) });
  expect(await linesOf(result.getByRole("listitem"))).toEqual([
    "export × 1",
    "image.render × 9",
    "text.generate × 5,000 Denied",
  ]);
  await result.getByText("105 credits, including earlier items that use the same pool").waitFor();
  await expectAccessible(page);
});

test("a customer's request list shows each item and links to the request's ledger entries", async () => {
  const { service, consumeId, reverse } = await setupCharge();
  await reverse({ item: 1 });
  const page = await signIn(service.url, `${CUSTOMER}/requests`);
  const rows = page.getByRole("row").filter({ hasText: "chat-1" });
  await rows.first().waitFor();
  const lines = await linesOf(rows);
  expect(lines).toEqual([
    expect.stringMatching(/export × 2 consume, one of several items .*Allowed 0 /),
    expect.stringMatching(/text\.generate × 2,000 .*Allowed Reversed −6 /),
    expect.stringMatching(/image\.render × 3 .*Allowed −30 /),
  ]);
  await rows
    .last()
    .getByRole("button", { name: /^Details of image\.render/ })
    .click();
  await page.getByText('"quantity": 3').waitFor();
  await page.getByRole("link", { name: "−30" }).click();
  await page.waitForURL((url) => url.search === `?charge=${consumeId}`);
  await expect.poll(() => markedEntries(page)).toEqual(["entry-5", "entry-4", "entry-3", "entry-2"]);
});
