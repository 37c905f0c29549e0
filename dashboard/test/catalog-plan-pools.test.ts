import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const EDIT = "/projects/1/test/plans/pro/edit";

test("creating a pool in the plan editor keeps the unsaved plan changes", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, EDIT);
  await page.getByLabel("Credits", { exact: true }).fill("333");
  await page.getByRole("button", { name: "Create pool" }).click();
  const dialog = page.getByRole("dialog", { name: "Create pool" });
  await dialog.getByLabel("Name").fill("Video minutes");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create pool in test" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByLabel("Include Video minutes").isChecked()).toBe(true);
  expect(new URL(page.url()).pathname).toBe(EDIT);
  // Creating the pool does not save the plan.
  expect((await manage("GET", "plans/pro")).body["draft"]).toBeNull();
  await page.getByLabel("Credits (Video minutes)").fill("30");
  await page.getByRole("button", { name: "Save draft in test" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  expect((await manage("GET", "plans/pro")).body["draft"]).toMatchObject({
    allowances: [
      { pool: "credits", credits: 333 },
      { pool: "video-minutes", credits: 30, period: "month", rollover: 0, overage: 0 },
    ],
  });
});

const FIELDS = ["Credits", "Period", "Rollover periods", "Overage"] as const;

async function boxesOf(page: Page, pool: string) {
  const boxes = FIELDS.map((field) => page.getByLabel(`${field} (${pool})`, { exact: true }).boundingBox());
  return (await Promise.all(boxes)).map((box) => box ?? { x: -1, y: -1, width: -1, height: -1 });
}

test("the fields of each pool stay aligned in the plan editor, even if a pool has a long name", async () => {
  const { service, manage } = await setupManage();
  const name = "Video minutes in the highest quality that we offer";
  await manage("PUT", "pools/video", { body: { name } });
  const page = await signIn(service.url, EDIT);
  await page.getByLabel(`Include ${name}`).check();
  for (const width of [1440, 1024, 700]) {
    await page.setViewportSize({ width, height: 900 });
    const [first, second] = [await boxesOf(page, "Credits"), await boxesOf(page, name)];
    const columns = (boxes: typeof first) => boxes.map(({ x, width: wide }) => [x, wide]);
    expect(columns(second)).toEqual(columns(first));
    const [credits, period] = second;
    expect(credits?.y).toBe(period?.y);
    expect(credits?.height).toBe(period?.height);
  }
});
