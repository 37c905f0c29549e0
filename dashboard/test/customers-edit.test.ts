import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const ADA = "/projects/1/test/customers/ada";

test("a customer can be erased with the keyboard, but only after typing the ID", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, ADA);
  await tabTo(page, page.getByRole("button", { name: "More actions" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("menuitem", { name: "Erase permanently" }), "ArrowDown");
  await page.keyboard.press("Enter");
  const erase = page.getByRole("button", { name: "Erase permanently in test" });
  await erase.waitFor();
  await expectAccessible(page);
  await page.keyboard.type("ad");
  await page.keyboard.press("Enter");
  expect(await erase.isDisabled()).toBe(true);
  expect((await manage("GET", "customers/ada")).status).toBe(200);
  await page.keyboard.type("a");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/1/test/customers");
  await page.getByText("Customer erased").waitFor();
  await page.getByText("No customers yet").waitFor();
  expect((await manage("GET", "customers/ada")).status).toBe(404);
});

test("an operator can block and unblock a customer but not erase it", async () => {
  const { service, manage, tokens, check } = await setupManage();
  const credentials = await addMember(service.url, tokens.owner, "operator");
  const page = await signIn(service.url, ADA, { credentials, scheme: "dark" });
  await page.getByRole("button", { name: "More actions" }).click();
  expect(await page.getByRole("menuitem", { name: "Erase permanently" }).count()).toBe(0);
  await page.getByRole("menuitem", { name: "Block" }).click();
  await page.getByRole("button", { name: "Block in test" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Block in test" }).click();
  await page.getByText("Blocked ada").waitFor();
  await page.getByText("Blocked", { exact: true }).waitFor();
  const denied = await check({ customerId: "ada", feature: "image.render" });
  expect(denied.body).toMatchObject({ allowed: false, reason: "customer_blocked" });
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Unblock" }).click();
  await page.getByRole("button", { name: "Unblock in test" }).click();
  await page.getByText("Unblocked ada").waitFor();
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ isBlocked: false });
});

test("editing a customer keeps the fields that are not edited", async () => {
  const { service, manage } = await setupManage();
  const body = { name: "Ada", email: "ada@example.com", billingReference: "cus_1", metadata: { tier: 1 } };
  await manage("PUT", "customers/ada", { body });
  const page = await signIn(service.url, ADA);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit", exact: true }).click();
  await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByLabel("Metadata").fill("{tier: 2}");
  await page.getByRole("button", { name: "Save in test" }).click();
  await page.getByText("Enter a JSON object.").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Metadata").fill('{"tier": 2}');
  await page.getByLabel("Email").press("Enter");
  await page.getByRole("heading", { name: "Ada Lovelace" }).waitFor();
  expect((await manage("GET", "customers/ada")).body).toMatchObject({
    ...body,
    name: "Ada Lovelace",
    metadata: { tier: 2 },
  });
});
