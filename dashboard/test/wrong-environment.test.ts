import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { signIn } from "./browser.ts";

test("switching environments closes an open form", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/live/api-keys");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.waitForURL("**/test/api-keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").waitFor();
  await page.goBack();
  await page.waitForURL("**/live/api-keys");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});
