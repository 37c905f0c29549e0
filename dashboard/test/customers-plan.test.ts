import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const ADA = "/projects/1/test/customers/ada";
const SCALE = {
  key: "scale",
  name: "Scale",
  allowances: [{ pool: "credits", credits: 5_000, period: "month", rollover: 0, overage: 0 } as const],
};

test("a plan assignment has a preview, and assigning the same plan again changes nothing", async () => {
  const { service, manage, publish, topUp } = await setupManage();
  await publish(SCALE);
  await topUp("ada", 50);
  const page = await signIn(service.url, ADA);
  await page.getByRole("button", { name: "Assign plan" }).click();
  await page.getByLabel("Plan", { exact: true }).selectOption("Scale");
  await page.getByText("Balance 150 → 5,050").waitFor();
  await page.getByText("Includes 5,000 credits a month").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Assign Scale in test" }).click();
  await page.getByText("Assigned Scale to ada").waitFor();
  await page.getByRole("dialog", { name: "Assign plan to ada" }).waitFor({ state: "hidden" });
  const after = (await manage("GET", "customers/ada")).body;
  expect(after).toMatchObject({ plan: { key: "scale" }, balances: [{ balance: 5_050 }] });

  const history = (await manage("GET", "customers/ada/plans")).body;

  // Assigning the same plan again changes nothing. This time, the test uses the keyboard.
  await tabTo(page, page.getByRole("button", { name: "Assign plan" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByLabel("Plan", { exact: true }));
  await page.keyboard.type("Scale");
  await page.getByText("Nothing will change").waitFor();
  await tabTo(page, page.getByRole("button", { name: "Assign Scale in test" }));
  await page.keyboard.press("Enter");
  await page.getByText("Nothing changed: ada already has Scale").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Assign plan to ada" }).waitFor({ state: "hidden" });
  expect((await manage("GET", "customers/ada")).body).toEqual(after);
  expect((await manage("GET", "customers/ada/plans")).body).toEqual(history);
});

test("a plan's end date can be extended and shortened, and the plan can be ended now", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, ADA);
  async function assign(ending: string, end: string): Promise<void> {
    await page.getByRole("button", { name: "Assign plan" }).click();
    await page.getByLabel("Plan", { exact: true }).selectOption("Pro (current)");
    await page.getByLabel("Ends").selectOption(ending);
    await page.getByLabel("End date", { exact: true }).fill(end);
    await page.getByRole("button", { name: "Assign Pro in test" }).click();
  }
  await manage("DELETE", "customers/ada/plan");
  await manage("POST", "customers/ada/plan", { body: { plan: "pro", endsAt: "2998-01-31T12:00:00Z" } });
  await page.reload();
  await assign("On a specific date", "2999-01-31T12:00");
  await page.getByText("New end date").waitFor();
  await page.getByText("Until 31 Jan 2999. Then every request is denied.").waitFor();
  await assign("On a specific date", "2998-01-31T12:00");
  await page.getByText("Pro would end earlier").waitFor();
  await page.getByText("Pro currently ends on 31 Jan 2999, 12:00.").waitFor();
  await expectAccessible(page);
  // Changing the end date hides the request for confirmation.
  await page.getByLabel("Ends").selectOption("Never");
  await page.getByText("Pro would end earlier").waitFor({ state: "hidden" });
  await page.getByLabel("Ends").selectOption("On a specific date");
  await page.getByRole("button", { name: "End earlier" }).click();
  await page.getByText("Until 31 Jan 2998. Then every request is denied.").waitFor();

  await tabTo(page, page.getByRole("button", { name: "More actions" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("menuitem", { name: "Cancel plan" }), "ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("radio", { name: "At the end of the current period" }).waitFor();
  await page.keyboard.press("ArrowDown");
  const end = page.getByRole("button", { name: "Cancel Pro now in test" });
  await end.waitFor();
  await expectAccessible(page);
  await tabTo(page, end);
  await page.keyboard.press("Enter");
  await page.getByText("Ended Pro for ada").waitFor();
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ plan: null });
});

test("a customer's page shows overrides instead of the plan's terms, and the audit log records the overrides", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "customers/ada/overrides", {
    body: {
      features: {
        "image.render": { cost: { credits: 4 }, limit: { quantity: 7, period: "day" } },
        export: { included: false },
      },
      endsAt: "2998-01-31T12:00:00Z",
    },
  });
  const page = await signIn(service.url, ADA);
  await page.getByText("Has overrides until").waitFor();
  const plan = page.locator("dl", { hasText: "Active since" });
  await plan.getByText("4 credits").waitFor();
  await plan.getByText("At most 7").waitFor();
  await plan.getByText("Not included").waitFor();
  await expectAccessible(page);
  await page.goto(`${service.url}/workspace/audit`);
  await page.getByText("set overrides for").waitFor();
});

test("a viewer sees no write actions for customers, and the API rejects a viewer's writes", async () => {
  const { service, manage, tokens } = await setupManage();
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, ADA, { credentials });
  await page.getByRole("link", { name: "Ledger" }).waitFor();
  const writing = /Add credits|Assign|More actions|Create customer|Import/;
  expect(await page.getByRole("button", { name: writing }).count()).toBe(0);
  await expectAccessible(page);
  await page.goto("/projects/1/test/customers");
  await page.getByRole("link", { name: "ada" }).waitFor();
  expect(await page.getByRole("button", { name: writing }).count()).toBe(0);
  const status = await page.evaluate(async () => {
    const reply = await fetch("/manage/v1/projects/1/test/customers/ada/credits", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ credits: 5, kind: "manual" }),
    });
    return reply.status;
  });
  expect(status).toBe(403);
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ balances: [{ balance: 100 }] });
});
