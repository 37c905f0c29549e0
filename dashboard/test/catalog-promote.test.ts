import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const LIVE = "/manage/v1/projects/1/live";

test("Test can be promoted to Live with the keyboard, and Live then matches Test", async () => {
  const { service, manage, publish } = await setupManage();
  await publish({ key: "free", name: "Free", allowances: [] });
  await manage("PUT", "default-plan", { body: { plan: "free" } });
  const page = await signIn(service.url, "/projects/1/test/plans");
  await tabTo(page, page.getByRole("link", { name: "Promote Test to Live" }));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/1/live/promote");
  await expect.poll(() => page.title()).toContain("Live");
  const created = page.getByRole("list", { name: "Created" });
  await created.getByText("Includes 100 credits a month.").waitFor();
  await created.getByText("Cost: 3 credits per 1,000.").waitFor();
  await page.getByText("Default plan: none → Free.").waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: "Promote 7 changes to Live" }));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Promote Test to Live" });
  await dialog.waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, dialog.getByLabel('Type "live" to confirm'));
  await page.keyboard.type("LIVE");
  await page.keyboard.press("Enter");
  expect((await manage("GET", `${LIVE}/plans`)).body["items"]).toEqual([]);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("live");
  await page.keyboard.press("Enter");
  await page.getByText("Live now matches Test").waitFor();
  await page.getByText("No changes").waitFor();
  await expectAccessibleInBoth(page);
  const [test, live] = [await manage("GET", "catalog"), await manage("GET", `${LIVE}/catalog`)];
  expect(live.body).toEqual(test.body);
  await page.getByRole("link", { name: "Open live plans" }).click();
  await page.waitForURL("**/projects/1/live/plans");
  await page.getByRole("link", { name: "Pro", exact: true }).waitFor();
});

test("promotion previews the changes to Live, and can archive items that are not in Test", async () => {
  const { service, manage, publish } = await setupManage();
  await manage("POST", "/manage/v1/projects/1/promote", { body: { reach: "new_assignments" } });
  await manage("PUT", `${LIVE}/features/old`, { body: { name: "Old", cost: { credits: 1 } } });
  await publish({
    allowances: [{ pool: "credits", credits: 250, period: "month", rollover: 0, overage: 0 }],
  });
  const page = await signIn(service.url, "/projects/1/test/promote");
  await page.getByText("Credits: 100 credits a month → 250 credits a month.").waitFor();
  await page.getByText("Customers on Pro get the new version at their next renewal.").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByLabel("Archive items that are not in Test").check();
  await page.getByRole("list", { name: "Archived" }).getByText("Archived.").waitFor();
  await page.getByRole("radio", { name: "All customers, at their next renewal" }).check();
  await page.getByRole("button", { name: "Promote 2 changes to Live" }).click();
  await expectAccessibleInBoth(page);
  await page.getByLabel('Type "live" to confirm').fill("live");
  await page
    .getByRole("dialog", { name: "Promote Test to Live" })
    .getByRole("button", { name: "Promote 2 changes to Live" })
    .click();
  await page.getByText("Live now matches Test").waitFor();
  expect((await manage("GET", `${LIVE}/plans/pro`)).body["versions"]).toMatchObject([
    { number: 2, reach: "next_period" },
    { number: 1 },
  ]);
  expect((await manage("GET", `${LIVE}/features/old`)).body["archivedAt"]).not.toBeNull();
});

test("promotion fails if Test changed after the comparison", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live/promote");
  await page.getByRole("button", { name: "Promote 5 changes to Live" }).waitFor();
  await manage("PUT", "features/late", { body: { name: "Late", cost: { credits: 1 } } });
  await page.getByRole("button", { name: "Promote 5 changes to Live" }).click();
  await page.getByLabel('Type "live" to confirm').fill("live");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  await alert.getByText("token The owner's").waitFor();
  expect((await manage("GET", `${LIVE}/features`)).body["items"]).toEqual([]);
  await alert.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("button", { name: "Promote 6 changes to Live" }).waitFor();
});

test("a catalog file that would archive the default plan is rejected", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "default-plan", { body: { plan: "pro" } });
  const page = await signIn(service.url, "/projects/1/test/catalog-file");
  await page
    .getByLabel("Or paste JSON")
    .fill('{"plans":[{"key":"other","name":"Other","allowances":[],"features":[]}]}');
  await page.getByLabel("Archive items that are not in the file").check();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("alert").getByText("Choose another default plan before you archive it.").waitFor();
  expect(await page.getByRole("button", { name: /^Import \d/ }).count()).toBe(0);
  await page.getByLabel("Archive items that are not in the file").uncheck();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Import 1 change into test" }).waitFor();
});

test("a catalog file can be exported, edited, compared and imported", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/catalog-file");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download catalog-1-test.json" }).click();
  const path = await (await download).path();
  const file = JSON.parse(readFileSync(path, "utf8"));
  expect(file).toEqual((await manage("GET", "catalog")).body);
  await expectAccessibleInBoth(page);

  await page.getByLabel("Upload file").setInputFiles(path);
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("The catalog already matches the file.").waitFor();
  await page.getByLabel("Or paste JSON").fill("{ not json");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("Invalid JSON").waitFor();
  await page.getByLabel("Or paste JSON").fill('{"features":[{"key":"export"}]}');
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("alert").waitFor();
  await expectAccessibleInBoth(page);
  file.features[0].cost.credits = 2;
  file.eventKeys = [{ key: "tokens.used", name: "Tokens used", unit: "token" }];
  await page.getByLabel("Or paste JSON").fill(JSON.stringify(file));
  await page.getByLabel("Or paste JSON").press("Tab");
  await tabTo(page, page.getByRole("button", { name: "Compare" }));
  await page.keyboard.press("Enter");
  await page.getByText("Cost: free → 2 credits each.").waitFor();
  await page.getByText("Name: Tokens used.").waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: /Import \d changes into test/i }));
  await page.keyboard.press("Enter");
  await page.getByText("Catalog imported").waitFor();
  expect((await manage("GET", "features/export")).body["cost"]).toEqual({ credits: 2, per: 1 });
});

test("a catalog file is imported into Live only after confirmation", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live/catalog-file");
  await page
    .getByLabel("Or paste JSON")
    .fill('{"features":[{"key":"image.render","name":"Image","unit":"image","cost":{"credits":10}}]}');
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Import 1 change into Live" }).click();
  const dialog = page.getByRole("dialog", { name: "Import into Live" });
  await dialog.waitFor();
  await expectAccessibleInBoth(page);
  expect((await manage("GET", `${LIVE}/features`)).body["items"]).toEqual([]);
  await dialog.getByLabel('Type "live" to confirm').fill("live");
  await page.keyboard.press("Enter");
  await page.getByText("Catalog imported").waitFor();
  expect((await manage("GET", `${LIVE}/features/image.render`)).body["name"]).toBe("Image");
});

for (const role of ["viewer", "operator"] as const) {
  test(`the ${role} role can compare catalogs but not promote or import them`, async () => {
    const { service, tokens } = await setupManage();
    const credentials = await addMember(service.url, tokens.owner, role);
    const page = await signIn(service.url, "/projects/1/live/promote", { credentials });
    const main = page.getByRole("main");
    await main.getByText("Includes 100 credits a month.").waitFor();
    expect(await main.getByRole("button", { name: /Promote/ }).count()).toBe(0);
    await page.goto("/projects/1/test/catalog-file");
    await main.getByLabel("Or paste JSON").fill('{"pools":[{"key":"video","name":"Video"}]}');
    await main.getByRole("button", { name: "Compare" }).click();
    await main.getByText("Name: Video.").waitFor();
    expect(await main.getByRole("button", { name: /^Import \d/ }).count()).toBe(0);
  });
}
