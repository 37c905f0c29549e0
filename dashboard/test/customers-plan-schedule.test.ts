import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setDefaultPlan } from "../../service/src/manage/plans/operations.ts";
import { setupManage } from "../../service/test/manage.ts";
import { lossesOf } from "../src/features/assignments/plan-losses.ts";
import { describeStanding } from "../src/format/plan-standing.ts";
import { expectAccessible, expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const ADA = "/projects/1/test/customers/ada";
const BASIC = {
  key: "basic",
  name: "Basic",
  allowances: [{ pool: "credits", credits: 20, period: "month", rollover: 0, overage: 0 } as const],
  features: [{ feature: "image.render", limit: null }],
};

/** Customer `ada` has the `pro` plan with 100 credits a month. The `basic` plan has 20 credits a month and no exports. */
async function setup() {
  const managed = await setupManage();
  await managed.publish(BASIC);
  const read = async () => (await managed.manage("GET", "customers/ada")).body;
  const { plan } = (await read()) as { plan: { periodEndsAt: string } };
  const { periodEndsAt } = plan;
  return { ...managed, read, periodEndsAt, periodEnd: dayOf(periodEndsAt) };
}

function dayOf(at: string): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" }).format(new Date(at));
}

async function choosePlan(page: Page, plan: string): Promise<void> {
  await page.getByRole("button", { name: "Assign plan" }).click();
  await page.getByLabel("Plan", { exact: true }).selectOption(plan);
}

test("a downgrade can be scheduled for the end of the period, and canceled with the keyboard", async () => {
  const { service, read, periodEndsAt, periodEnd } = await setup();
  const page = await signIn(service.url, ADA);
  await page.getByText(`Renews ${periodEnd}. Cancel plan`).waitFor();
  await choosePlan(page, "Basic");
  await page.getByLabel("Starts").selectOption(`End of period, ${periodEnd}`);
  await page.getByText("Basic has less favorable terms than Pro").waitFor();
  await page.getByText(/^No longer included: .*export/).waitFor();
  await page.getByText("20 credits a month instead of 100 credits a month.").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Schedule Basic in test" }).click();
  await page.getByText("Scheduled Basic for ada").waitFor();
  await page.getByText(`Until ${periodEnd}, then Basic.`).waitFor();
  await page.getByText("Next plan").waitFor();
  expect(await read()).toMatchObject({
    plan: { key: "pro", endsAt: null },
    nextPlan: { key: "basic", startsAt: periodEndsAt },
    balances: [{ balance: 100 }],
  });
  await page.getByRole("link", { name: "Plan history" }).click();
  const upcoming = page.getByRole("row").filter({ hasText: "Upcoming" });
  expect(await upcoming.textContent()).toMatch(/Basic.*Scheduled/);
  expect(await page.getByRole("row").filter({ hasText: "Current" }).textContent()).toContain("Pro");
  await page.getByRole("link", { name: "Overview" }).click();

  await tabTo(page, page.getByRole("button", { name: "Keep Pro" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByText("Pro continues with no end date.").waitFor();
  await page.getByText(`The change to Basic on ${periodEnd} will be canceled.`).waitFor();
  await expectAccessible(page);
  await tabTo(page, page.getByRole("button", { name: "Keep Pro in test" }));
  await page.keyboard.press("Enter");
  await page.getByText("ada keeps Pro").waitFor();
  await page.getByText(`Renews ${periodEnd}.`).first().waitFor();
  expect(await read()).toMatchObject({ plan: { key: "pro", endsAt: null }, nextPlan: null });
});

test("a plan can start on a chosen date, and an end date before the start date is rejected", async () => {
  const { service, read } = await setup();
  const page = await signIn(service.url, ADA);
  await choosePlan(page, "Basic");
  await page.getByLabel("Starts").selectOption("On a specific date");
  const schedule = page.getByRole("button", { name: "Schedule Basic in test" });
  await page.getByLabel("Start date", { exact: true }).fill("2020-01-01T00:00");
  await page.getByText("Choose a time in the future.").waitFor();
  expect(await schedule.isDisabled()).toBe(true);
  await page.getByLabel("Start date", { exact: true }).fill("2998-01-01T00:00");
  await page.getByLabel("Ends").selectOption("On a specific date");
  await page.getByLabel("End date", { exact: true }).fill("2997-01-01T00:00");
  await schedule.click();
  await page.getByText("The end date is too early").waitFor();
  await expectAccessible(page);
  await page.getByLabel("End date", { exact: true }).fill("2999-01-01T00:00");
  await page.getByText("The end date is too early").waitFor({ state: "hidden" });
  await schedule.click();
  await page.getByText("Until 1 Jan 2998, then Basic until 1 Jan 2999.").waitFor();
  const startsAt = "2998-01-01T00:00:00.000Z";
  expect(await read()).toMatchObject({
    nextPlan: { key: "basic", startsAt, endsAt: "2999-01-01T00:00:00.000Z" },
  });

  // Assigning the plan now cancels the scheduled change.
  await choosePlan(page, "Basic");
  await page.getByText("The scheduled change to Basic will be canceled.").waitFor();
  await page.getByRole("button", { name: "Assign Basic in test" }).click();
  await page.getByText("Assigned Basic to ada").waitFor();
  expect(await read()).toMatchObject({ plan: { key: "basic", endsAt: null }, nextPlan: null });
});

test("a plan can be canceled at the end of the period, and the cancellation can be undone", async () => {
  const { service, read, periodEndsAt, periodEnd, cell, context, publish } = await setup();
  await publish({ key: "free", name: "Free", allowances: [] });
  await setDefaultPlan(cell, context, { plan: "free" });
  const page = await signIn(service.url, ADA);
  await page.getByRole("button", { name: "Cancel plan" }).click();
  await page.getByText(`The customer keeps Pro and its credits until ${periodEnd}.`).waitFor();
  await page.getByText("The default plan Free will apply.").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Cancel Pro in test" }).click();
  await page.getByText("Canceled Pro for ada").waitFor();
  await page.getByText(`Until ${periodEnd}, then Free (default plan).`).waitFor();
  expect(await read()).toMatchObject({
    plan: { key: "pro", endsAt: periodEndsAt },
    balances: [{ balance: 100 }],
  });

  await page.getByRole("button", { name: "Keep Pro" }).click();
  await page.getByRole("button", { name: "Keep Pro in test" }).click();
  await page.getByText(`Renews ${periodEnd}. Cancel plan`).waitFor();
  expect(await read()).toMatchObject({ plan: { key: "pro", endsAt: null }, nextPlan: null });

  // The Assign plan dialog can set the same end date, and asks for confirmation before it shortens the plan.
  await choosePlan(page, "Pro (current)");
  await page.getByLabel("Ends").selectOption(`End of period, ${periodEnd}`);
  await page.getByRole("button", { name: "Assign Pro in test" }).click();
  await page.getByText("Pro currently has no end date.").waitFor();
  await page.getByRole("button", { name: "End earlier" }).click();
  await page.getByText(`Until ${periodEnd}, then Free (default plan).`).waitFor();
  expect(await read()).toMatchObject({ plan: { endsAt: periodEndsAt } });
});

test("canceling a scheduled plan change keeps the current plan's end date, whether before or after the change", async () => {
  const { service, manage, read, periodEnd } = await setup();
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString();
  const page = await signIn(service.url, ADA);
  for (const endsAt of ["2998-01-31T12:00:00.000Z", soon]) {
    await manage("DELETE", "customers/ada/plan");
    await manage("POST", "customers/ada/plan", { body: { plan: "pro", endsAt } });
    await manage("POST", "customers/ada/plan", { body: { plan: "basic", startsAt: "period_end" } });
    const day = dayOf(endsAt);
    await page.reload();
    await page.getByText(`Until ${endsAt === soon ? day : periodEnd}, then Basic.`).waitFor();
    await page.getByRole("button", { name: "Cancel scheduled change" }).click();
    await page.getByText(`Pro continues until ${day}.`).waitFor();
    await page.getByRole("button", { name: "Cancel scheduled change in test" }).click();
    await page.getByText(`Until ${day}. Then every request is denied.`).waitFor();
    expect(await read()).toMatchObject({ plan: { key: "pro", endsAt }, nextPlan: null });
    await page.getByRole("button", { name: "Keep Pro" }).waitFor();
  }
});

test("a viewer sees a scheduled plan change but no actions", async () => {
  const { service, manage, tokens, periodEnd } = await setup();
  await manage("POST", "customers/ada/plan", { body: { plan: "basic", startsAt: "period_end" } });
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, ADA, { credentials });
  await page.getByText(`Until ${periodEnd}, then Basic.`).waitFor();
  expect(await page.getByRole("button", { name: /Keep|Cancel plan/ }).count()).toBe(0);
  await page.goto("/projects/1/test/customers");
  await page.getByRole("row", { name: /ada/ }).getByText(`Until ${periodEnd}, then Basic.`).waitFor();
  await expectAccessible(page);
});

test("the plan summary describes how long the plan lasts and what follows", () => {
  const PRO = { name: "Pro", isDefault: false, periodEndsAt: "2026-12-08", endsAt: null };
  const BASIC_NEXT = { name: "Basic", startsAt: "2026-12-08", endsAt: null };
  const told = (standing: object, fallback: string | null = "Free") =>
    describeStanding({ plan: PRO, nextPlan: null, ...standing }, fallback, (at) => at);
  expect(told({})).toBe("Renews 2026-12-08.");
  expect(told({ plan: { ...PRO, periodEndsAt: null } })).toBe("No end date.");
  expect(told({ plan: { ...PRO, isDefault: true } })).toBe("Default plan. Renews 2026-12-08.");
  expect(told({ plan: { ...PRO, isDefault: true, periodEndsAt: null } })).toBe("Default plan.");
  expect(told({ plan: { ...PRO, endsAt: "2026-12-01" } })).toBe(
    "Until 2026-12-01, then Free (default plan).",
  );
  expect(told({ plan: { ...PRO, endsAt: "2026-12-01" } }, null)).toBe(
    "Until 2026-12-01. Then every request is denied.",
  );
  expect(told({ nextPlan: BASIC_NEXT })).toBe("Until 2026-12-08, then Basic.");
  expect(told({ plan: { ...PRO, endsAt: "2026-12-08" }, nextPlan: BASIC_NEXT })).toBe(
    "Until 2026-12-08, then Basic.",
  );
  expect(told({ plan: { ...PRO, endsAt: "2026-12-01" }, nextPlan: BASIC_NEXT })).toBe(
    "Until 2026-12-01, then Free (default plan). From 2026-12-08: Basic.",
  );
  expect(told({ plan: null, nextPlan: { ...BASIC_NEXT, endsAt: "2027-01-08" } })).toBe(
    "No plan until 2026-12-08, then Basic until 2027-01-08.",
  );
  expect(told({ plan: null })).toBe("All checks, charges and new holds are denied.");
});

test("a lower limit, a higher cost and less overage are losses of a plan change", () => {
  const terms = (
    overage: number | null,
    limit: { quantity: number; period: "day" | "month" } | null,
    credits: number,
  ) => ({
    allowances: [{ pool: "credits", credits: 100, period: "month" as const, rollover: 0, overage }],
    features: [{ feature: "a", pool: "credits", cost: { credits, per: 2 }, limit }],
  });
  const before = terms(500, { quantity: 20, period: "day" }, 4);
  const losses = (after: typeof before, from = before) =>
    lossesOf({ before: from, after }, null, { feature: (key) => key.toUpperCase(), pool: () => null });
  expect(losses(terms(null, null, 3))).toEqual([]);
  expect(losses(terms(0, { quantity: 5, period: "day" }, 5))).toEqual([
    "A: at most 5 a day instead of at most 20 a day.",
    "A: 5 credits per 2 instead of 4 credits per 2.",
    "No overage instead of up to 500 credits of overage a month.",
  ]);
  expect(losses(terms(500, { quantity: 100, period: "month" }, 4))).toEqual([
    "A: at most 100 a month instead of at most 20 a day.",
  ]);
  expect(losses(before, terms(null, null, 4))).toEqual([
    "A: at most 20 a day instead of no limit.",
    "Up to 500 credits of overage a month instead of unlimited overage.",
  ]);
});

test("less overage per year, a shorter rollover and a lower amount after a one-time amount are losses", () => {
  type Period = "month" | "year" | "once";
  const terms = (credits: number, period: Period, overage = 0, rollover = 0) => ({
    allowances: [{ pool: "credits", credits, period, rollover, overage }],
    features: [],
  });
  const losses = (before: ReturnType<typeof terms>, after: ReturnType<typeof terms>) =>
    lossesOf({ before, after }, null, { feature: (key) => key, pool: () => null });
  expect(losses(terms(100, "month", 500), terms(1_200, "year", 500))).toEqual([
    "Up to 500 credits of overage a year instead of up to 500 credits of overage a month.",
  ]);
  expect(losses(terms(100, "month", 0, 12), terms(1_200, "year", 0, 1))).toEqual([]);
  expect(losses(terms(100, "month", 0, 12), terms(100, "month", 0, 2))).toEqual([
    "Unused credits roll over for 2 months instead of 12 months.",
  ]);
  expect(losses(terms(100, "month", 0, 1), terms(100, "month"))).toEqual([
    "Unused credits no longer roll over (previously for 1 month).",
  ]);
  expect(losses(terms(1_000, "once"), terms(5, "month"))).toEqual([
    "5 credits a month instead of 1,000 one-time credits.",
    "Unused credits expire.",
  ]);
});

test("the losses of a plan change list features and credits missing from the new plan, with overrides applied", () => {
  const given = (credits: number, period: "day" | "month" | "once") => [
    { pool: "credits", credits, period, rollover: 0, overage: 0 },
  ];
  const included = (...keys: string[]) =>
    keys.map((feature) => ({ feature, pool: "credits", cost: { credits: 1, per: 1 }, limit: null }));
  const before = { allowances: given(100, "month"), features: included("a", "b") };
  const losses = (after: Partial<typeof before>, overrides: Parameters<typeof lossesOf>[1] = null) =>
    lossesOf({ before, after: { ...before, ...after } }, overrides, {
      feature: (key) => key.toUpperCase(),
      pool: () => null,
    });
  expect(losses({})).toEqual([]);
  expect(losses({ features: included("c") })).toEqual(["No longer included: A and B."]);
  expect(losses({ allowances: [] })).toEqual(["0 credits instead of 100 credits a month."]);
  expect(losses({ allowances: given(4, "day") })).toEqual([]);
  expect(losses({ allowances: given(3, "day") })).toEqual([
    "3 credits a day instead of 100 credits a month.",
  ]);
  expect(losses({ allowances: given(900, "once") })).toEqual([
    "900 one-time credits instead of 100 credits a month.",
  ]);
  const pinned = { pool: "credits", cost: { credits: 1, per: 1 } };
  const own = {
    number: 1,
    features: { a: { included: true, pinned }, b: { included: false } },
    allowances: { credits: { credits: 50, period: "month" as const } },
    endsAt: null,
  };
  expect(losses({ features: [], allowances: given(20, "month") }, own)).toEqual([]);
});
