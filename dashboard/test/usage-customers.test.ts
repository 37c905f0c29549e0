import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { settle } from "../../service/test/usage.ts";
import { customerLines } from "../src/features/usage/customer-lines.ts";
import { signIn } from "./browser.ts";

test("customers not shown in the chart are listed under By customer, but not when usage is grouped by event", async () => {
  const managed = await setupManage();
  const customers = [8, 7, 6, 5, 4, 3, 2, 1];
  for (const rank of customers)
    await managed.record({ customerId: `c${rank}`, event: "tokens", quantity: 10 * rank });
  await settle(managed);
  const page = await signIn(managed.service.url, "/projects/1/test/usage?what=quantity&groupBy=customer");
  const byCustomer = page.getByRole("region", { name: "By customer" }).locator("tbody tr td:first-child");
  await expect.poll(() => byCustomer.allTextContents()).toEqual(customers.map((rank) => `c${rank}`));
  await page.getByRole("button", { name: "Event key" }).click();
  const byEvent = page.getByRole("region", { name: "By event" });
  await byEvent.waitFor();
  expect(await byEvent.locator("tbody tr td:first-child").allTextContents()).toEqual(["tokens"]);
  await byEvent.getByText("100%").waitFor();
  await page.getByLabel("Metric").selectOption("Usage events");
  await page.getByRole("button", { name: "Customer", exact: true }).click();
  await expect.poll(() => byCustomer.count()).toBe(8);
});

const RANGE = { from: "2026-11-01T00:00:00.000Z", to: "2026-11-15T13:15:00.000Z" };
const used = (credits: number, count = credits) => ({ count, quantity: credits, credits });
const charted = (key: string | null, credits: number) => ({
  id: `line-${credits}`,
  key,
  isOther: false,
  name: key ?? "Erased customer",
  fill: "var(--series-1)",
  total: used(credits),
});
const ranked = (customerId: string | null, credits: number) => ({
  customerId,
  customerName: null,
  ...used(credits),
});

test("customers who change rank while the table loads are listed once", () => {
  const lines = customerLines(
    { series: [charted("ada", 9), charted(null, 8), charted("bob", 7)], usage: RANGE },
    {
      ...RANGE,
      customers: [
        ranked("cleo", 10),
        ranked("ada", 9),
        ranked(null, 8),
        ranked("bob", 7),
        ranked(null, 6),
        ranked("dan", 5),
      ],
      other: used(3),
    },
  );
  expect(lines.map(({ key, total }) => [key, total.credits])).toEqual([
    ["ada", 9],
    [null, 8],
    ["bob", 7],
    ["cleo", 10],
    [null, 6],
    ["dan", 5],
    [null, 3],
  ]);
  expect(lines.filter(({ isOther }) => isOther).map(({ name }) => name)).toEqual(["Other"]);
});

test("the Other line is listed unless all its totals are zero", () => {
  const charts = { series: [charted("ada", 9)], usage: RANGE };
  const others = (other: ReturnType<typeof used>) =>
    customerLines(charts, { ...RANGE, customers: [ranked("ada", 9)], other }).map(({ name }) => name);
  expect(others(used(-20, 0))).toEqual(["ada", "Other"]);
  expect(others(used(0))).toEqual(["ada"]);
});
