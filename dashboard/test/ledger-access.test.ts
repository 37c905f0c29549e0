import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const CUSTOMER = "/projects/1/test/customers/ada";

test.each([
  { scheme: "light", width: 1440 },
  { scheme: "dark", width: 390 },
] as const)("ledger tabs and dialogs are accessible ($scheme, $width px)", async ({ scheme, width }) => {
  const { service, consume, topUp } = await setupManage();
  await topUp("ada", 50);
  await topUp("ada", 50);
  const body = { customerId: "ada", feature: "image.render", quantity: 2 };
  for (const idempotencyKey of ["k1", "k2"]) await consume({ ...body, idempotencyKey });
  await consume({ ...body, quantity: 500, idempotencyKey: "k3" });

  const page = await signIn(service.url, `${CUSTOMER}/ledger`, { scheme, width });
  await page.getByText("Possible duplicate").first().waitFor();
  // The duplicate note wraps, so the table does not scroll and the amounts stay visible.
  const table = page.getByRole("region", { name: /ledger/i });
  expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
  await page.getByRole("button", { name: "Details of entry 5" }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Reverse entry 5" }).click();
  await page.getByText("Plan credits (grant 1)").last().waitFor();
  await page.getByRole("button", { name: "API call" }).click();
  await expectAccessible(page);

  await page.goto(`${CUSTOMER}/grants?grant=2`);
  await page.getByRole("button", { name: "Details of grant 2" }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke grant 2" }).click();
  await page.getByText("Revoke 50 credits in test").waitFor();
  await expectAccessible(page);

  for (const tab of ["plans", "requests"]) {
    await page.goto(`${CUSTOMER}/${tab}`);
    await page
      .getByRole("button", { name: /^Details of/ })
      .first()
      .click();
    await expectAccessible(page);
    // Wide tables scroll, but the page does not.
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  }
});
