import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const LIVE = "/manage/v1/projects/1/live";

test("test is promoted to live by keyboard, and then live is as test is and there is nothing to do", async () => {
  const { service, manage, publish } = await setupManage();
  await publish({ key: "free", name: "Free", allowances: [] });
  await manage("PUT", "default-plan", { body: { plan: "free" } });
  const page = await signIn(service.url, "/projects/1/test/plans");
  await tabTo(page, page.getByRole("link", { name: "Promote test to live" }));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/1/live/promote");
  await expect.poll(() => page.title()).toContain("LIVE");
  const created = page.getByRole("list", { name: "Created" });
  await created.getByText("The plan gives 100 credits a month.").waitFor();
  await created.getByText("It costs 3 credits per 1,000.").waitFor();
  await page.getByText("The default plan is Free instead of none.").waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: "Promote 7 changes to LIVE" }));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Promote test to LIVE" });
  await dialog.waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, dialog.getByLabel("Type LIVE to confirm"));
  await page.keyboard.type("live");
  await page.keyboard.press("Enter");
  expect((await manage("GET", `${LIVE}/plans`)).body["items"]).toEqual([]);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("LIVE");
  await page.keyboard.press("Enter");
  await page.getByText("Live sells what test sells").waitFor();
  await page.getByText("Nothing to do").waitFor();
  await expectAccessibleInBoth(page);
  const [test, live] = [await manage("GET", "catalog"), await manage("GET", `${LIVE}/catalog`)];
  expect(live.body).toEqual(test.body);
  await page.getByRole("link", { name: "Look at live's plans" }).click();
  await page.waitForURL("**/projects/1/live/plans");
  await page.getByRole("link", { name: "Pro", exact: true }).waitFor();
});

test("what changes in live is told with who gets it, and what test lacks is archived when asked for", async () => {
  const { service, manage, publish } = await setupManage();
  await manage("POST", "/manage/v1/projects/1/promote", { body: { reach: "new_assignments" } });
  await manage("PUT", `${LIVE}/features/old`, { body: { name: "Old", cost: { credits: 1 } } });
  await publish({ allowances: [{ pool: "credits", credits: 250, period: "month", rollover: 0 }] });
  const page = await signIn(service.url, "/projects/1/test/promote");
  await page.getByText("The plan gives 250 credits a month instead of 100 credits a month.").waitFor();
  await page.getByText("Customers on Pro get the new version when their next period begins.").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByLabel("Also archive what test lacks").check();
  await page.getByRole("list", { name: "Archived" }).getByText("It is no longer offered.").waitFor();
  await page.getByRole("radio", { name: "Everyone, at their next period" }).check();
  await page.getByRole("button", { name: "Promote 2 changes to LIVE" }).click();
  await expectAccessibleInBoth(page);
  await page.getByLabel("Type LIVE to confirm").fill("LIVE");
  await page.getByRole("button", { name: "Make 2 changes in LIVE" }).click();
  await page.getByText("Live sells what test sells").waitFor();
  expect((await manage("GET", `${LIVE}/plans/pro`)).body["versions"]).toMatchObject([
    { number: 2, reach: "next_period" },
    { number: 1 },
  ]);
  expect((await manage("GET", `${LIVE}/features/old`)).body["archivedAt"]).not.toBeNull();
});

test("what was looked at is what is promoted: a change of test in between is told first", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live/promote");
  await page.getByRole("button", { name: "Promote 5 changes to LIVE" }).waitFor();
  await manage("PUT", "features/late", { body: { name: "Late", cost: { credits: 1 } } });
  await page.getByRole("button", { name: "Promote 5 changes to LIVE" }).click();
  await page.getByLabel("Type LIVE to confirm").fill("LIVE");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  await alert.getByText("the token The owner's").waitFor();
  expect((await manage("GET", `${LIVE}/features`)).body["items"]).toEqual([]);
  await alert.getByRole("button", { name: "Read again" }).click();
  await page.getByRole("button", { name: "Promote 6 changes to LIVE" }).waitFor();
});

test("a file that would take the default plan away is blocked, in words", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "default-plan", { body: { plan: "pro" } });
  const page = await signIn(service.url, "/projects/1/test/catalog-file");
  await page
    .getByLabel("Or paste it")
    .fill('{"plans":[{"key":"other","name":"Other","allowances":[],"features":[]}]}');
  await page.getByLabel("Also archive what the file lacks").check();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("alert").getByText("Choose another before you archive it.").waitFor();
  expect(await page.getByRole("button", { name: /Apply/ }).count()).toBe(0);
  await page.getByLabel("Also archive what the file lacks").uncheck();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Apply 1 change in test" }).waitFor();
});

test("a catalog goes out as a file and comes in again, compared first", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/catalog-file");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download catalog-1-test.json" }).click();
  const path = await (await download).path();
  const file = JSON.parse(readFileSync(path, "utf8"));
  expect(file).toEqual((await manage("GET", "catalog")).body);
  await expectAccessibleInBoth(page);

  await page.getByLabel("Choose a file").setInputFiles(path);
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("All that the file says is so already.").waitFor();
  await page.getByLabel("Or paste it").fill("{ not json");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("This is not JSON").waitFor();
  await page.getByLabel("Or paste it").fill('{"features":[{"key":"export"}]}');
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("alert").waitFor();
  await expectAccessibleInBoth(page);
  file.features[0].cost.credits = 2;
  file.eventKeys = [{ key: "tokens.used", name: "Tokens used", unit: "token" }];
  await page.getByLabel("Or paste it").fill(JSON.stringify(file));
  await page.getByLabel("Or paste it").press("Tab");
  await tabTo(page, page.getByRole("button", { name: "Compare" }));
  await page.keyboard.press("Enter");
  await page.getByText("It costs 2 credits each instead of no credits.").waitFor();
  await page.getByText("It is called Tokens used.").waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: /Apply \d changes in test/ }));
  await page.keyboard.press("Enter");
  await page.getByText("The file is applied").waitFor();
  expect((await manage("GET", "features/export")).body["cost"]).toEqual({ credits: 2, per: 1 });
});

test("a file for live is applied only after LIVE was typed", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live/catalog-file");
  await page
    .getByLabel("Or paste it")
    .fill('{"features":[{"key":"image.render","name":"Image","unit":"image","cost":{"credits":10}}]}');
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Apply 1 change in LIVE" }).click();
  const dialog = page.getByRole("dialog", { name: "Apply a file to LIVE" });
  await dialog.waitFor();
  await expectAccessibleInBoth(page);
  expect((await manage("GET", `${LIVE}/features`)).body["items"]).toEqual([]);
  await dialog.getByLabel("Type LIVE to confirm").fill("LIVE");
  await page.keyboard.press("Enter");
  await page.getByText("The file is applied").waitFor();
  expect((await manage("GET", `${LIVE}/features/image.render`)).body["name"]).toBe("Image");
});

for (const role of ["viewer", "operator"] as const) {
  test(`the ${role} compares, and is offered no change`, async () => {
    const { service, tokens } = await setupManage();
    const credentials = await addMember(service.url, tokens.owner, role);
    const page = await signIn(service.url, "/projects/1/live/promote", { credentials });
    const main = page.getByRole("main");
    await main.getByText("The plan gives 100 credits a month.").waitFor();
    expect(await main.getByRole("button", { name: /LIVE/ }).count()).toBe(0);
    await page.goto("/projects/1/test/catalog-file");
    await main.getByLabel("Or paste it").fill('{"pools":[{"key":"video","name":"Video"}]}');
    await main.getByRole("button", { name: "Compare" }).click();
    await main.getByText("It is called Video.").waitFor();
    expect(await main.getByRole("button", { name: /Apply/ }).count()).toBe(0);
  });
}
