import { expect, test } from "vitest";
import { openHolds } from "../../service/test/holds.ts";
import { setupManage } from "../../service/test/manage.ts";
import { setupOverage } from "../../service/test/overage.ts";
import { expectAccessible, expectAccessibleInBoth } from "./axe.ts";
import { signIn } from "./browser.ts";

const HERE = "/projects/1/test";

test("overage published with a plan is shown separately from the balance and removed by a reversal", async () => {
  const managed = await setupManage();
  const { service, manage, consume } = managed;
  const { hold } = openHolds(managed);
  const page = await signIn(service.url, `${HERE}/plans/pro/edit`);
  await page.getByText("Requests are denied when no credits are left.").waitFor();
  await page.getByLabel("Overage", { exact: true }).selectOption("Up to a limit");
  await page.getByLabel("Overage limit").fill("0");
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByRole("alert").getByText("Enter 1 or more.").waitFor();
  await page.getByLabel("Overage limit").fill("60");
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.waitForURL("**/plans/pro/publish");
  await page.getByText("Overage: none → up to 60 credits a month.").waitFor();
  await page.getByRole("radio", { name: "All customers, now" }).check();
  await page.getByRole("button", { name: "Publish version 2 in test" }).click();
  await page.waitForURL("**/plans/pro");
  await page.getByText("Then up to 60 credits of overage").waitFor();
  await page.getByText("Overage: none → up to 60 credits a month.").waitFor();
  expect((await manage("GET", "plans/pro")).body["versions"]).toMatchObject([
    { number: 2, allowances: [{ credits: 100, overage: 60 }] },
    { number: 1, allowances: [{ credits: 100, overage: 0 }] },
  ]);

  // Charge 100 credits and 20 credits of overage. Then hold 10 more credits of overage.
  const charged = await consume({
    customerId: "ada",
    feature: "image.render",
    quantity: 12,
    idempotencyKey: "over",
  });
  expect(charged.body).toMatchObject({ allowed: true, balance: 0, overageCredits: 20 });
  expect((await hold({ feature: "image.render" })).body).toMatchObject({ allowed: true });

  await page.goto(`${HERE}/customers/ada`);
  await page.getByText("Limit in this period: 60. 30 left, 10 held.").waitFor();
  await page.getByText("To be invoiced. Not part of the balance.").waitFor();
  await page.getByText("Then up to 30 credits of overage.").waitFor();
  await expectAccessibleInBoth(page);

  await page.getByRole("link", { name: "Holds", exact: true }).click();
  await page.getByText("10 overage", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Ledger", exact: true }).click();
  await page.getByText("20 overage", { exact: true }).waitFor();
  await page
    .getByRole("button", { name: /^Details of entry/ })
    .first()
    .click();
  await page.getByText("20 credits, to be invoiced").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "over", exact: true }).first().click();
  await page
    .getByText("Charged ada 100 credits and 20 credits of overage for 12 × image.render.")
    .first()
    .waitFor();

  await page.goBack();
  await page
    .getByRole("button", { name: /^Reverse/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog", { name: "Reverse charge" });
  await dialog.getByText("20 credits of overage will be reversed.").waitFor();
  await dialog.getByLabel("Quantity to reverse").fill("2");
  await dialog.getByRole("button", { name: "Reverse 20 credits of overage in test" }).waitFor();
  await dialog.getByLabel("Quantity to reverse").fill("3");
  await dialog
    .getByRole("button", { name: "Reverse 10 credits and 20 credits of overage in test" })
    .waitFor();
  await dialog.getByLabel("Quantity to reverse").fill("2");
  await dialog.getByText("20 credits of overage will be reversed.").waitFor();
  await dialog.getByRole("button", { name: "Reverse 20 credits of overage in test" }).click();
  await page.getByText("0 credits returned, 20 credits of overage reversed. Balance 0").waitFor();
  await page.getByText("20 overage reversed", { exact: true }).waitFor();
  await page.goto(`${HERE}/keys/over`);
  await page.getByText("2 of 12, 0 credits returned, 20 credits of overage reversed").waitFor();
  await page.goto(`${HERE}/customers/ada`);
  await page.getByText("Limit in this period: 60. 50 left, 10 held.").waitFor();
  expect((await manage("GET", "customers/ada")).body["balances"]).toEqual([
    { pool: "credits", balance: 0, held: 0, overage: { credits: 60, used: 0, held: 10, remaining: 50 } },
  ]);

  await page.getByRole("link", { name: "Holds", exact: true }).click();
  await page.getByRole("button", { name: /^Release hold/ }).click();
  const release = page.getByRole("dialog", { name: "Release hold" });
  await release.getByText("The overage can be used again, unless its period has ended.").waitFor();
  await expectAccessible(page);
  await release.getByRole("button", { name: "Release 10 credits of overage in test" }).click();
  await page.getByText("10 credits of overage no longer held").waitFor();
  await page.getByText("Overage used", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.getByText("Limit in this period: 60. 60 left.").waitFor();
  await page.goto("/workspace/audit");
  await page.getByText("released a hold of 10 credits of overage for ada").waitFor();
  await page
    .getByText("reversed a charge, returned 0 credits to ada and reversed 20 credits of overage")
    .waitFor();
});

test("an override replaces the plan's overage", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "customers/ada/overrides", { body: { allowances: { credits: { overage: null } } } });
  const page = await signIn(service.url, `${HERE}/customers/ada`, { scheme: "dark", width: 390 });
  await page.getByText("Override: unlimited overage").waitFor();
  await page.getByText("In this period. No limit.").waitFor();
  await expectAccessible(page);
  await manage("PUT", "customers/ada/overrides", {
    body: { allowances: { credits: { overage: 5 } } },
    headers: { "if-match": "*" },
  });
  await page.reload();
  await page.getByText("Override: up to 5 credits of overage").waitFor();
  await page.getByText("Limit in this period: 5. 5 left.").waitFor();
});

test("the explanation of a denial includes the remaining overage", async () => {
  const managed = await setupOverage(60);
  const { service, consume, manage } = managed;
  await consume({ feature: "image.render", quantity: 12 });
  await consume({ feature: "image.render", quantity: 5 });
  const { body } = await manage("GET", "customers/ada/denials");
  const [denial] = body["items"] as { denialId: string }[];
  const page = await signIn(service.url, `${HERE}/denials/${denial?.denialId}`);
  await page
    .getByText(
      "5 × image.render cost 50 credits. Only 40 credits of overage were left. That is 10 credits short.",
    )
    .waitFor();
  const sum = page.getByRole("table", { name: "Calculation" });
  expect(await sum.getByRole("cell").allTextContents()).toEqual(["50", "0", "40", "10"]);
  await page.getByText("40 of 60 left").waitFor();
  await page.getByText("20 overage", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Add credits (10 short)" }).waitFor();
  await expectAccessibleInBoth(page);
  await managed.topUp("ada", 10);
  await page.reload();
  await page.getByText("It would cost 50 credits, 40 of them overage; the balance is 10.").waitFor();
});
