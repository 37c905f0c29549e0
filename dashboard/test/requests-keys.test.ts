import { expect, test } from "vitest";
import { post } from "../../service/test/harness.ts";
import { type Managed, nameSeeds, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const REQUESTS = "/projects/1/test/requests";
const RENDER = { customerId: "ada", feature: "image.render" };
/** An idempotency key that needs URL encoding. */
const KEY = "job/7+%20";

async function logged({ database }: Managed, count: number): Promise<void> {
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(count);
}

test("looking up an idempotency key shows its result, its replays and how a rejected reuse differs", async () => {
  const managed = await setupManage();
  const { consume } = managed;
  await nameSeeds(managed);
  const first = await consume({ ...RENDER, idempotencyKey: KEY, metadata: { job: 7 } });
  await consume({ ...RENDER, idempotencyKey: KEY, metadata: { job: 7 } });
  await consume({ ...RENDER, idempotencyKey: KEY, quantity: 3, metadata: { job: 8 } });
  await logged(managed, 3);
  const page = await signIn(managed.service.url, REQUESTS);
  await page.getByLabel("Idempotency key").fill(KEY);
  await page.keyboard.press("Enter");
  await page.getByText("Charged Ada Films 10 credits for 1 × Product image.").waitFor();
  await page.getByText("1 original request, 1 replay, 1 rejected (different request).").waitFor();
  const differed = page.getByRole("table", { name: /^Differences/ }).locator("tbody tr");
  const lines = (await differed.allInnerTexts()).map((line) => line.replaceAll(/\s+/g, " "));
  expect(lines).toEqual([
    "endpoint consume consume",
    "customerId ada ada",
    "feature image.render image.render",
    "quantity Differs 1 3",
    'metadata Differs {"job":7} different (not logged)',
  ]);
  expect(JSON.parse((await page.getByRole("region", { name: "the response" }).textContent()) ?? "")).toEqual(
    first.body,
  );
  await expectAccessible(page);
  await page.getByRole("link", { name: String(first.body["consumeId"]) }).click();
  await page.waitForURL(`**/customers/ada/ledger?charge=${first.body["consumeId"]}`);
});

test("the page of a denial's key links to the explanation, and the page of an event's key shows no charge", async () => {
  const managed = await setupManage();
  await managed.consume({ ...RENDER, idempotencyKey: "denied", quantity: 20 });
  await managed.manage("PUT", "event-keys/tokens", { body: { name: "Generated tokens" } });
  await managed.record({ customerId: "ada", event: "tokens", quantity: 5, idempotencyKey: "event" });
  const page = await signIn(managed.service.url, "/projects/1/test/keys/event", { scheme: "dark" });
  await page.getByText("Recorded 5 × Generated tokens for ada.").waitFor();
  await page.getByText("None: events are free").waitFor();
  await expectAccessible(page);
  await page.goto("/projects/1/test/keys/denied");
  await page.getByRole("link", { name: "See why" }).click();
  await page.getByRole("heading", { name: "Denied: not enough credits" }).waitFor();
});

test("the key page explains unused keys, keys from the other environment and retryable denials", async () => {
  const managed = await setupManage();
  const { consume, service, project } = managed;
  const page = await signIn(service.url, "/projects/1/test/keys/never");
  await page.getByText("Key not found").waitFor();
  await page.getByText("No request in this project has used this key").waitFor();
  await expectAccessible(page);
  await consume({ ...RENDER, idempotencyKey: "here" });
  await page.goto("/projects/1/live/keys/here");
  await page.getByText("This key was used in Test").waitFor();
  const event = { customerId: "ada", event: "e", quantity: 1, idempotencyKey: "here" };
  expect((await post(`${service.url}/v1/events`, project.live.key.secret, event)).status).toBe(409);
  await page.getByRole("link", { name: "Open the key in Test" }).click();
  await page.getByText("Charged ada 10 credits").waitFor();
  await consume({ ...RENDER, customerId: "stranger", idempotencyKey: "early" });
  await logged(managed, 3);
  await page.goto("/projects/1/test/keys/early");
  await page.getByText("You can retry this request with the same key.").waitFor();
  await expectAccessible(page);
});

test("32 identical requests result in one charge and 31 replays, and sending them again in 32 replays", async () => {
  const managed = await setupManage();
  const { service, database, manage } = managed;
  await nameSeeds(managed);
  const page = await signIn(service.url, `${REQUESTS}?do=try`);
  const dialog = page.getByRole("dialog", { name: "Send test requests" });
  await dialog.getByText("The customer is charged at most once.").waitFor();
  await dialog.getByRole("combobox", { name: "Customer" }).fill("ada");
  await dialog.getByLabel("Feature").fill("image.render");
  const key = await dialog.getByLabel("Idempotency key").inputValue();
  expect(key).toMatch(/^try-[0-9a-f]{12}$/);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Send 32 requests in Test" }).click();
  await dialog.getByText("1 charge, 31 replays").waitFor();
  await dialog.getByText("10 credits charged to Ada Films in total.").waitFor();
  await dialog.getByText("Same response, byte for byte").waitFor();
  await expectAccessible(page);
  expect(await database.count("cell.ledger", "kind = 2")).toBe(1);
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ balances: [{ balance: 90 }] });
  await dialog.getByRole("link", { name: `Open ${key}` }).click();
  await page.getByText("Charged Ada Films 10 credits for 1 × Product image.").waitFor();
  await page.getByRole("button", { name: "Test retries" }).click();
  await page.getByRole("button", { name: "Send 32 requests in Test" }).click();
  await page.getByText("32 replays", { exact: true }).first().waitFor();
  await page.getByText("Nothing was charged.").waitFor();
  expect(await database.count("cell.ledger", "kind = 2")).toBe(1);
});

test("a test request can be corrected and sent with the keyboard, and is not available in Live", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, REQUESTS, { scheme: "dark" });
  await page.getByRole("button", { name: "Send test requests" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  // The first field gets the focus shortly after the dialog opens.
  await page.waitForFunction(() => document.activeElement?.matches("input"));
  await page.keyboard.type("ada");
  await page.keyboard.press("Tab");
  await page.keyboard.type("image.render");
  for (let tabs = 0; tabs < 5; tabs++) await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("51");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").first().waitFor();
  expect(await page.getByRole("textbox", { name: "Requests" }).getAttribute("aria-invalid")).toBe("true");
  await expectAccessible(page);
  await page.getByRole("textbox", { name: "Requests" }).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("8");
  await page.keyboard.press("Enter");
  await page.getByText("1 charge, 7 replays").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("region", { name: "Requests" }).getByText("Replay").first().waitFor();
  await page.goto("/projects/1/live/requests");
  await page.getByRole("button", { name: "Send test requests" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Available only in Test" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Open in Test" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/1/test/requests?do=try");
});
