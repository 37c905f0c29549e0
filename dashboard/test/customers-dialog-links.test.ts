import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { signIn } from "./browser.ts";

test("a link to the Add credits dialog opens it once, and not again after a reload", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers/ada?do=add-credits");
  await page.getByRole("dialog", { name: /Add credits to ada/ }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  expect(new URL(page.url()).search).toBe("");
  await page.reload();
  await page.getByRole("heading", { name: "ada" }).waitFor();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});

test("a link cannot open the erase dialog", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers/ada?do=erase");
  await page.getByRole("heading", { name: "ada" }).waitFor();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});
