import type { Locator, Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { post } from "../../service/test/harness.ts";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

vi.setConfig({ testTimeout: 90_000 });

const part = (page: Page, title: string): Locator => page.locator(`section:has(h2:text-is("${title}"))`);

test("a new environment shows onboarding instead of empty charts", async () => {
  const { service, project, manage } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live");
  await page.getByText("No data in Live yet").waitFor();
  await page.getByText("Test has 1 plan").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Compare Test with Live" }).click();
  await page.waitForURL("**/projects/1/live/promote");

  await manage("POST", "/manage/v1/projects", { body: { name: "Second" } });
  await page.goto("/projects/2/test");
  await page.getByText("No data in Test yet").waitFor();
  await page.getByText("1 of 5 steps done.").waitFor();
  await page.getByRole("link", { name: "Send your first event" }).click();
  await page.getByRole("heading", { name: "Your first event in test" }).waitFor();

  await post(`${service.url}/v1/events`, project.live.key.secret, {
    customerId: "c",
    event: "e",
    quantity: 1,
  });
  await page.goto("/projects/1/live");
  await part(page, "Low balances").waitFor();
});

test("if onboarding cannot be loaded, a new environment shows an error and a Retry button", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live/customers");
  const problem = { title: "No", code: "role_missing", detail: "Not today.", requestId: "req_1" };
  const isPlans = (url: URL): boolean => url.pathname.endsWith("/live/plans");
  await page.route(isPlans, (route) => route.fulfill({ status: 403, json: problem }));
  await page.goto("/projects/1/live");
  await page.getByText("Not today.").first().waitFor();
  await page.unroute(isPlans);
  await page.getByRole("button", { name: "Retry" }).first().click();
  await page.getByText("No data in Live yet").waitFor();
});

test("the onboarding checklist sends a real charge, and does not return once completed or dismissed", async () => {
  const { service, manage } = await setupManage();
  await manage("POST", "/manage/v1/projects", { body: { name: "Second" } });
  const here = "/manage/v1/projects/2/test";
  await manage("PUT", `${here}/features/image`, { body: { name: "Image", cost: { credits: 3 } } });
  const plan = {
    name: "Free",
    allowances: [{ credits: 50, period: "month" }],
    features: [{ feature: "image" }],
  };
  await manage("PUT", `${here}/plans/free/draft`, { body: plan });
  await manage("POST", `${here}/plans/free/publish`, { body: { reach: "new_assignments" } });
  await manage("PUT", `${here}/default-plan`, { body: { plan: "free" } });
  const page = await signIn(service.url, "/projects/2/test");
  await page.getByText("3 of 5 steps done.").waitFor();
  await page.getByRole("button", { name: "Charge customer_42 for Image in test" }).waitFor();
  await manage("PUT", `${here}/customers/customer_42`, { body: { name: "Sample Studio" } });
  await page.reload();
  await page.getByRole("button", { name: "Charge Sample Studio for Image in test" }).click();
  await page.getByText("3 credits charged.").waitFor();
  await page.getByText("5 of 5 steps done.").waitFor({ timeout: 30_000 });
  await expectAccessible(page);
  const { body } = await manage("GET", `${here}/customers/customer_42`);
  expect(body["balances"]).toMatchObject([{ pool: "credits", balance: 47 }]);
  // A completed checklist is not shown again.
  await page.reload();
  await part(page, "Low balances").waitFor();
  expect(await page.getByText("steps done").count()).toBe(0);

  await page.goto("/projects/2/live");
  await page.getByText("1 of 4 steps done.").waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await part(page, "Low balances").waitFor();
  await page.reload();
  await part(page, "Low balances").waitFor();
  expect(await page.getByText("steps done").count()).toBe(0);
});
