import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expireHolds, openHolds } from "../../service/test/holds.ts";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible, expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";

const ADA = "/projects/1/test/customers/ada";

const regionOf = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

async function linesOf(rows: Locator): Promise<string[]> {
  return (await rows.allInnerTexts()).map((line) => line.replaceAll(/\s+/g, " ").trim());
}

async function setupHolds() {
  const managed = await setupManage();
  return { ...managed, ...openHolds(managed), manage: managed.manage };
}

test("an open hold can be released manually, and then appears in the hold history and the audit log", async () => {
  const { service, manage, hold, settle, balance } = await setupHolds();
  const opened = await hold({
    feature: "image.render",
    quantity: 2,
    idempotencyKey: "job-1",
    memberId: "m_7",
  });
  const holdId = String(opened.body["holdId"]);
  const page = await signIn(service.url, ADA);
  await page.getByRole("link", { name: "20 more are held" }).click();
  const row = regionOf(page, "Open holds").getByRole("row").filter({ hasText: "m_7" });
  await row.waitFor();
  expect(await linesOf(row)).toEqual([expect.stringMatching(/× 2 m_7 in 14 minutes then released 20 /)]);
  await page.getByText("No hold has ended yet.").waitFor();
  await expectAccessibleInBoth(page);

  await row.getByRole("button", { name: `Release hold ${holdId}` }).click();
  const dialog = page.getByRole("dialog", { name: "Release hold" });
  await dialog
    .getByText("A settlement that arrives later is rejected, so the work is not charged.")
    .waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Release 20 credits in test" }).click();
  await page.getByText("Hold released").waitFor();
  await page.getByText("No open holds.").waitFor();
  const ended = regionOf(page, "Ended holds").getByRole("row").filter({ hasText: "m_7" });
  await ended.getByText("by Olga Owner").filter({ visible: true }).waitFor();
  expect(await linesOf(ended)).toEqual([expect.stringMatching(/20 0 20 Released by Olga Owner/)]);
  expect(await page.getByText("more are held").count()).toBe(0);
  expect([await balance(), (await settle(holdId)).body["code"]]).toEqual([100, "hold_released"]);

  await page.goto("/workspace/audit?action=hold.released");
  await page.getByText("Olga Owner released a hold of 20 credits for ada").waitFor();
  expect(await page.getByLabel("Action").inputValue()).toBe("hold.released");
  const { items } = (await manage("GET", "audit?action=hold.released")).body;
  expect(items).toMatchObject([{ subject: holdId }]);
});

test("the hold history shows how each hold ended and links to its charge", async () => {
  const { service, database, open, settle, release, topUp } = await setupHolds();
  await topUp("ada", 50);
  const late = await open({ feature: "image.render", quantity: 1 });
  await open({ feature: "image.render", quantity: 2, onExpiry: "charge" });
  await open({ feature: "image.render", quantity: 3 });
  await expireHolds(database);
  expect((await settle(late, { quantity: 1 })).status).toBe(200);
  await release(await open({ feature: "image.render", quantity: 4 }));
  const items = [
    { feature: "image.render", quantity: 5 },
    { feature: "text.generate", quantity: 2_000 },
  ];
  const several = await open({ items });
  const { body } = await settle(several, { items: [{ feature: "image.render", quantity: 30 }] });
  const page = await signIn(service.url, `${ADA}/holds`);
  const rows = regionOf(page, "Ended holds").locator("tbody tr");
  await rows.first().waitFor();
  expect(await linesOf(rows)).toEqual([
    expect.stringMatching(/× 30 \(5 held\) .*× 0 of 2,000 .*Settled \d+ credits? not covered$/),
    expect.stringMatching(/× 4 .*40 0 40 Released$/),
    expect.stringMatching(/× 3 .*30 0 30 Expired$/),
    expect.stringMatching(/× 2 .*20 20 0 Charged on expiry$/),
    expect.stringMatching(/× 1 .*10 10 0 Settled late$/),
  ]);
  await rows
    .first()
    .getByRole("button", { name: `Details of hold ${several}` })
    .click();
  await page.getByRole("region", { name: "Held features" }).getByText("2,000").waitFor();
  await expectAccessible(page);
  await rows.first().getByRole("link").first().click();
  await page.waitForURL(`**/customers/ada/ledger?charge=${body["consumeId"]}`);
});

test("a denied hold extension is explained by its reason and the customer's current state", async () => {
  const { service, manage, hold, extend } = await setupHolds();
  const opened = await hold({ feature: "image.render", quantity: 2 });
  const reply = await extend(String(opened.body["holdId"]), { quantity: 50 });
  expect(reply.body).toMatchObject({ allowed: false, reason: "insufficient_credits" });
  const requests = async () => ((await manage("GET", "requests")).body["items"] as unknown[]).length;
  await expect.poll(requests).toBe(2);
  for (const path of ["/projects/1/test/requests", `${ADA}/requests`]) {
    const page = await signIn(service.url, path);
    await page.getByRole("button", { name: "Why?" }).click();
    const dialog = page.getByRole("dialog", { name: "Denied: not enough credits" });
    await dialog.getByText("The extension would have cost more credits than the customer had.").waitFor();
    await dialog.getByText(/^Denied extensions are logged without/).waitFor();
    await expect.poll(() => dialog.textContent()).toMatch(/PlanPro.*Balance80/);
    await dialog.getByRole("link", { name: "Add credits" }).waitFor();
    await expectAccessible(page);
  }
});

test("the page of an idempotency key shows the hold it opened, with a link", async () => {
  const { service, database, hold } = await setupHolds();
  const job = { feature: "image.render", quantity: 2, idempotencyKey: "job-1" };
  const opened = await hold(job);
  await hold({ ...job, onExpiry: "charge", expiresInSeconds: 60 });
  await hold({ feature: "image.render", quantity: 90, idempotencyKey: "job-2" });
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(3);
  const page = await signIn(service.url, "/projects/1/test/requests?endpoint=holds");
  await page.getByText("Held", { exact: true }).waitFor();
  expect(await page.getByLabel("Endpoint").inputValue()).toBe("holds");
  await page.getByRole("link", { name: "Why?" }).click();
  await page.getByRole("heading", { name: "Denied: not enough credits" }).waitFor();

  await page.goto("/projects/1/test/keys/job-1");
  await page.getByText("Set aside 20 credits for ada (2 × image.render). The hold is open.").waitFor();
  const differed = page.getByRole("table", { name: /^Differences/ }).getByRole("row", { name: /Differs/ });
  expect(await linesOf(differed)).toEqual([
    "expiresInSeconds Differs 900 different (not logged)",
    "onExpiry Differs release charge",
  ]);
  expect(await page.getByRole("button", { name: "Test retries" }).count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("link", { name: String(opened.body["holdId"]) }).click();
  await page.locator(`tr[aria-current]#hold-${opened.body["holdId"]}`).waitFor();
});

test("a grant whose credits are all held is shown as held, and a viewer cannot release holds", async () => {
  const { service, tokens, open } = await setupHolds();
  await open({ feature: "image.render", quantity: 10 });
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, `${ADA}/grants`, { credentials, scheme: "dark", width: 390 });
  await page.getByText("Held", { exact: true }).waitFor();
  await page.getByText("100 held", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("No credits left to spend.").waitFor();
  await page.getByText("100 more are held by open holds.").waitFor();
  await page.getByRole("link", { name: "Holds", exact: true }).click();
  await page.getByRole("button", { name: /^Details of hold/ }).click();
  await page.getByText("On expiry").waitFor();
  expect(await page.getByRole("button", { name: /^Release/ }).count()).toBe(0);
  await expectAccessible(page);
  await page.goto("/projects/1/test/customers/ada/holds?hold=hld_none");
  await page.getByText("Hold hld_none was not found for this customer.").waitFor();
});
