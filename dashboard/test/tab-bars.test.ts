import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { signIn } from "./browser.ts";

const NARROW = 390;
const HERE = "/projects/1/test";

/** Opens each tab, and returns the distance of the tab bar from the top of the page. */
async function topsOf(page: Page, label: string, names: readonly string[]): Promise<number[]> {
  const bar = page.getByRole("navigation", { name: label });
  const tops: number[] = [];
  for (const name of names) {
    const tab = bar.getByRole("link", { name, exact: true });
    await tab.click();
    await expect.poll(() => tab.getAttribute("aria-current")).toBe("page");
    await page.waitForLoadState("networkidle");
    tops.push(await bar.evaluate((element) => element.getBoundingClientRect().y + scrollY));
  }
  return tops;
}

const ALIKE = [
  { label: "Customers", path: `${HERE}/customers`, tabs: ["All customers", "Running out"] },
  { label: "Features", path: `${HERE}/features`, tabs: ["Features", "Event keys", "Pools"] },
  {
    label: "Settings",
    path: "/workspace/settings",
    tabs: ["Workspace", "Projects", "System health", "Profile"],
  },
  { label: "Usage", path: `${HERE}/usage`, tabs: ["Overview", "Events", "Monthly statement", "Exports"] },
  {
    label: "Customer",
    path: `${HERE}/customers/ada`,
    tabs: ["Overview", "Ledger", "Grants", "Holds", "Usage", "Requests", "Notices", "Plan history"],
  },
];

test.each(ALIKE.flatMap((each) => [1440, 768, NARROW].map((width) => ({ ...each, width }))))(
  "the tab bar of $label stays at the same height on every tab ($width px)",
  async ({ label, path, tabs, width }) => {
    const { service, consume } = await setupManage();
    await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "a" });
    const page = await signIn(service.url, path, { width });
    const tops = await topsOf(page, label, tabs);
    expect(new Set(tops).size).toBe(1);
  },
);

test("on a desktop, a customer's tabs are near the top", async () => {
  const { service, manage } = await setupManage();
  const profile = { name: "Ada Films", email: "pay@films.example", billingReference: "cus_77" };
  await manage("PUT", "customers/ada", { body: profile });
  const page = await signIn(service.url, `${HERE}/customers/ada`, { width: 1440 });
  const bar = page.getByRole("navigation", { name: "Customer" });
  expect(await bar.evaluate((element) => element.getBoundingClientRect().y)).toBeLessThan(180);
});

test("on a phone, a customer's tabs are near the top, and the last tab can be reached", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, `${HERE}/customers/ada`, { width: NARROW });
  const bar = page.getByRole("navigation", { name: "Customer" });
  expect(await bar.evaluate((element) => element.getBoundingClientRect().y)).toBeLessThan(300);
  await bar.getByRole("link", { name: "Plan history" }).click();
  await page.waitForURL("**/customers/ada/plans");
  const box = await bar.getByRole("link", { name: "Plan history" }).boundingBox();
  expect(box).not.toBeNull();
  expect((box?.x ?? 0) + (box?.width ?? NARROW + 1)).toBeLessThanOrEqual(NARROW);
});
