import { expect, test } from "vitest";
import { expectDone, setupNotified, startReceiver } from "../../service/test/webhooks.ts";
import { expectAccessible, expectAccessibleInBoth } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { pressEnterOn } from "./tab-to.ts";

const ADA = "/projects/1/test/customers/ada";

test("a rule for top-ups is set, requests one top-up, is closed by a purchase, and is removed", async () => {
  const notified = await setupNotified();
  const { service, manage, render } = notified;
  const page = await signIn(service.url, ADA);
  const card = page.getByRole("list", { name: "Alerts and top-ups" });
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit alerts and top-ups" }).click();
  await page.getByLabel("Top-ups", { exact: true }).selectOption("Request when the balance is low");
  await page.getByLabel("Balance below").fill("0");
  expect(await page.getByRole("button", { name: "Save alerts in test" }).isDisabled()).toBe(true);
  await page.getByLabel("Balance below").fill("50");
  await page.getByLabel("Credits to request").fill("200");
  await page.getByLabel("Maximum top-ups per month").fill("3");
  await page.getByRole("button", { name: "API call" }).click();
  await page.getByText('{"pools":{"credits":{"topUp":{"below":50,"credits":200,"monthlyMax":3}}}}').waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save alerts in test" }).click();
  await card.getByText("Below 50: request 200 credits").waitFor();
  await card.getByText("0 of 3 requested this month (UTC)").waitFor();
  await page.getByText("No enabled webhook receives topup.due").waitFor();
  await expectAccessibleInBoth(page);

  // A charge falls below the rule.
  const receiver = await startReceiver();
  await notified.listen(receiver, { types: ["topup.due"] });
  await render(6);
  await expect.poll(() => receiver.received).toHaveLength(1);
  await page.reload();
  await card.getByText("Waiting for a purchase").waitFor();
  await card.getByText("1 of 3 requested this month (UTC)").waitFor();
  await card.getByText(String(receiver.received[0]?.data["topUpId"])).waitFor();
  expect(await page.getByText("No enabled webhook receives topup.due").count()).toBe(0);
  await expectAccessibleInBoth(page);

  // A purchase closes the request.
  expectDone(await manage("POST", "customers/ada/credits", { body: { kind: "purchase", credits: 200 } }));
  await page.reload();
  await card.getByText("1 of 3 requested this month (UTC)").waitFor();
  expect(await card.getByText("Waiting for a purchase").count()).toBe(0);
  await page.getByRole("link", { name: "Notices" }).click();
  await page.getByRole("row", { name: /Top-up due topup\.due Credits: 200 requested\. 40 left\./ }).waitFor();

  // Removed by keyboard. Other rules of the pool are kept.
  await page.goto(`${ADA}?do=edit-alerts`);
  await page.getByLabel("Low balances").selectOption("Custom thresholds");
  await page.getByLabel("Custom thresholds").fill("70");
  await page.getByLabel("Top-ups", { exact: true }).selectOption("Not requested");
  await pressEnterOn(page, page.getByRole("button", { name: "Save alerts in test" }));
  await card.getByText("Low-balance notices below 70").waitFor();
  expect(await card.getByText("requested this month").count()).toBe(0);
  await page.goto("/workspace/audit?action=alerts.");
  await page.getByText("set alerts and top-ups for").first().waitFor();
});

test("rules of other pools are kept, and a viewer edits nothing", async () => {
  const { service, manage, tokens } = await setupNotified();
  const topUp = { below: 10, credits: 5, monthlyMax: 1 };
  expectDone(await manage("PUT", "pools/video", { body: { name: "Video" } }));
  expectDone(await manage("PUT", "customers/ada/alerts", { body: { pools: { video: { topUp } } } }));
  const page = await signIn(service.url, `${ADA}?do=edit-alerts`);
  expect(await page.getByLabel("Balance below").inputValue()).toBe("10");
  await page.getByLabel("Pool", { exact: true }).selectOption("Credits");
  await page.getByLabel("Low balances").selectOption("Custom thresholds");
  await page.getByRole("button", { name: "Save alerts in test" }).click();
  await page.getByText("No low-balance notices").waitFor();
  expect((await manage("GET", "customers/ada/alerts")).body).toMatchObject({
    pools: { credits: { lowBalances: [], topUp: null }, video: { topUp } },
  });
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const shown = await signIn(service.url, ADA, { credentials });
  await shown.getByText("No low-balance notices").waitFor();
  expect(await shown.getByRole("button", { name: /^Edit alerts/ }).count()).toBe(0);
});
