import { expect, test } from "vitest";
import { type Managed, nameSeeds, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";

const REQUESTS = "/projects/1/test/requests";

async function logged({ database }: Managed, count: number): Promise<void> {
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(count);
}

/** Path of the page for ada's newest denial. */
async function denialPath({ manage }: Managed): Promise<string> {
  const { body } = await manage("GET", "customers/ada/denials");
  const [newest] = body["items"] as { denialId: string }[];
  return `/projects/1/test/denials/${newest?.denialId}`;
}

test("a denial is explained, and the same request is allowed after a top-up", async () => {
  const managed = await setupManage();
  const { consume, manage } = managed;
  const render = (quantity: number, idempotencyKey: string) =>
    consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey });
  let attempts = 0;
  while ((await render(3, `job-${attempts}`)).body["allowed"] === true) attempts++;
  expect(attempts).toBe(3);
  await logged(managed, 4);

  const page = await signIn(managed.service.url, REQUESTS);
  await page.getByRole("link", { name: "Why?" }).click();
  await page.getByRole("heading", { name: "Denied: not enough credits" }).waitFor();
  await page
    .getByText("3 × image.render cost 30 credits. Only 10 credits were left. That is 20 credits short.")
    .waitFor();
  const sum = page.getByRole("table", { name: "Calculation" });
  expect(await sum.getByRole("cell").allTextContents()).toEqual(["30", "10", "20"]);
  const charges = page.getByRole("region", { name: "Charges before the denial" }).locator("tbody tr");
  expect(await charges.count()).toBe(3);
  await page.getByText("Total 10").waitFor();
  await page.getByText("The same request would still be denied").waitFor();
  const add = page.getByRole("link", { name: "Add credits (20 short)" });
  expect(await add.getAttribute("href")).toBe("/projects/1/test/customers/ada?do=add-credits");
  const assign = page.getByRole("link", { name: "Assign plan" });
  expect(await assign.getAttribute("href")).toBe("/projects/1/test/customers/ada?do=assign-plan");
  await expectAccessible(page);

  const added = await manage("POST", "customers/ada/credits", { body: { kind: "manual", credits: 20 } });
  expect(added.status).toBe(200);
  await page.reload();
  await page
    .getByText("The same request would be allowed now. It would cost 30 credits; the balance is 30.")
    .waitFor();
  expect(await sum.getByRole("cell").allTextContents()).toEqual(["30", "10", "20"]);
  expect(await page.getByRole("link", { name: /Add credits/ }).count()).toBe(0);
  // The old idempotency key still returns the denial. A request with a new key is allowed.
  expect((await render(3, "job-3")).body).toMatchObject({ allowed: false });
  expect((await render(3, "job-4")).body).toMatchObject({ allowed: true, balance: 0 });
});

test("a denial for a reached limit is explained, and the link to the plan works with the keyboard", async () => {
  const managed = await setupManage();
  const { consume } = managed;
  await nameSeeds(managed);
  await consume({ customerId: "ada", feature: "export", quantity: 4, idempotencyKey: "a" });
  await consume({ customerId: "ada", feature: "export", quantity: 2, idempotencyKey: "b" });
  await logged(managed, 2);
  const page = await signIn(managed.service.url, REQUESTS, { scheme: "dark" });
  const why = page.getByRole("link", { name: "Why?" });
  await why.waitFor();
  await page.getByRole("region", { name: "Requests" }).focus();
  for (let tabs = 0; tabs < 2; tabs++) await page.keyboard.press("Tab");
  expect(await why.evaluate((link) => link === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Denied: limit reached" }).waitFor();
  await page.getByRole("button", { name: "Back" }).click();
  await page.waitForURL(`**${REQUESTS}`);
  await page.getByRole("link", { name: "Why?" }).click();
  await page
    .getByText("Pro allows at most 5 exports a day. 4 were used, and the request asked for 2 more.")
    .waitFor();
  await page.getByText(/^You can wait until the limit resets on .* (UTC|CET|CEST)\.$/).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Code" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "JSON" }).press("Enter");
  await page.getByText('"reason": "limit_reached"').first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Open plan Pro" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/plans/pro");
});

test("a viewer sees the explanation of a denial but no actions", async () => {
  const managed = await setupManage();
  const { consume, service, tokens } = managed;
  await nameSeeds(managed);
  await consume({ customerId: "ada", feature: "image.render", quantity: 11, idempotencyKey: "a" });
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, await denialPath(managed), { credentials });
  await page
    .getByText("11 × Product image cost 110 credits. Only 100 credits were left. That is 10 credits short.")
    .waitFor();
  await page.getByRole("link", { name: "Ada Films" }).waitFor();
  expect(await page.getByRole("link", { name: /Add credits|Assign/ }).count()).toBe(0);
  await page.goto("/projects/1/test/keys/a");
  await page.getByText("Denied 11 × Product image for Ada Films: not enough credits.").waitFor();
  expect(await page.getByRole("button", { name: /Send/ }).count()).toBe(0);
  await page.goto(REQUESTS);
  await page.getByRole("switch", { name: "Live tail" }).waitFor();
  expect(await page.getByRole("button", { name: "Send test requests" }).count()).toBe(0);
});

test("an unknown denial shows the not-found page", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/denials/den_01m7e9sv4w7w8rj0k3v3k4fb8p");
  await page.getByText("This page does not exist").waitFor();
  await page.getByRole("link", { name: "Customers" }).waitFor();
});

test("a denied check is explained by its reason and the customer's current state", async () => {
  const managed = await setupManage();
  await managed.check({ customerId: "ada", feature: "image.render", quantity: 11 });
  await managed.check({ customerId: "nobody", feature: "image.render" });
  await logged(managed, 2);
  const page = await signIn(managed.service.url, REQUESTS);
  const why = page.getByRole("button", { name: "Why?" });
  await why.last().click();
  const dialog = page.getByRole("dialog", { name: "Denied: not enough credits" });
  await dialog.getByText("image.render would have cost more credits than the customer had.").waitFor();
  await dialog.getByText("image.render, 10 credits each").waitFor();
  await expect.poll(() => dialog.textContent()).toMatch(/PlanPro.*Balance100/);
  const add = dialog.getByRole("link", { name: "Add credits" });
  expect(await add.getAttribute("href")).toBe("/projects/1/test/customers/ada?do=add-credits");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await why.first().click();
  await page.getByText("The customer did not exist, and there was no default plan.").waitFor();
  expect(await page.getByRole("dialog").getByRole("link").count()).toBe(0);
});
