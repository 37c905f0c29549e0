import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

test("a bulk plan change shows what customers lose, grouped by their current plan", async () => {
  const { service, manage, publish, assign } = await setupManage();
  const allowance = (credits: number) => [
    { pool: "credits", credits, period: "month", rollover: 0, overage: 0 } as const,
  ];
  const included = { feature: "hd.export", limit: null };
  const hd = { name: "HD exports", unit: null, pool: "credits", cost: { credits: 2 } };
  expect((await manage("PUT", "features/hd.export", { body: hd })).status).toBe(200);
  await publish({ key: "big", name: "Big", allowances: allowance(900), features: [included] });
  await publish({ key: "small", name: "Small", allowances: allowance(50), features: [] });
  for (const id of ["org_1", "org_2", "org_3", "org_4", "org_5"]) await assign(id, "big");
  await assign("org_5", "small");
  const body = { features: { "hd.export": { included: false } } };
  expect((await manage("PUT", "customers/org_4/overrides", { body })).status).toBe(200);
  const page = await signIn(service.url, "/projects/1/test/customers?search=org");
  await page.getByLabel("Select the 5 rows shown").click();
  await page.getByRole("region", { name: "Selected customers" }).getByText("5 selected").waitFor();
  await page
    .getByRole("region", { name: "Selected customers" })
    .getByRole("button", { name: "Assign plan" })
    .click();
  const dialog = page.getByRole("dialog", { name: "Assign plan" });
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Small");
  await dialog.getByText("Small has less favorable terms than the current plans of 4 customers").waitFor();
  const fewer = "50 credits a month instead of 900 credits a month.";
  await dialog.getByText(`3 customers on Big: No longer included: HD exports. ${fewer}`).waitFor();
  // An override already excludes the feature for org_4, so org_4 does not lose it.
  await dialog.getByText(`1 customer on Big: ${fewer}`, { exact: true }).waitFor();
  await expectAccessible(page);
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Big");
  await dialog.getByText("1 of 5 selected customers will change.").waitFor();
  expect(await dialog.getByText(/less favorable/).count()).toBe(0);
});

test("a bulk change can explicitly assign the default plan to customers who have it by default", async () => {
  const { service, manage, consume } = await setupManage();
  expect((await manage("PUT", "default-plan", { body: { plan: "pro" } })).status).toBe(200);
  for (const customerId of ["org_1", "org_2"])
    await consume({ customerId, feature: "image.render", idempotencyKey: customerId });
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByLabel("Select the 3 rows shown").click();
  const bar = page.getByRole("region", { name: "Selected customers" });
  await bar.getByRole("button", { name: "Assign plan" }).click();
  const dialog = page.getByRole("dialog", { name: "Assign plan" });
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Pro");
  await dialog.getByText("Pro (default), 90 → Pro, 90").first().waitFor();
  await dialog.getByText("2 of 3 selected customers will change.").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Assign Pro to 2 customers in test" }).click();
  await dialog.getByText("Assigned Pro to 2 customers", { exact: true }).waitFor();
  for (const id of ["org_1", "org_2"])
    expect((await manage("GET", `customers/${id}`)).body).toMatchObject({
      plan: { key: "pro", isDefault: false },
    });
});

test("a bulk plan change shows the scheduled changes it cancels, and skips a customer who has the plan by default", async () => {
  const { service, manage, publish, assign, consume } = await setupManage();
  await publish({ key: "free", name: "Free", allowances: [] });
  expect((await manage("PUT", "default-plan", { body: { plan: "free" } })).status).toBe(200);
  await assign("org_2", "pro");
  // The request is denied, but it creates the customer with the default plan.
  await consume({ customerId: "org_1", feature: "image.render", idempotencyKey: "k" });
  const startsAt = new Date(Date.now() + 86_400_000).toISOString();
  for (const id of ["org_1", "org_2"]) {
    const body = { plan: id === "org_1" ? "pro" : "free", startsAt };
    expect((await manage("POST", `customers/${id}/plan`, { body })).status).toBe(200);
  }
  const page = await signIn(service.url, "/projects/1/test/customers?search=org");
  await page.getByLabel("Select the 2 rows shown").click();
  const bar = page.getByRole("region", { name: "Selected customers" });
  await bar.getByRole("button", { name: "Assign plan" }).click();
  const dialog = page.getByRole("dialog", { name: "Assign plan" });
  const plans = dialog.getByLabel("Plan", { exact: true });
  await plans.selectOption("Pro");
  await dialog.getByText(/^Free \(default\), 0 → Pro, 100. Cancels the change to Pro$/).waitFor();
  await dialog.getByText("Cancels the scheduled plan changes for 1 customer").waitFor();
  await dialog.getByText("You cannot undo the assignment for this customer.").waitFor();
  await expectAccessible(page);
  await plans.selectOption("Free");
  await dialog.getByText("Free (default), 0 (no change)").waitFor();
  await dialog.getByText(/→ Free, 0. Cancels the change to Free$/).waitFor();
  await dialog.getByRole("button", { name: "Assign Free to 1 customer in test" }).click();
  await dialog.getByText("Assigned Free to 1 customer", { exact: true }).waitFor();
  expect((await manage("GET", "customers/org_1")).body).toMatchObject({ nextPlan: { key: "pro" } });
});
