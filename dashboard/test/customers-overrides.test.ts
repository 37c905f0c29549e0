import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { describeOverrides, type Overrides } from "../src/features/overrides/override-sentences.ts";
import { toBody, toValues, withoutLine } from "../src/features/overrides/override-values.ts";
import { expectAccessible, expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const ADA = "/projects/1/test/customers/ada";

test("overrides can be added, edited and removed, one at a time or all at once", async () => {
  const { service, manage } = await setupManage();
  const read = async () => (await manage("GET", "customers/ada")).body["overrides"];
  const page = await signIn(service.url, ADA);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit overrides" }).click();
  const add = async (what: string): Promise<void> => {
    await page.getByLabel("Add override").selectOption(what);
    await page.getByRole("button", { name: "Add", exact: true }).click();
  };
  const save = page.getByRole("button", { name: "Save overrides in test" });
  await page.getByLabel("Add override").waitFor();
  expect(await save.isDisabled()).toBe(true);
  await add("Feature: export");
  const exports = page.getByRole("group", { name: "export" });
  // An override that changes nothing cannot be saved.
  expect(await save.isDisabled()).toBe(true);
  await exports.getByLabel("Limit", { exact: true }).selectOption("Custom limit per day");
  await exports.getByLabel("Limit quantity").fill("50");
  await add("Feature: video.render");
  const video = page.getByRole("group", { name: "video.render" });
  await video.getByLabel("Cost", { exact: true }).selectOption("Custom cost");
  await video.getByLabel("Credits", { exact: true }).fill("40");
  await add("Allowance: Credits");
  const credits = page.getByRole("group", { name: "Credits" });
  await credits.getByLabel("Credits per month").fill("5000");
  await page.getByLabel("Overrides end").selectOption("On a specific date");
  await page.getByLabel("End date", { exact: true }).fill("2998-01-31T12:00");
  await expectAccessibleInBoth(page);
  await save.click();
  await page.getByText("Saved overrides for ada").waitFor();
  expect(await read()).toMatchObject({
    features: {
      export: { limit: { quantity: 50, period: "day" } },
      "video.render": { included: true, cost: { credits: 40, per: 1 } },
    },
    allowances: { credits: { credits: 5_000, period: "month" } },
    endsAt: "2998-01-31T12:00:00.000Z",
  });
  const card = page.getByRole("list", { name: "Overrides" });
  await card.getByText("50 a day instead of 5").waitFor();
  await card.getByText("5,000 credits a month instead of 100").waitFor();
  await card.getByText("The new amount applies from the next period").waitFor();
  await card.getByText("Included, in addition to the plan").waitFor();
  await expectAccessible(page);

  // Removing one override with the keyboard, or editing one, does not change the others.
  const videoLine = card.getByRole("listitem").filter({ hasText: "video.render" });
  await tabTo(page, videoLine.getByRole("button", { name: "Remove video.render" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Remove override in test" }));
  await page.keyboard.press("Enter");
  await videoLine.waitFor({ state: "hidden" });
  expect(await read()).toMatchObject({ features: { export: {} }, allowances: { credits: {} } });
  await page.getByRole("button", { name: "Edit overrides" }).click();
  await exports.getByLabel("Limit quantity").fill("60");
  await save.click();
  await card.getByText("60 a day instead of 5").waitFor();
  expect(await read()).toMatchObject({
    features: { export: { limit: { quantity: 60, period: "day" } } },
    allowances: { credits: { credits: 5_000 } },
    endsAt: "2998-01-31T12:00:00.000Z",
  });

  await page.getByRole("button", { name: "Remove all overrides" }).click();
  await page.getByRole("button", { name: "Remove all overrides in test" }).click();
  await page.getByText("Removed all overrides for ada").waitFor();
  expect(await read()).toBeNull();
});

test("an override applies to one customer only, and a later denial explains it and links to its form", async () => {
  const { service, manage, assign, consume } = await setupManage();
  await assign("bob");
  const page = await signIn(service.url, ADA);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit overrides" }).click();
  const dialog = page.getByRole("dialog", { name: "Overrides for ada", exact: true });
  await dialog.getByLabel("Add override").selectOption("Feature: export");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  const exports = dialog.getByRole("group", { name: "export" });
  await exports.getByLabel("Limit", { exact: true }).selectOption("Custom limit per day");
  await exports.getByLabel("Limit quantity").fill("0");
  await dialog.getByRole("button", { name: "Save overrides in test" }).click();
  await page.getByText("Saved overrides for ada").waitFor();

  const exportAs = async (customerId: string) =>
    (await consume({ customerId, feature: "export", idempotencyKey: customerId })).body;
  expect(await exportAs("bob")).toMatchObject({ allowed: true });
  expect(await exportAs("ada")).toMatchObject({ allowed: false, reason: "limit_reached" });
  const { body: denials } = await manage("GET", "customers/ada/denials");
  const [denial] = denials["items"] as { denialId: string }[];
  expect(denial).toMatchObject({ feature: "export", overrides: 1 });
  const tabs = page.getByRole("navigation", { name: "Customer" });
  await tabs.getByRole("link", { name: "Requests" }).click();
  await page.getByRole("link", { name: "Why?" }).click();
  await page.waitForURL(`**/denials/${denial?.denialId}`);
  await page.getByText("An override for this customer limits export to 0 a day.").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Edit overrides" }).click();
  await dialog.waitFor();
  expect(await exports.getByLabel("Limit quantity").inputValue()).toBe("0");
});

test("a viewer sees a customer's overrides but no actions", async () => {
  const { service, manage, tokens } = await setupManage();
  await manage("PUT", "customers/ada/overrides", { body: { features: { export: { included: false } } } });
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, ADA, { credentials });
  await page.getByRole("list", { name: "Overrides" }).getByText("Not included").waitFor();
  expect(await page.getByRole("button", { name: /overrides|Remove/ }).count()).toBe(0);
});

const VERSION = {
  allowances: [{ pool: "credits", credits: 1_000, period: "month", rollover: 0, overage: 0 } as const],
  features: [
    {
      feature: "hd.export",
      pool: "credits",
      cost: { credits: 10, per: 1 },
      limit: { quantity: 20, period: "day" } as const,
    },
  ],
};

const NONE: Overrides = { number: 1, features: {}, allowances: {}, endsAt: null };

test("the description of an override includes the plan terms it replaces", () => {
  const described = (features: Overrides["features"], allowances: Overrides["allowances"] = {}) =>
    describeOverrides({ ...NONE, features, allowances }, { version: VERSION, features: [], pools: [] }).map(
      ({ key, terms }) => [key, ...terms],
    );
  expect(described({ "hd.export": { limit: { quantity: 50, period: "day" } } })).toEqual([
    ["hd.export", "50 a day instead of 20"],
  ]);
  expect(
    described({ "hd.export": { limit: { quantity: 50, period: "month" }, cost: { credits: 4, per: 1 } } }),
  ).toEqual([["hd.export", "4 credits each instead of 10 credits each", "50 a month instead of 20 a day"]]);
  expect(described({ "hd.export": { limit: null } })).toEqual([
    ["hd.export", "No limit instead of 20 a day"],
  ]);
  expect(described({ "hd.export": { included: false } })).toEqual([["hd.export", "Not included"]]);
  expect(described({ "hd.export": { included: true } })).toEqual([["hd.export", "Included, as in the plan"]]);
  const pinned = { pool: "credits", cost: { credits: 50, per: 1 } };
  expect(described({ video: { included: true, pinned } })).toEqual([
    ["video", "Included, in addition to the plan", "50 credits each"],
  ]);
  expect(described({ video: { limit: { quantity: 1, period: "day" } } })).toEqual([
    ["video", "No effect: the plan does not include it", "1 a day"],
  ]);
  expect(described({}, { credits: { credits: 5_000, period: "month", overage: 500 } })).toEqual([
    [
      "credits",
      "5,000 credits a month instead of 1,000",
      "Up to 500 credits of overage instead of no overage",
    ],
  ]);
  expect(described({}, { credits: { credits: 5_000, period: "year" } })).toEqual([
    ["credits", "No effect: the plan has no such allowance", "5,000 credits a year"],
  ]);
});

test("saving the overrides form without edits sends the same overrides", () => {
  const pinned = { pool: "credits", cost: { credits: 50, per: 1 } };
  const overrides: Overrides = {
    ...NONE,
    features: {
      "hd.export": { cost: { credits: 4, per: 2 }, limit: null },
      other: { included: false },
      video: { included: true, limit: { quantity: 3, period: "once" }, pinned },
    },
    allowances: {
      credits: { overage: null, period: "month" },
      minutes: { credits: 7, overage: 9, period: "day" },
    },
  };
  const { video, ...features } = overrides.features;
  const sent = {
    features: { ...features, video: { included: true, limit: video?.limit } },
    allowances: overrides.allowances,
  };
  expect(toBody(toValues(overrides, VERSION, ""), null)).toEqual(sent);
  expect(withoutLine(overrides, { kind: "feature", key: "none" })).toEqual({ ...sent, endsAt: null });
  expect(
    withoutLine({ ...NONE, allowances: overrides.allowances }, { kind: "allowance", key: "credits" }),
  ).toEqual({
    features: {},
    allowances: { minutes: overrides.allowances["minutes"] },
    endsAt: null,
  });
});
