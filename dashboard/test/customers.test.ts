import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const CUSTOMERS = "/projects/1/test/customers";

test("customer list filters are kept in the URL and survive a reload", async () => {
  const { service, manage, assign } = await setupManage();
  await manage("PUT", "customers/acme", { body: { name: "Acme GmbH", email: "pay@acme.example" } });
  await manage("PUT", "customers/bert", { body: { name: "Bert & Sons" } });
  await assign("bert");
  await manage("PUT", "customers/bert/block", { body: { blocked: true } });
  const page = await signIn(service.url, CUSTOMERS);
  const rows = page.getByRole("region", { name: "Customers" }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(3);
  await expectAccessible(page);

  // The slash key focuses the search, and the typed text is kept in the URL.
  await page.keyboard.press("/");
  await page.keyboard.type("pay@");
  await page.waitForURL("**/customers?search=pay%40");
  await expect.poll(() => rows.count()).toBe(1);
  await page.reload();
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining("Acme GmbH")]);
  expect(await page.getByRole("searchbox").inputValue()).toBe("pay@");

  await page.getByRole("searchbox").fill("nobody");
  await page.getByText("No matches").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect.poll(() => rows.count()).toBe(3);
  expect(await page.getByRole("searchbox").inputValue()).toBe("");

  await page.getByLabel("Plan").selectOption("Pro");
  await page.getByLabel("Blocked").selectOption("Blocked");
  await page.getByLabel("Balance below").fill("1,000");
  await page.waitForURL((address) => address.search.includes("balanceBelow=1000"));
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining("Bert & Sons")]);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.getByLabel("Blocked").inputValue()).toBe("true");
});

test("a customer can be found and opened with the keyboard, and each tab has a URL", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, CUSTOMERS);
  await page.keyboard.press("/");
  await page.keyboard.type("ada");
  await page.waitForURL("**/customers?search=ada");
  await tabTo(page, page.getByRole("link", { name: "ada" }));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "ada", level: 1 }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Ledger" }).press("Enter");
  await page.waitForURL("**/customers/ada/ledger");
  expect(await page.getByRole("link", { name: "Ledger" }).getAttribute("aria-current")).toBe("page");
  await page.goBack();
  await page.waitForURL("**/customers/ada");
});

test("an empty customer list explains how customers are created and links to the first-event page", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live/customers", { scheme: "dark" });
  await page
    .getByText(
      "Purser creates a customer when you first send an event, assign a plan or add credits for an ID.",
    )
    .waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Send your first event" }).press("Enter");
  await page.waitForURL("**/projects/1/live/first-event");
});
