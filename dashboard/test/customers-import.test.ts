import { expect, test } from "vitest";
import { setupDuo } from "../../service/test/imports.ts";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { expectOpeningBalances, OPENING_BALANCES, OPENING_TOTALS, readReport } from "./opening-balances.ts";

// The import can take half a minute on a busy machine.
const PATIENCE = { timeout: 180_000 };

test(
  "importing 5,000 customers stores their balances and renewal days, and the totals match the file",
  PATIENCE,
  async () => {
    const managed = await setupDuo();
    const page = await signIn(managed.service.url, "/projects/1/test/customers");
    await page.getByRole("button", { name: "Import CSV" }).click();
    await page.getByLabel("File").setInputFiles(OPENING_BALANCES);
    await page.getByRole("button", { name: "Check file" }).click();
    await page.getByText("Nothing has been imported yet. 10,001 rows checked.").waitFor();
    await page.getByText(/5,000 new customers start on Duo\. 5,000 rows add credits\./i).waitFor();
    expect(await readReport(page, "Credits to be added")).toEqual(OPENING_TOTALS);
    expect(await readReport(page, "Rows with errors")).toEqual([
      "10,002 allowanceRemaining is more than the plan's allowance of 1000",
    ]);
    await expectAccessible(page);
    expect(await managed.database.count("cell.customers")).toBe(1);

    await page.getByRole("button", { name: "Import 10,000 rows into test" }).click();
    await page.getByText("Import complete. 10,001 rows processed.").waitFor(PATIENCE);
    expect(await readReport(page, "Credits added")).toEqual(OPENING_TOTALS);
    await expectOpeningBalances(managed);
  },
);

test("the check of a file counts the existing customers who get another plan", async () => {
  const { service, publish } = await setupManage();
  await publish({ key: "scale", name: "Scale" });
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByRole("button", { name: "Import CSV" }).click();
  const buffer = Buffer.from("customerId,plan\nada,scale\n");
  await page.getByLabel("File").setInputFiles({ name: "plans.csv", mimeType: "text/csv", buffer });
  await page.getByRole("button", { name: "Check file" }).click();
  await page.getByText("1 existing customer gets a new plan or plan end date.").waitFor();
});
