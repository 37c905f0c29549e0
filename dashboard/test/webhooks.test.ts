import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectDone, setupNotified, startReceiver } from "../../service/test/webhooks.ts";
import { expectAccessible, expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { pressEnterOn, tabTo } from "./tab-to.ts";

const HERE = "/projects/1/test";
const ADA = `${HERE}/customers/ada`;

const rowsOf = (page: Page, table: string) =>
  page.getByRole("region", { name: table, exact: true }).locator("tbody tr");

const deliveryOf = (page: Page, text: string): Locator =>
  rowsOf(page, "Deliveries").filter({ hasText: text }).first();

async function chooseAction(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name }).click();
}

const secretOf = async (page: Page): Promise<string> =>
  (await page.getByRole("region", { name: "the secret" }).textContent()) ?? "";

test("a webhook receives a test and a crossed threshold, can be disabled and rotated, and is deleted", async () => {
  const { service, manage, consume } = await setupManage({ WEBHOOK_TARGETS: "any" });
  const receiver = await startReceiver();
  const page = await signIn(service.url, `${HERE}/features/pools`);
  await page.getByRole("button", { name: "Edit credits" }).click();
  await page.getByLabel("Low balances").fill("50\n20");
  await page.getByRole("button", { name: "API call" }).click();
  await page.getByText('{"name":"Credits","lowBalances":[50,20]}').waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save pool in test" }).click();
  await page.getByRole("row", { name: /Credits.*50 and 20/ }).waitFor();

  // The secret is shown once.
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByText("No webhooks yet").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByLabel("URL", { exact: true }).fill(receiver.url);
  await page.getByLabel("Description").fill("Low balance emails");
  await page.getByRole("checkbox", { name: "Plan ended plan.ended" }).uncheck();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create webhook in test" }).click();
  await page.getByText("Copy the secret now").waitFor();
  await expectAccessible(page);
  receiver.secret = await secretOf(page);
  expect(receiver.secret).toMatch(/^whsec_/);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByText("No deliveries yet").waitFor();
  await expectAccessibleInBoth(page);
  expect(await page.content()).not.toContain(receiver.secret);

  // The test arrives, and the page shows the response without a reload.
  await page.getByRole("button", { name: "Send test" }).first().click();
  await page.getByRole("button", { name: "Send test in test" }).click();
  await deliveryOf(page, "Test").getByText("Delivered").waitFor();
  expect(receiver.received).toMatchObject([{ type: "webhook.test", data: {} }]);

  // A charge crosses a threshold.
  await consume({ customerId: "ada", feature: "image.render", quantity: 6, idempotencyKey: "a" });
  await expect.poll(() => receiver.received.length).toBe(2);
  await page.reload();
  const low = deliveryOf(page, "Low balance");
  await low.getByText("Credits fell below 50. 40 left.").waitFor();
  await low.getByRole("button", { name: /^Details of Low balance/ }).click();
  const { id, ...body } = receiver.received[1] ?? {};
  expect(await page.getByRole("region", { name: "the body" }).textContent()).toBe(JSON.stringify(body));
  await page.getByText(String(id)).first().waitFor();
  await expectAccessibleInBoth(page);
  await low.getByRole("link", { name: "ada" }).click();
  await page.getByRole("link", { name: "Notices" }).click();
  await page
    .getByRole("row", { name: /Low balance balance\.low Credits fell below 50\. 40 left\./ })
    .waitFor();
  await expectAccessibleInBoth(page);

  // While the webhook is disabled, a test waits.
  await page.goto(`${HERE}/webhooks`);
  await page.getByRole("link", { name: "Low balance emails" }).click();
  await chooseAction(page, "Disable");
  await page.getByText("No other webhook is enabled, so notices will not be recorded").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Disable webhook in test" }).click();
  await page.getByText("It does not receive new notices.").waitFor();
  await page.getByRole("button", { name: "Send test" }).click();
  await page.getByText("Deliveries wait until it is enabled.").waitFor();
  await page.getByRole("button", { name: "Send test in test" }).click();
  await deliveryOf(page, "Pending").getByText("Test").waitFor();
  await expectAccessibleInBoth(page);

  // During the overlap, the old secret verifies too.
  await chooseAction(page, "Rotate secret");
  expect(await page.getByRole("button", { name: "Rotate secret in test" }).isDisabled()).toBe(true);
  await page.getByRole("radio", { name: "No", exact: true }).check();
  await page.getByLabel("Overlap").selectOption("1 hour");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Rotate secret in test" }).click();
  await page.getByText(/^Deliveries are also signed with the old secret until \d/).waitFor();
  expect(await secretOf(page)).not.toBe(receiver.secret);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("button", { name: "Enable webhook in test" }).click();
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.forged).toEqual([]);

  await chooseAction(page, "Delete");
  await page.getByLabel(/^Type "127\.0\.0\.1:\d+" to confirm$/).fill(new URL(receiver.url).host);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Delete webhook in test" }).click();
  await page.getByText("No webhooks yet").waitFor();
  expect((await manage("GET", "webhooks")).body["items"]).toEqual([]);

  await page.goto("/workspace/audit?action=webhook.");
  const actions = rowsOf(page, "Audit log").filter({ hasText: receiver.url });
  await expect.poll(() => actions.count()).toBe(5);
  expect(await page.getByLabel("Action").inputValue()).toBe("webhook.");
});

test("a failed delivery shows why, and can be sent again after the endpoint is fixed", async () => {
  const { service, manage, listen, consume } = await setupNotified();
  const receiver = await startReceiver();
  receiver.answer = (_, response) => response.writeHead(500).end("database is down");
  const id = await listen(receiver, { types: ["balance.low"] });
  await consume({ customerId: "ada", feature: "image.render", quantity: 9, idempotencyKey: "a" });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  const page = await signIn(service.url, `${HERE}/webhooks`);
  await page.getByRole("row", { name: /Low balance Failing since \d/ }).waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("link", { name: receiver.url }).click();
  await page.getByText(/^Every delivery has failed since/).waitFor();
  const first = deliveryOf(page, "Credits fell below 50.");
  await first.getByText("500", { exact: true }).waitFor();
  await first.getByRole("button", { name: /^Details of/ }).click();
  await page.getByText("Response 500").waitFor();
  await page.getByText("database is down").waitFor();
  await expectAccessible(page);

  receiver.answer = (_, response) => response.writeHead(200).end("stored");
  await first.getByRole("button", { name: /^Send again/ }).click();
  await page
    .getByText("Purser sends the notice now. If delivery fails, it retries for another three days.")
    .waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Send again in test" }).click();
  await first.getByText("Delivered").waitFor();
  await page.getByText("stored", { exact: true }).waitFor();
  // The customer's next notice waited for this one.
  await deliveryOf(page, "Credits fell below 20.").getByText("Delivered").waitFor();
  await expect.poll(() => page.getByText(/^Every delivery has failed since/).count()).toBe(0);

  await page.getByLabel("State").selectOption("Failed");
  await page.waitForURL("**/webhooks/*?state=failed");
  await page.getByText("No matches").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show all deliveries" }).click();
  await expect.poll(() => rowsOf(page, "Deliveries").filter({ hasText: "Low balance" }).count()).toBe(2);

  // An endpoint that does not respond has no status.
  await manage("PATCH", `webhooks/${id}`, { body: { url: "http://127.0.0.1:1/" } });
  await page.reload();
  await first.getByRole("button", { name: /^Send again/ }).click();
  await page.getByText("Your endpoint already received this notice.").waitFor();
  await page.getByRole("button", { name: "Send again in test" }).click();
  await first.getByText("The connection failed (ECONNREFUSED)").waitFor();
});

test("a webhook can be edited, and only the changed fields are sent", async () => {
  const { service, manage } = await setupManage();
  const url = "https://api.example.com/purser?token=7";
  const { webhook } = expectDone(
    await manage("POST", "webhooks", {
      body: { url, description: "Sales", types: ["plan.ended", "balance.low"] },
    }),
  ) as { webhook: { id: string } };
  const page = await signIn(service.url, `${HERE}/webhooks/${webhook.id}`);
  await page.getByText("No pool has a low-balance threshold.").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const save = page.getByRole("button", { name: "Save webhook in test" });
  expect(await save.isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Select all" }).click();
  await page.getByRole("button", { name: "Clear all" }).click();
  await page.getByText("Select at least one type.").waitFor();
  expect(await save.isDisabled()).toBe(true);
  await page.getByRole("checkbox", { name: "Plan ended plan.ended" }).check();
  await page.getByRole("button", { name: "API call" }).click();
  await page.getByText(`{"types":["plan.ended"]}`).waitFor();
  await page.getByLabel("Description").fill("");
  await page.getByText(`{"description":null,"types":["plan.ended"]}`).waitFor();
  await page.getByLabel("URL", { exact: true }).fill("http://10.0.0.5/");
  await save.click();
  await page.getByText("`url` must start with https://").waitFor();
  await expectAccessible(page);
  await page.getByLabel("URL", { exact: true }).fill(url);
  await save.click();
  await page.getByText("Edited api.example.com").waitFor();
  expect((await manage("GET", "webhooks")).body["items"]).toMatchObject([
    { url, description: null, types: ["plan.ended"] },
  ]);
});

test("a webhook that Purser disabled says why, and receives notices again after it is enabled", async () => {
  const { service, manage, database } = await setupManage();
  await manage("POST", "webhooks", { body: { url: "https://old.example.com/" } });
  await database.query(
    "update cell.webhooks set disabled_at = now(), disabled_by_failures = true, failing_since = now() - interval '5 days'",
  );
  const page = await signIn(service.url, `${HERE}/webhooks`, { scheme: "dark" });
  await page.getByRole("row", { name: /All types Disabled after five days of failures/ }).click();
  await page
    .getByText(/^Purser disabled the webhook on .* because every delivery had failed for five days\./)
    .waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Enable" }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Enable webhook in test" }).click();
  await page.getByText("Enabled", { exact: true }).waitFor();
  expect((await manage("GET", "webhooks")).body["items"]).toMatchObject([
    { enabled: true, failingSince: null },
  ]);
});

test("a replay continues until every notice of the time range is delivered again", async () => {
  const { service, manage, database } = await setupManage();
  await manage("POST", "webhooks", { body: { url: "https://old.example.com/" } });
  await manage("PATCH", "webhooks/1", { body: { enabled: false } });
  await database.query(
    `insert into cell.notices (environment_id, customer_number, type, sequence, details, effective_at, recorded_at)
     select w.environment_id, 1, 'plan.ended', n, '{"plan":"pro"}', t.at, t.at
     from cell.webhooks as w, generate_series(1, 2300) as n,
       date_trunc('milliseconds', now() - interval '1 hour') as t (at)`,
  );
  const page = await signIn(service.url, `${HERE}/webhooks/1`);
  await chooseAction(page, "Replay notices");
  await page.getByLabel("To (exclusive)").fill("2020-01-01T00:00");
  await page.getByText("Must be before the end.").waitFor();
  expect(await page.getByRole("button", { name: "Replay notices in test" }).isDisabled()).toBe(true);
  await page.getByLabel("To (exclusive)").fill("");
  await page.getByText("The webhook is disabled.").waitFor();
  await page.getByRole("checkbox", { name: "Only undelivered" }).check();
  await page.getByRole("button", { name: "API call" }).click();
  await page.getByText(/"undeliveredOnly":true\}'$/).waitFor();
  await page.getByRole("checkbox", { name: "Only undelivered" }).uncheck();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Replay notices in test" }).click();
  await page.getByText("Replayed 2,300 notices").waitFor();
  expect(await database.count("cell.deliveries")).toBe(2_300);
  await page.getByText("First 50 deliveries").waitFor();
});

test("a webhook can be created and tested with the keyboard", async () => {
  const { service } = await setupManage({ WEBHOOK_TARGETS: "any" });
  const receiver = await startReceiver();
  const page = await signIn(service.url, HERE);
  await page.keyboard.type("gw");
  await page.waitForURL("**/webhooks");
  await pressEnterOn(page, page.getByRole("button", { name: "Create webhook" }));
  await page.getByRole("dialog", { name: "Create webhook" }).waitFor();
  await page.keyboard.type(receiver.url);
  await tabTo(page, page.getByRole("checkbox", { name: "Limit reached limit.reached" }));
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await page.getByText("Copy the secret now").waitFor();
  await page.keyboard.press("Enter");
  receiver.secret = await page.evaluate(() => navigator.clipboard.readText());
  await pressEnterOn(page, page.getByRole("button", { name: "I have stored it" }));
  await pressEnterOn(page, page.getByRole("button", { name: "Send test" }).first());
  await pressEnterOn(page, page.getByRole("button", { name: "Send test in test" }));
  await deliveryOf(page, "Test").getByText("Delivered").waitFor();
  expect(receiver.forged).toEqual([]);
});

test("a viewer sees webhooks, deliveries and notices without actions, and an operator may send but not edit", async () => {
  const { service, tokens, manage, listen, consume } = await setupNotified();
  const receiver = await startReceiver();
  const id = await listen(receiver);
  await consume({ customerId: "ada", feature: "image.render", quantity: 6, idempotencyKey: "a" });
  const viewer = await signIn(service.url, `${HERE}/webhooks?do=create`, {
    credentials: await addMember(service.url, tokens.owner, "viewer"),
  });
  await viewer.getByRole("link", { name: receiver.url }).waitFor();
  expect(await viewer.getByRole("button", { name: /Create/ }).count()).toBe(0);
  await viewer.goto(`${HERE}/webhooks/${id}`);
  await deliveryOf(viewer, "Low balance").waitFor();
  for (const name of [/Send/, /^Edit/, /More actions/, /Enable/])
    expect(await viewer.getByRole("button", { name }).count()).toBe(0);
  await expectAccessible(viewer);
  await viewer.goto(`${HERE}/features/pools`);
  await viewer.getByRole("cell", { name: "50 and 20", exact: true }).waitFor();
  expect(await viewer.getByRole("button", { name: /Edit|Create/ }).count()).toBe(0);
  await viewer.goto(`${ADA}/notices`);
  await viewer.getByText("Credits fell below 50. 40 left.").waitFor();

  const operator = await signIn(service.url, `${HERE}/webhooks/${id}`, {
    credentials: await addMember(service.url, tokens.owner, "operator"),
  });
  await operator.getByRole("button", { name: "Send test" }).waitFor();
  await operator
    .getByRole("button", { name: /^Send again/ })
    .first()
    .waitFor();
  expect(await operator.getByRole("button", { name: "Edit" }).count()).toBe(0);
  await operator.getByRole("button", { name: "More actions" }).click();
  expect(await operator.getByRole("menuitem").allTextContents()).toEqual(["Replay notices"]);

  // The pages of a deleted webhook and of an unknown customer do not exist.
  await manage("DELETE", `webhooks/${id}`);
  for (const path of [`webhooks/${id}`, "customers/nobody/notices"]) {
    await viewer.goto(`${HERE}/${path}`);
    await viewer.getByText("This page does not exist").waitFor();
  }
});

test("a customer without notices gets an explanation and a link to the webhooks", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, `${ADA}/notices`);
  await page.getByText("No notices yet").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("link", { name: "View webhooks" }).click();
  await page.getByText("No webhooks yet").waitFor();
});
