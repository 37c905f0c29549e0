import { expect, test } from "vitest";
import { setupReversals } from "../../service/test/reversals.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const HERE = "/projects/1/test";

test("the ledger and audit log show which API key reversed a charge, and the ledger links to the idempotency key", async () => {
  const { charge, reverse, service } = await setupReversals();
  const consumeId = await charge({ feature: "image.render", quantity: 3 });
  await reverse(consumeId, { quantity: 2, idempotencyKey: "undo-1" });
  const page = await signIn(service.url, `${HERE}/customers/ada/ledger?kind=reverse`);
  await page.locator("tbody tr").first().getByRole("button").first().click();
  await page.getByTitle("Refunds: an API key").first().waitFor();
  await page.getByRole("link", { name: "undo-1" }).first().click();
  await page.getByText("Reversed 2 × image.render and returned 20 credits to ada.").first().waitFor();
  await page.getByText("POST /v1/consume/{consumeId}/reverse").waitFor();
  await expectAccessible(page);
  await page.goto("/workspace/audit");
  const sentence = "API key Refunds reversed a charge and returned 20 credits to ada";
  await page.getByRole("button", { name: new RegExp(sentence) }).click();
  await page.getByRole("link", { name: "All entries by this actor" }).click();
  await expect.poll(() => page.url()).toContain("actor=api_key%3A");
  await page.getByText(sentence).first().waitFor();
});
