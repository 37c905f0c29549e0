import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { TAMPERINGS } from "../../service/test/tamperings.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const ADA = "/projects/1/test/customers/ada";

test.each(["light", "dark"] as const)(
  "the overview shows the balance, its history and the ledger check (%s)",
  async (scheme) => {
    const { service, manage, consume, topUp } = await setupManage();
    await manage("PUT", "customers/ada", { body: { metadata: { region: "eu", seats: 3 } } });
    await topUp("ada", 40);
    await manage("POST", "customers/ada/credits", {
      body: { credits: 7, kind: "promotion", expiresAt: new Date(Date.now() + 3_600_000).toISOString() },
    });
    await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "a" });
    const page = await signIn(service.url, ADA, { scheme });
    await page.getByText(/The ledger matches the balance\. Checked .* \d\d:\d\d \(4 entries\)/).waitFor();
    await page.getByRole("img", { name: /Balance over time/ }).waitFor();
    await expectAccessible(page);

    // The promotion expires first, so it is spent first. Plan credits come before credits without expiry.
    const open = page.getByRole("region", { name: "Remaining credits" }).locator("tbody tr");
    await expect
      .poll(() => open.allInnerTexts())
      .toEqual([
        expect.stringMatching(/Plan credits\s+97 of 100/),
        expect.stringMatching(/Goodwill\s+40 of 40/),
      ]);
    await page.getByText("At most 5 a day").waitFor();
    await page
      .locator("dl", { hasText: "Active since" })
      .getByText(/^Renews/)
      .waitFor();
    const { body } = await manage("GET", "customers/ada/grants");
    const grants = body["items"] as { kind: string; expiresAt: string }[];
    const renewal = page.getByText("Available now. Renews").locator("time");
    expect(await renewal.getAttribute("datetime")).toBe(
      grants.find(({ kind }) => kind === "allowance")?.expiresAt,
    );
    await expect.poll(() => page.getByText("eu", { exact: true }).count()).toBe(1);

    // The keyboard opens the chart as a table, and the customer as JSON.
    await tabTo(page, page.getByRole("button", { name: "Latest 4 changes as a table" }));
    await page.keyboard.press("Enter");
    const changes = page.getByRole("region", { name: "Balance over time, as a table" }).locator("tbody tr");
    await expect
      .poll(() => changes.allInnerTexts())
      .toEqual([
        expect.stringMatching(/Charge\s+−10\s+137/),
        expect.stringMatching(/Top-up\s+\+7\s+147/),
        expect.stringMatching(/Top-up\s+\+40\s+140/),
        expect.stringMatching(/Plan credits\s+\+100\s+100/),
      ]);
    await page.getByRole("button", { name: "Code" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "JSON" }).press("Enter");
    await page.getByText('"seats": 3').waitFor();
    await expectAccessible(page);
  },
);

test("the overview reports a tampered ledger", async () => {
  const { service, consume, database, manage } = await setupManage();
  await manage("PUT", "pools/credits", { body: { name: "Studio credits" } });
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "a" });
  // Bypass the triggers that protect the ledger, as the database owner can.
  await database.query("set session_replication_role = replica");
  await TAMPERINGS.find(({ name }) => name === "an amount")?.tamper(database);
  const page = await signIn(service.url, ADA);
  await page.getByText("The ledger does not match the balance").waitFor();
  await page.getByText("Pool Studio credits: the entries sum to").waitFor();
  await expectAccessible(page);
});

test("the overview does not describe a balance of 0 as available", async () => {
  const { service, consume } = await setupManage();
  await consume({ customerId: "ada", feature: "image.render", quantity: 10, idempotencyKey: "all" });
  const page = await signIn(service.url, "/projects/1/test/customers/ada");
  await page.getByText(/^No credits left\. Renews/).waitFor();
  expect(await page.getByText("Available now.").count()).toBe(0);
});
