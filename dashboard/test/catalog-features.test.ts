import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { runCurlOf } from "./catalog-curl.ts";
import { tabTo } from "./tab-to.ts";

const FEATURES = "/projects/1/test/features";

test("a new feature is listed with its cost and with no plans", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${FEATURES}?define=audio.mix`);
  const dialog = page.getByRole("dialog", { name: "Create feature" });
  expect(await dialog.getByLabel("Key").inputValue()).toBe("audio.mix");
  expect(await dialog.getByLabel("Name").inputValue()).toBe("Audio mix");
  await dialog.getByLabel("Unit", { exact: true }).fill("second");
  await dialog.getByLabel("Credits").fill("7");
  await dialog.getByLabel("Number of units").fill("60");
  await dialog
    .getByText("1 second costs 1 credit, 60 seconds cost 7 credits and 150 seconds cost 18 credits")
    .waitFor();
  await expectAccessibleInBoth(page);
  await dialog.getByRole("button", { name: "Create feature in test" }).click();
  const row = page.getByRole("row", { name: /Audio mix/ });
  await row.waitFor();
  expect(await row.textContent()).toContain("7 credits per 60 seconds");
  expect(await row.textContent()).toContain("None");
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });
  const { body } = await manage("GET", "features/audio.mix");
  expect(body).toMatchObject({ name: "Audio mix", unit: "second", cost: { credits: 7, per: 60 } });
  await expectAccessibleInBoth(page);
});

test("creating a feature with an existing key opens or links to the existing feature", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, `${FEATURES}?define=export`);
  await page.getByRole("dialog", { name: "export" }).waitFor();
  await expectAccessibleInBoth(page);
  await page.goto(`${FEATURES}?define=`);
  const dialog = page.getByRole("dialog", { name: "Create feature" });
  await dialog.getByLabel("Key").fill("export");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").waitFor();
  await expectAccessibleInBoth(page);
  await dialog.getByRole("link", { name: "Open that feature" }).click();
  await page.getByRole("dialog", { name: "export" }).waitFor();
});

test("a feature's cost can be edited with the keyboard, and published plans keep charging the old cost", async () => {
  const { service, consume } = await setupManage();
  const page = await signIn(service.url, FEATURES);
  await tabTo(page, page.getByRole("link", { name: "image.render" }));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "image.render" });
  await dialog.waitFor();
  await tabTo(page, dialog.getByLabel("Credits"));
  await page.keyboard.press("Control+a");
  await page.keyboard.type("12");
  await dialog.getByText("No effect until you publish").waitFor();
  await expectAccessibleInBoth(page);
  await page.keyboard.press("Enter");
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });
  // Focus returns to the link that opened the dialog.
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("image.render");
  const row = page.getByRole("row", { name: /image.render/ });
  expect(await row.textContent()).toContain("12 credits each");
  expect(await row.textContent()).toContain("Pro still charges 10 credits each");
  const { body } = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "one" });
  expect(body["creditsCharged"]).toBe(10);
});

test("an edit conflict on a feature names the other author and keeps the unsaved input", async () => {
  const { service, manage, tokens } = await setupManage();
  const bob = await addMember(service.url, tokens.owner, "admin");
  const page = await signIn(service.url, `${FEATURES}?key=image.render`);
  const dialog = page.getByRole("dialog", { name: "image.render" });
  await dialog.getByLabel("Unit", { exact: true }).fill("picture");
  const other = await signIn(service.url, `${FEATURES}?key=image.render`, { credentials: bob });
  await other.getByLabel("Credits").fill("15");
  await other.getByRole("button", { name: "Save feature in test" }).click();
  await other.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });

  await dialog.getByRole("button", { name: "Save feature in test" }).click();
  const alert = dialog.getByRole("alert");
  await alert.getByText("The admin").waitFor();
  await expectAccessibleInBoth(page);
  await alert.getByRole("button", { name: "Reload" }).click();
  await expect.poll(() => dialog.getByLabel("Credits").inputValue()).toBe("15");
  expect(await dialog.getByLabel("Unit", { exact: true }).inputValue()).toBe("picture");
  await dialog.getByRole("button", { name: "Save feature in test" }).click();
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });
  const { body } = await manage("GET", "features/image.render");
  expect(body).toMatchObject({ unit: "picture", cost: { credits: 15, per: 1 } });
});

test("the curl call shown in the feature form saves the form's values", async () => {
  const { service, manage, tokens } = await setupManage();
  const page = await signIn(service.url, `${FEATURES}?key=image.render`);
  await page.getByLabel("Name", { exact: true }).fill("Ada's image");
  await page.getByLabel("Credits").fill("11");
  await page.getByRole("button", { name: "API call" }).click();
  expect(await runCurlOf(page, tokens.admin)).toMatchObject({ name: "Ada's image", cost: { credits: 11 } });
  expect((await manage("GET", "features/image.render")).body["name"]).toBe("Ada's image");
  // The call has an If-Match header, so a second run fails.
  expect(await runCurlOf(page, tokens.admin)).toMatchObject({ code: "changed_meanwhile" });
});

test("a feature can be archived after a warning, and restored later", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${FEATURES}?key=export`);
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByText("Pro keeps it until you publish a version without it.").waitFor();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Archive feature in test" }).click();
  // Rows are hidden while a dialog is open, so also check the API.
  await expect.poll(async () => (await manage("GET", "features/export")).body["archivedAt"]).not.toBeNull();
  await expect.poll(() => page.getByRole("row", { name: /export/ }).count()).toBe(0);
  await page.getByLabel("Show features").selectOption("Archived");
  await page.getByRole("link", { name: "export" }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Restore feature in test" }).click();
  await page.getByText("No matches").waitFor();
  expect((await manage("GET", "features/export")).body["archivedAt"]).toBeNull();
});

test("the form that names an event key suggests a name based on the key", async () => {
  const { service, manage, project } = await setupManage();
  await fetch(`${service.url}/v1/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${project.test.key.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ customerId: "ada", event: "tokens/used", quantity: 5 }),
  });
  const page = await signIn(service.url, `${FEATURES}/event-keys`);
  await page.getByText("No name").waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: "Add name for tokens/used" }));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Name event key" }).waitFor();
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByLabel("Name", { exact: true }));
  await page.keyboard.press("Enter");
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });
  await page.getByText("Tokens used", { exact: true }).waitFor();
  const { body } = await manage("GET", "event-keys");
  expect(body["items"]).toMatchObject([{ key: "tokens/used", name: "Tokens used" }]);
});

test("a second pool can be created with the keyboard, and the feature list then shows each feature's pool", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${FEATURES}/pools`);
  await expectAccessibleInBoth(page);
  await tabTo(page, page.getByRole("button", { name: "Create pool" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("dialog", { name: "Create pool" }).getByLabel("Key"));
  await page.keyboard.type("video-minutes");
  await expectAccessibleInBoth(page);
  await page.keyboard.press("Enter");
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });
  await page.getByRole("row", { name: /Video minutes.*No features/ }).waitFor();
  await page.goto(`${FEATURES}?key=video.render`);
  await page.getByLabel("Pool").selectOption("Video minutes");
  await page.getByRole("button", { name: "Save feature in test" }).click();
  await page.getByRole("row", { name: /video.render.*Video minutes/ }).waitFor();
  expect((await manage("GET", "features/video.render")).body["pool"]).toBe("video-minutes");
});

test("the global search finds a feature and opens it", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  await page.keyboard.type("video.render");
  await page.getByRole("option", { name: /video.render/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "video.render" }).waitFor();
});

test("the slash key focuses the feature filter, and the filter is kept in the URL", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, FEATURES);
  await page.keyboard.press("/");
  await page.keyboard.type("render");
  await page.waitForURL("**/features?search=render");
  await expect.poll(() => page.getByRole("row").count()).toBe(3);
  await page.reload();
  await page.getByText("2 features").waitFor();
});

for (const role of ["viewer", "operator"] as const) {
  test(`the ${role} role can read features but not edit them`, async () => {
    const { service, tokens } = await setupManage();
    const credentials = await addMember(service.url, tokens.owner, role);
    const page = await signIn(service.url, `${FEATURES}?key=export`, { credentials });
    const dialog = page.getByRole("dialog", { name: "export" });
    await dialog.getByText("Free", { exact: true }).waitFor();
    expect(await dialog.getByRole("button").allTextContents()).toEqual(["", "JSON"]);
    await expectAccessibleInBoth(page);
    await page.keyboard.press("Escape");
    await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "hidden" });
    expect(await page.getByRole("link", { name: "Create feature" }).count()).toBe(0);
  });
}
