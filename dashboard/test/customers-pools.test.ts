import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

test.each(["light", "dark"] as const)("each pool has a separate balance (%s)", async (scheme) => {
  const { service, manage, publish, assign, consume } = await setupManage();
  await manage("PUT", "pools/video", { body: { name: "Video minutes" } });
  const feature = { name: "Video", unit: "minute", pool: "video", cost: { credits: 2 } };
  await manage("PUT", "features/video.mix", { body: feature });
  await publish({
    key: "studio",
    name: "Studio",
    allowances: [
      { pool: "credits", credits: 100, period: "month", rollover: 0, overage: 0 },
      { pool: "video", credits: 30, period: "week", rollover: 0, overage: 0 },
    ],
    features: [
      { feature: "image.render", limit: null },
      { feature: "video.mix", limit: null },
    ],
  });
  await assign("grace", "studio");
  await consume({ customerId: "grace", feature: "video.mix", quantity: 10, idempotencyKey: "v" });
  await consume({ customerId: "grace", feature: "image.render", idempotencyKey: "i" });

  // Each pool has its own balance and period.
  const page = await signIn(service.url, "/projects/1/test/customers", { scheme });
  await page.getByRole("row", { name: /grace.*Studio.*90.*10/ }).waitFor();
  await page.getByRole("columnheader", { name: "Video minutes" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "grace" }).press("Enter");
  await page.getByText("Balance (Video minutes)").waitFor();
  await page.getByRole("heading", { name: "Balance over time (Video minutes)" }).waitFor();
  const renewals = page.getByText("Available now. Renews").locator("time");
  await expect.poll(() => renewals.count()).toBe(2);
  const [first, second] = await renewals.evaluateAll((all) => all.map((it) => it.getAttribute("datetime")));
  expect(first).not.toBe(second);
  await expectAccessible(page);

  await tabTo(page, page.getByRole("button", { name: "Add credits", exact: true }));
  await page.keyboard.press("Enter");
  await page.getByLabel("Credits", { exact: true }).waitFor();
  await page.keyboard.type("25");
  await tabTo(page, page.getByLabel("Pool"));
  await page.keyboard.type("Video");
  await page.getByText("10 → 35").waitFor();
  await expectAccessible(page);
  await tabTo(page, page.getByRole("button", { name: "Add 25 credits in test" }));
  await page.keyboard.press("Enter");
  await page.getByText("Balance 10 → 35").waitFor();
  expect((await manage("GET", "customers/grace")).body["balances"]).toEqual([
    { pool: "credits", balance: 90, held: 0, overage: null },
    { pool: "video", balance: 35, held: 0, overage: null },
  ]);

  // Previews of a plan assignment show the pool names.
  await page.goto("/projects/1/test/customers/ada?do=assign-plan");
  const dialog = page.getByRole("dialog", { name: "Assign plan" });
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Studio");
  await dialog.getByText("Balance (Video minutes) 0 → 30").waitFor();
  await dialog
    .getByText("Includes 100 credits a month in Credits and 30 credits a week in Video minutes.")
    .waitFor();
  await page.goto("/projects/1/test/customers");
  await page.getByLabel("Select ada").click();
  await page
    .getByRole("region", { name: "Selected customers" })
    .getByRole("button", { name: "Assign plan" })
    .click();
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Studio");
  await dialog.getByText("Studio, Credits 100 / Video minutes 30").waitFor();
});
