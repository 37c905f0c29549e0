import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { runCurlOf } from "./catalog-curl.ts";
import { tabTo } from "./tab-to.ts";

const PLANS = "/projects/1/test/plans";

test("a plan can be created and published, and charges then use its terms", async () => {
  const { service, manage, consume, assign } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/features?define=audio.mix");
  await page.getByLabel("Unit", { exact: true }).fill("second");
  await page.getByLabel("Credits", { exact: true }).fill("7");
  await page.getByLabel("Number of units").fill("60");
  await page.getByRole("button", { name: "Create feature in test" }).click();
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });

  await page.goto(PLANS);
  await page.getByRole("button", { name: "Create plan" }).click();
  const dialog = page.getByRole("dialog", { name: "Create plan" });
  await dialog.getByLabel("Key").fill("studio");
  await expectAccessibleInBoth(page);
  await dialog.getByRole("button", { name: "Create draft in test" }).click();
  await page.waitForURL("**/plans/studio/edit");
  await page.getByText("Add credits and features.").waitFor();
  await page.getByLabel("Include credits").check();
  await page.getByLabel("Credits", { exact: true }).fill("500");
  await page.getByLabel("Rollover periods").fill("2");
  await page.getByLabel("Audio mix", { exact: true }).check();
  await page.getByLabel("Limit period for Audio mix").selectOption("Per day");
  await page.getByLabel("Limit for Audio mix", { exact: true }).fill("300");
  const preview = page.getByRole("list", { name: "Changes" });
  expect(await preview.getByRole("listitem").allTextContents()).toEqual([
    "Includes 500 credits a month (unused credits roll over for 2 months).",
    "Includes Audio mix: 7 credits per 60 seconds, at most 300 seconds a day.",
  ]);
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.waitForURL("**/plans/studio/publish");
  await page.getByText("This is the first version.").waitFor();
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
    versions: [{ number: 1, allowances: [{ credits: 500, period: "month", rollover: 2, overage: 0 }] }],
  });
});

test("a plan can be created and published with the keyboard", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, PLANS);
  await tabTo(page, page.getByRole("button", { name: "Create plan" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("dialog", { name: "Create plan" }).getByLabel("Key"));
  await page.keyboard.type("team");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/plans/team/edit");
  await tabTo(page, page.getByLabel("Include credits"));
  await page.keyboard.press("Space");
  await tabTo(page, page.getByLabel("Credits", { exact: true }));
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

test("the curl calls shown for a plan save and publish its draft", async () => {
  const { service, manage, tokens } = await setupManage();
  const page = await signIn(service.url, `${PLANS}/pro/edit`);
  await page.getByLabel("Credits", { exact: true }).fill("120");
  await page.getByRole("button", { name: "API call" }).click();
  expect(await runCurlOf(page, tokens.admin)).toMatchObject({ draft: { allowances: [{ credits: 120 }] } });
  const other = await signIn(service.url, `${PLANS}/pro/publish`);
  await other.getByRole("radio", { name: "All customers, now" }).check();
  await other.getByRole("button", { name: "API call" }).click();
  expect(await runCurlOf(other, tokens.admin)).toMatchObject({
    draft: null,
    versions: [{ number: 2, reach: "now" }, {}],
  });
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ balances: [{ balance: 120 }] });
});

test("publishing at the next renewal shows the number of customers, who keep their version until they renew", async () => {
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
  await page.getByLabel("Credits", { exact: true }).fill("200");
  await page.getByLabel("Limit period for export").selectOption("No limit");
  await page.getByLabel("text.generate", { exact: true }).uncheck();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Review and publish" }).click();
  const changes = page.getByRole("list", { name: "Changes" });
  await changes.waitFor();
  expect(await changes.getByRole("listitem").allTextContents()).toEqual([
    "Credits: 100 credits a month → 200 credits a month.",
    "No longer includes text.generate.",
    "Image: 10 credits per image → 12 credits per image.",
    "export: at most 5 a day → no limit.",
  ]);
  await page.getByText("2 customers are on this plan.").waitFor();
  await tabTo(page, page.getByRole("radio", { name: "New assignments only" }));
  await page.keyboard.press("ArrowDown");
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Publish version 2 in test" }).click();
  await page.waitForURL("**/plans/pro");
  await page.getByRole("row", { name: /^2 .*All customers, at their next renewal/ }).waitFor();

  const { body } = await manage("GET", "plans/pro");
  expect(body["versions"]).toMatchObject([{ number: 2, reach: "next_period" }, { number: 1 }]);
  const ada = await check({ customerId: "ada", feature: "image.render" });
  expect(ada.body).toMatchObject({ allowed: true, creditsRequired: 10, balance: 100 });
  expect((await check({ customerId: "ada", feature: "text.generate" })).body).toMatchObject({
    allowed: true,
  });
});

test("an edit conflict on a plan names the other author and merges both authors' changes", async () => {
  const { service, manage, tokens } = await setupManage();
  const bob = await addMember(service.url, tokens.owner, "admin");
  const page = await signIn(service.url, `${PLANS}/pro/edit`);
  await page.getByLabel("Credits", { exact: true }).fill("300");
  const other = await signIn(service.url, `${PLANS}/pro/edit`, { credentials: bob });
  await other.getByLabel("video.render", { exact: true }).check();
  await other.getByRole("button", { name: "Save draft in test" }).click();
  await other.getByText("Saved.", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Save draft in test" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("The admin").waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, alert.getByRole("button", { name: "Reload" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByLabel("video.render", { exact: true }).isChecked()).toBe(true);
  expect(await page.getByLabel("Credits", { exact: true }).inputValue()).toBe("300");
  await page.getByRole("button", { name: "Save draft in test" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  const { body } = await manage("GET", "plans/pro");
  expect(body["draft"]).toMatchObject({ allowances: [{ credits: 300 }] });
  expect(JSON.stringify(body["draft"])).toContain("video.render");
});

test("the plan editor loads the current draft, and a pool created elsewhere does not reset the form", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${PLANS}/pro`);
  const draft = { name: "Pro", allowances: [{ credits: 222, period: "month" }], features: [] };
  expect((await manage("PUT", "plans/pro/draft", { body: draft })).status).toBe(200);
  await page.getByRole("link", { name: /edit/i }).first().click();
  await page.waitForURL("**/plans/pro/edit");
  expect(await page.getByLabel("Credits", { exact: true }).inputValue()).toBe("222");
  expect((await manage("PUT", "pools/video", { body: { name: "Video" } })).status).toBe(200);
  await page.getByLabel("Credits", { exact: true }).fill("333");
  await page.getByRole("button", { name: "Save draft in test" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  await page.getByLabel("Credits", { exact: true }).fill("444");
  await page.getByText("Unsaved changes.").waitFor();
  expect((await manage("GET", "plans/pro")).body["draft"]).toMatchObject({ allowances: [{ credits: 333 }] });
});

test("publishing a plan fails if a feature's cost changed after the review", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "plans/pro/draft", {
    body: {
      name: "Pro",
      allowances: [{ credits: 100, period: "month" }],
      features: [{ feature: "image.render" }],
    },
  });
  const page = await signIn(service.url, `${PLANS}/pro/publish`);
  await page.getByText("No longer includes text.generate.").waitFor();
  await manage("PUT", "features/image.render", {
    body: { name: "image.render", cost: { credits: 99 } },
    headers: { "if-match": "*" },
  });
  await page.getByRole("button", { name: "Publish version 2 in test" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("token The owner's").waitFor();
  await expectAccessibleInBoth(page);
  await alert.getByRole("button", { name: "Reload" }).click();
  await page.getByText("image.render: 10 credits each → 99 credits each.").waitFor();
  expect((await manage("GET", "plans/pro")).body["versions"]).toHaveLength(1);
});

test("a plan draft can be edited, saved and discarded with the keyboard", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${PLANS}/pro`);
  await tabTo(page, page.getByRole("link", { name: "Edit plan" }));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/edit");
  await tabTo(page, page.getByLabel("Credits", { exact: true }));
  await page.keyboard.press("Control+a");
  await page.keyboard.type("150");
  await page.getByText("→ 150 credits a month.").waitFor();
  const guard = page.getByRole("dialog", { name: "Discard unsaved changes?" });
  await tabTo(page, page.getByRole("link", { name: "Plans", exact: true }).first());
  await page.keyboard.press("Enter");
  await guard.waitFor();
  await expectAccessibleInBoth(page);
  await page.keyboard.press("Escape");
  await guard.waitFor({ state: "hidden" });
  await tabTo(page, page.getByLabel("Credits", { exact: true }));
  await page.keyboard.press("Enter");
  await page.getByText("Saved.", { exact: true }).waitFor();
  expect((await manage("GET", "plans/pro")).body["draft"]).toMatchObject({ allowances: [{ credits: 150 }] });
  await tabTo(page, page.getByRole("link", { name: "Pro", exact: true }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Discard" }));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Discard draft" }).waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: "Discard draft in test" }));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Edit plan" }).waitFor();
  expect((await manage("GET", "plans/pro")).body["draft"]).toBeNull();
});

test("the default plan cannot be archived, but other plans can", async () => {
  const { service, manage, publish } = await setupManage();
  await publish({ key: "free", name: "Free" });
  const page = await signIn(service.url, PLANS);
  await page.getByRole("button", { name: "Set default plan" }).click();
  await page.getByRole("combobox", { name: "Default plan" }).selectOption("Pro");
  await expectAccessibleInBoth(page);
  const make = page.getByRole("button", { name: "Set Pro as default in test" });
  await make.click();
  await make.waitFor({ state: "hidden" });
  await page.locator("article", { hasText: "Pro" }).getByText("Default plan").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("link", { name: "Pro", exact: true }).click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Archive plan in test" }).click();
  await page.getByRole("alert").getByText("is the default plan of this environment").waitFor();
  await expectAccessibleInBoth(page);
  await page.goto(`${PLANS}/free`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Archive plan in test" }).click();
  await page.getByText("Archived", { exact: true }).waitFor();
  expect((await manage("GET", "plans/free")).body["archivedAt"]).not.toBeNull();
});

for (const role of ["viewer", "operator"] as const) {
  test(`the ${role} role can read plans but not edit them`, async () => {
    const { service, tokens, manage } = await setupManage();
    await manage("PUT", "plans/pro/draft", { body: { name: "Pro", allowances: [], features: [] } });
    const credentials = await addMember(service.url, tokens.owner, role);
    const page = await signIn(service.url, PLANS, { credentials });
    const main = page.getByRole("main");
    await main.getByRole("link", { name: "Pro", exact: true }).waitFor();
    expect(await main.getByRole("button").allTextContents()).toEqual([]);
    await page.goto(`${PLANS}/pro`);
    await main.getByText("Draft of version 2").waitFor();
    expect(await main.getByRole("button").count()).toBe(1);
    await main.getByRole("button", { name: "Code" }).click();
    await page.getByRole("menuitem", { name: "JSON" }).click();
    await page.getByRole("dialog").getByRole("region", { name: "the plan" }).waitFor();
    await page.goto(`${PLANS}/pro/edit`);
    await main.getByText("Only admins can edit plans").waitFor();
    await page.goto(`${PLANS}/pro/publish`);
    await main.getByText("No longer includes 100 credits a month.").waitFor();
    expect(await main.getByRole("button").allTextContents()).toEqual([]);
  });
}
