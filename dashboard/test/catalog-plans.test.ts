import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { runCurlOf } from "./catalog-curl.ts";
import { tabTo } from "./tab-to.ts";

const PLANS = "/projects/1/test/plans";

test("a plan is made and published, and a customer on it is charged what the page said", async () => {
  const { service, manage, consume, assign } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/features?define=audio.mix");
  await page.getByLabel("Unit", { exact: true }).fill("second");
  await page.getByLabel("Credits", { exact: true }).fill("7");
  await page.getByLabel("For how many units").fill("60");
  await page.getByRole("button", { name: "Define feature in test" }).click();
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });

  await page.goto(PLANS);
  await page.getByRole("button", { name: "New plan" }).click();
  const dialog = page.getByRole("dialog", { name: "New plan" });
  await dialog.getByLabel("Key").fill("studio");
  await expectAccessibleInBoth(page);
  await dialog.getByRole("button", { name: "Begin a draft in test" }).click();
  await page.waitForURL("**/plans/studio/edit");
  await page.getByText("Nothing yet: give it credits and features.").waitFor();
  await page.getByLabel("The plan gives credits").check();
  await page.getByLabel("How many credits").fill("500");
  await page.getByLabel("Rolls over for").fill("2");
  await page.getByLabel("Audio mix", { exact: true }).check();
  await page.getByLabel("Period of the limit of Audio mix").selectOption("a day");
  await page.getByLabel("Limit of Audio mix", { exact: true }).fill("300");
  const preview = page.getByRole("list", { name: "What would change" });
  expect(await preview.getByRole("listitem").allTextContents()).toEqual([
    "The plan gives 500 credits a month, unused ones roll over for 2 months.",
    "Audio mix is included: 7 credits per 60 seconds, at most 300 seconds a day.",
  ]);
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.waitForURL("**/plans/studio/publish");
  await page.getByText("nobody has the plan yet").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Publish version 1 in test" }).click();
  await page.waitForURL("**/plans/studio");
  await page
    .getByRole("row", { name: /Audio mix.*7 credits per 60 seconds.*At most 300 seconds a day/ })
    .waitFor();
  await expectAccessibleInBoth(page);

  await assign("grace", "studio");
  const reply = await consume({
    customerId: "grace",
    feature: "audio.mix",
    quantity: 150,
    idempotencyKey: "one",
  });
  expect(reply.body).toMatchObject({
    allowed: true,
    creditsCharged: 18,
    balance: 482,
    limit: { remaining: 150 },
  });
  expect((await manage("GET", "plans/studio")).body).toMatchObject({
    draft: null,
    versions: [{ number: 1, allowances: [{ credits: 500, period: "month", rollover: 2 }] }],
  });
});

test("a plan is made, given and published by keyboard alone", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, PLANS);
  await tabTo(page, page.getByRole("button", { name: "New plan" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("dialog", { name: "New plan" }).getByLabel("Key"));
  await page.keyboard.type("team");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/plans/team/edit");
  await tabTo(page, page.getByLabel("The plan gives credits"));
  await page.keyboard.press("Space");
  await tabTo(page, page.getByLabel("How many credits"));
  await page.keyboard.press("Control+a");
  await page.keyboard.type("700");
  await tabTo(page, page.getByLabel("image.render", { exact: true }));
  await page.keyboard.press("Space");
  await tabTo(page, page.getByRole("button", { name: "Review and publish" }));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/plans/team/publish");
  await tabTo(page, page.getByRole("button", { name: "Publish version 1 in test" }));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/plans/team");
  await page.getByText("700 credits a month").first().waitFor();
  expect((await manage("GET", "plans/team")).body["versions"]).toMatchObject([
    { allowances: [{ credits: 700, period: "month" }], features: [{ feature: "image.render", limit: null }] },
  ]);
});

test("what the pages show as curl saves and publishes a draft", async () => {
  const { service, manage, tokens } = await setupManage();
  const page = await signIn(service.url, `${PLANS}/pro/edit`);
  await page.getByLabel("How many credits").fill("120");
  await page.getByRole("button", { name: "Do this by API" }).click();
  expect(await runCurlOf(page, tokens.admin)).toMatchObject({ draft: { allowances: [{ credits: 120 }] } });
  const other = await signIn(service.url, `${PLANS}/pro/publish`);
  await other.getByRole("radio", { name: "Everyone, now" }).check();
  await other.getByRole("button", { name: "Do this by API" }).click();
  expect(await runCurlOf(other, tokens.admin)).toMatchObject({
    draft: null,
    versions: [{ number: 2, reach: "now" }, {}],
  });
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ balances: [{ balance: 120 }] });
});

test("a version for everyone at their next period names how many, and ada keeps hers until then", async () => {
  const { service, manage, assign, check } = await setupManage();
  await assign("grace");
  await manage("PUT", "features/image.render", {
    body: { name: "Image", unit: "image", cost: { credits: 12 } },
    headers: { "if-match": "*" },
  });
  const page = await signIn(service.url, `${PLANS}/pro`);
  await page.getByText("Next version: 12 credits per image").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("link", { name: "Edit plan" }).click();
  await page.getByLabel("How many credits").fill("200");
  await page.getByLabel("Period of the limit of export").selectOption("No limit");
  await page.getByLabel("text.generate", { exact: true }).uncheck();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Review and publish" }).click();
  const changes = page.getByRole("list", { name: "What changes" });
  await changes.waitFor();
  expect(await changes.getByRole("listitem").allTextContents()).toEqual([
    "The plan gives 200 credits a month instead of 100 credits a month.",
    "text.generate is no longer included.",
    "Image costs 12 credits per image instead of 10 credits per image.",
    "export: no limit instead of at most 5 a day.",
  ]);
  await page.getByText("2 customers have the plan now.").waitFor();
  await tabTo(page, page.getByRole("radio", { name: "New assignments only" }));
  await page.keyboard.press("ArrowDown");
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Publish version 2 in test" }).click();
  await page.waitForURL("**/plans/pro");
  await page.getByRole("row", { name: /^2 .*Everyone, at their next period/ }).waitFor();

  const { body } = await manage("GET", "plans/pro");
  expect(body["versions"]).toMatchObject([{ number: 2, reach: "next_period" }, { number: 1 }]);
  const ada = await check({ customerId: "ada", feature: "image.render" });
  expect(ada.body).toMatchObject({ allowed: true, creditsRequired: 10, balance: 100 });
  expect((await check({ customerId: "ada", feature: "text.generate" })).body).toMatchObject({
    allowed: true,
  });
});

test("two people edit a plan: the second hears who was first, and both keep their work", async () => {
  const { service, manage, tokens } = await setupManage();
  const bob = await addMember(service.url, tokens.owner, "admin");
  const page = await signIn(service.url, `${PLANS}/pro/edit`);
  await page.getByLabel("How many credits").fill("300");
  const other = await signIn(service.url, `${PLANS}/pro/edit`, { credentials: bob });
  await other.getByLabel("video.render", { exact: true }).check();
  await other.getByRole("button", { name: "Save draft in test" }).click();
  await other.getByText("Saved.", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Save draft in test" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("The admin").waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, alert.getByRole("button", { name: "Read again" }));
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByLabel("video.render", { exact: true }).isChecked()).toBe(true);
  expect(await page.getByLabel("How many credits").inputValue()).toBe("300");
  await page.getByRole("button", { name: "Save draft in test" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  const { body } = await manage("GET", "plans/pro");
  expect(body["draft"]).toMatchObject({ allowances: [{ credits: 300 }] });
  expect(JSON.stringify(body["draft"])).toContain("video.render");
});

test("an editor begins with what a plan is now, and a pool that is added meanwhile takes nothing away", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${PLANS}/pro`);
  const draft = { name: "Pro", allowances: [{ credits: 222, period: "month" }], features: [] };
  expect((await manage("PUT", "plans/pro/draft", { body: draft })).status).toBe(200);
  await page.getByRole("link", { name: /edit/i }).first().click();
  await page.waitForURL("**/plans/pro/edit");
  expect(await page.getByLabel("How many credits").inputValue()).toBe("222");
  expect((await manage("PUT", "pools/video", { body: { name: "Video" } })).status).toBe(200);
  await page.getByLabel("How many credits").fill("333");
  await page.getByRole("button", { name: "Save draft in test" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  await page.getByLabel("How many credits").fill("444");
  await page.getByText("Not saved yet.").waitFor();
  expect((await manage("GET", "plans/pro")).body["draft"]).toMatchObject({ allowances: [{ credits: 333 }] });
});

test("what was looked at is what is published: another cost in between is told first", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "plans/pro/draft", {
    body: {
      name: "Pro",
      allowances: [{ credits: 100, period: "month" }],
      features: [{ feature: "image.render" }],
    },
  });
  const page = await signIn(service.url, `${PLANS}/pro/publish`);
  await page.getByText("text.generate is no longer included.").waitFor();
  await manage("PUT", "features/image.render", {
    body: { name: "image.render", cost: { credits: 99 } },
    headers: { "if-match": "*" },
  });
  await page.getByRole("button", { name: "Publish version 2 in test" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("the token The owner's").waitFor();
  await expectAccessibleInBoth(page);
  await alert.getByRole("button", { name: "Read again" }).click();
  await page.getByText("image.render costs 99 credits each instead of 10 credits each.").waitFor();
  expect((await manage("GET", "plans/pro")).body["versions"]).toHaveLength(1);
});

test("a draft is edited, left, kept and discarded by keyboard alone", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${PLANS}/pro`);
  await tabTo(page, page.getByRole("link", { name: "Edit plan" }));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/edit");
  await tabTo(page, page.getByLabel("How many credits"));
  await page.keyboard.press("Control+a");
  await page.keyboard.type("150");
  await page.getByText("The plan gives 150 credits a month instead of").waitFor();
  const guard = page.getByRole("dialog", { name: "Leave without saving?" });
  await tabTo(page, page.getByRole("link", { name: "Plans", exact: true }).first());
  await page.keyboard.press("Enter");
  await guard.waitFor();
  await expectAccessibleInBoth(page);
  await page.keyboard.press("Escape");
  await guard.waitFor({ state: "hidden" });
  await tabTo(page, page.getByLabel("How many credits"));
  await page.keyboard.press("Enter");
  await page.getByText("Saved.", { exact: true }).waitFor();
  expect((await manage("GET", "plans/pro")).body["draft"]).toMatchObject({ allowances: [{ credits: 150 }] });
  await tabTo(page, page.getByRole("link", { name: "Pro", exact: true }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Discard" }));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Discard the draft" }).waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: "Discard draft in test" }));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Edit plan" }).waitFor();
  expect((await manage("GET", "plans/pro")).body["draft"]).toBeNull();
});

test("the default plan is chosen, cannot be archived, and another one can", async () => {
  const { service, manage, publish } = await setupManage();
  await publish({ key: "free", name: "Free" });
  const page = await signIn(service.url, PLANS);
  await page.getByRole("button", { name: "Default plan" }).click();
  await page.getByRole("combobox", { name: "Default plan" }).selectOption("Pro");
  await expectAccessibleInBoth(page);
  const make = page.getByRole("button", { name: "Make Pro the default in test" });
  await make.click();
  await make.waitFor({ state: "hidden" });
  await page.locator("article", { hasText: "Pro" }).getByText("Default plan").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("link", { name: "Pro", exact: true }).click();
  await page.getByRole("button", { name: "More for this plan" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Archive plan in test" }).click();
  await page.getByRole("alert").getByText("is the default plan of this environment").waitFor();
  await expectAccessibleInBoth(page);
  await page.goto(`${PLANS}/free`);
  await page.getByRole("button", { name: "More for this plan" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Archive plan in test" }).click();
  await page.getByText("Archived", { exact: true }).waitFor();
  expect((await manage("GET", "plans/free")).body["archivedAt"]).not.toBeNull();
});

for (const role of ["viewer", "operator"] as const) {
  test(`the ${role} reads plans, and is offered no change`, async () => {
    const { service, tokens, manage } = await setupManage();
    await manage("PUT", "plans/pro/draft", { body: { name: "Pro", allowances: [], features: [] } });
    const credentials = await addMember(service.url, tokens.owner, role);
    const page = await signIn(service.url, PLANS, { credentials });
    const main = page.getByRole("main");
    await main.getByRole("link", { name: "Pro", exact: true }).waitFor();
    expect(await main.getByRole("button").allTextContents()).toEqual([]);
    await page.goto(`${PLANS}/pro`);
    await main.getByText("Draft of version 2").waitFor();
    expect(await main.getByRole("button").allTextContents()).toEqual(["JSON"]);
    await page.goto(`${PLANS}/pro/edit`);
    await main.getByText("Only admins change plans").waitFor();
    await page.goto(`${PLANS}/pro/publish`);
    await main.getByText("The plan no longer gives 100 credits a month.").waitFor();
    expect(await main.getByRole("button").allTextContents()).toEqual([]);
  });
}
