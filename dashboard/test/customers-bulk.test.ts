import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { pressEnterOn, tabTo } from "./tab-to.ts";

const CUSTOMERS = "/projects/1/test/customers";

test("a CSV import lists rows with errors and imports the valid rows", async () => {
  const { service, manage } = await setupManage();
  const rows = ["customerId,name,plan,credits", "acme,Acme GmbH,pro,250", "bert,Bert,gold,", "ada,Ada,,"];
  const file = { name: "Opening balances.csv", mimeType: "text/csv", buffer: Buffer.from(rows.join("\n")) };
  const page = await signIn(service.url, CUSTOMERS, { scheme: "dark" });
  await pressEnterOn(page, page.getByRole("button", { name: "Import CSV" }));
  await page.getByLabel("File").setInputFiles(file);
  const name = () => page.getByLabel("Import name").inputValue();
  await expect.poll(name).toMatch(/^Opening-balances-[0-9a-f]{8}$/);
  await pressEnterOn(page, page.getByRole("button", { name: "Check file" }));
  await page.getByText("Nothing has been imported yet. 3 rows checked.").waitFor();
  const errors = page.getByRole("region", { name: "Rows with errors" }).locator("tbody tr");
  expect(await errors.allInnerTexts()).toEqual([expect.stringMatching(/3\s+plan\s+is not a published plan/)]);
  await expectAccessible(page);
  expect((await manage("GET", "customers/acme")).status).toBe(404);

  // Changing the import name invalidates the check.
  await page.getByLabel("Import name").fill("second");
  await page.getByRole("button", { name: "Check file" }).click();
  await pressEnterOn(page, page.getByRole("button", { name: "Import 2 rows into test" }));
  await page.getByText("Import complete. 3 rows processed.").waitFor();
  await page.getByText("Keep the import name: second").waitFor();
  await expectAccessible(page);
  expect((await manage("GET", "customers/acme")).body).toMatchObject({
    name: "Acme GmbH",
    plan: { key: "pro" },
    balances: [{ balance: 350 }],
  });
  expect((await manage("GET", "customers/bert")).status).toBe(404);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Acme GmbH" }).waitFor();
});

const FORTY = Array.from({ length: 40 }, (_, index) => `org_${String(index).padStart(2, "0")}`);

async function setupForty() {
  const managed = await setupManage();
  await managed.publish({ key: "scale", name: "Scale" });
  const csv = ["customerId,name,plan", ...FORTY.map((id) => `${id},Fernweh ${id},pro`)].join("\n");
  await managed.manage("POST", "imports?name=forty", { body: csv, headers: { "content-type": "text/csv" } });
  const on = async (plan: string): Promise<string[]> => {
    const { body } = await managed.manage("GET", `customers?search=org&plan=${plan}&sort=name_asc&limit=200`);
    return (body["items"] as { customerId: string }[]).map(({ customerId }) => customerId);
  };
  return { ...managed, on };
}

const selectedOf = (page: Page) => page.getByRole("region", { name: "Selected customers" });

test("a bulk change with the mouse changes the ten selected customers and not the other thirty", async () => {
  const { service, on, database, manage } = await setupForty();
  const page = await signIn(service.url, `${CUSTOMERS}?search=org`);
  await page.getByRole("button", { name: "Customer", exact: true }).click();
  await page.getByText("Fernweh org_00").waitFor();
  await page.getByLabel("Select Fernweh org_00").click();
  await page.getByLabel("Select Fernweh org_09").click({ modifiers: ["Shift"] });
  const bar = selectedOf(page);
  await bar.getByText("10 selected").waitFor();
  await expectAccessible(page);

  await bar.getByRole("button", { name: "Assign plan" }).click();
  const dialog = page.getByRole("dialog", { name: "Assign plan" });
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Scale");
  await dialog.getByText("10 of 10 selected customers will change.").waitFor();
  const preview = dialog.getByRole("region", { name: "Preview of the selected customers" });
  expect(await preview.locator("tbody tr").count()).toBe(10);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Assign Scale to 10 customers in test" }).click();
  await dialog.getByText("Assigned Scale to 10 customers").waitFor();
  await expectAccessible(page);
  expect(await on("scale")).toEqual(FORTY.slice(0, 10));
  expect(await on("pro")).toEqual(FORTY.slice(10));
  await dialog.getByRole("button", { name: "Undo…" }).click();
  const undo = page.getByRole("dialog", { name: "Undo change" });
  await undo.getByText("The change will be undone for 10 customers.").waitFor();
  await undo
    .getByRole("row", { name: /Back to Pro/ })
    .first()
    .waitFor();
  await expectAccessible(page);
  await undo.getByRole("button", { name: "Restore the plans of 10 customers in test" }).click();
  await undo.getByText("Undone for 10 customers", { exact: true }).waitFor();
  expect(await on("pro")).toEqual(FORTY);
  await undo.getByRole("button", { name: "Done" }).click();

  const credits = page.getByRole("dialog", { name: "Add credits" });
  const openForm = async (): Promise<void> => {
    await bar.getByRole("button", { name: "Add credits" }).click();
    await credits.getByLabel("Credits per customer").fill("50");
    await credits.getByRole("button", { name: "30 days" }).click();
  };
  await openForm();
  await credits.getByRole("button", { name: "Add 50 credits to 10 customers in test" }).click();
  await credits.getByText("Added 50 credits to 10 customers", { exact: true }).waitFor();
  const manual = () => database.count("cell.grants", "kind = 3");
  // In a bulk change, "30 days" is rounded up to the end of the day, so the expiry is the same all day.
  expect(await database.count("cell.grants", "kind = 3 and extract(minute from expires_at) = 0")).toBe(10);
  expect(await manual()).toBe(10);
  expect((await manage("GET", "customers/org_09")).body).toMatchObject({ balances: [{ balance: 150 }] });
  expect((await manage("GET", "customers/org_10")).body).toMatchObject({ balances: [{ balance: 100 }] });
  await credits.getByRole("button", { name: "Done" }).click();

  // Repeating the change on the same day, for example after an interruption, skips customers who already received the credits,
  // even if more customers are selected.
  await openForm();
  await credits.getByText("10 customers already received these credits").waitFor();
  await credits.getByText("Nothing will change.").waitFor();
  await expectAccessible(page);
  await credits.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Select Fernweh org_10").click();
  await openForm();
  await credits.getByText("1 of 11 selected customers will change.").waitFor();
  await credits.getByRole("button", { name: "Add 50 credits to 1 customer in test" }).click();
  await credits.getByText("Added 50 credits to 1 customer", { exact: true }).waitFor();
  expect(await manual()).toBe(11);
});

test("ten of forty customers can be selected, blocked and unblocked with the keyboard", async () => {
  const { service, database } = await setupForty();
  const page = await signIn(service.url, CUSTOMERS);
  await page.keyboard.press("/");
  await page.keyboard.type("org");
  await page.getByText("All 40 customers").waitFor();
  await pressEnterOn(page, page.getByRole("button", { name: "Customer", exact: true }));
  await tabTo(page, page.getByLabel("Select Fernweh org_00"));
  await page.keyboard.press("Space");
  await tabTo(page, page.getByLabel("Select Fernweh org_09"));
  await page.keyboard.press("Shift+Space");
  const bar = selectedOf(page);
  await bar.getByText("10 selected").waitFor();
  await pressEnterOn(page, bar.getByRole("button", { name: "Block", exact: true }), "Shift+Tab");
  const dialog = page.getByRole("dialog", { name: "Block customers" });
  await pressEnterOn(page, dialog.getByRole("button", { name: "Block 10 customers in test" }));
  await dialog.getByText("Blocked 10 customers", { exact: true }).waitFor();
  const blocked = () =>
    database.query(`
      select c.customer_id from cell.customers as c
      join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
      where w.is_blocked order by 1`);
  expect((await blocked()).map((row) => row["customer_id"])).toEqual(FORTY.slice(0, 10));
  expect(await database.count("cell.audit", "action = 'customer.blocked'")).toBe(10);
  expect(await database.count("cell.audit", "action = 'customers.blocked_in_bulk'")).toBe(1);
  await pressEnterOn(page, dialog.getByRole("button", { name: "Undo…" }));
  const undo = page.getByRole("dialog", { name: "Undo change" });
  await pressEnterOn(page, undo.getByRole("button", { name: "Unblock 10 customers in test" }));
  await undo.getByText("Undone for 10 customers", { exact: true }).waitFor();
  expect(await blocked()).toEqual([]);
});

test("customers that match a filter are counted before all of them can be selected", async () => {
  const { service, manage } = await setupForty();
  const sixty = (name: string) => Array.from({ length: 60 }, (_, index) => `${name}_${index}`);
  const csv = ["customerId", ...sixty("other"), ...sixty("further")].join("\n");
  await manage("POST", "imports?name=others", { body: csv, headers: { "content-type": "text/csv" } });
  const page = await signIn(service.url, `${CUSTOMERS}?search=other`);
  await page.getByLabel("Select the 50 rows shown").click();
  const bar = selectedOf(page);
  await bar.getByText("50 selected").waitFor();
  await bar.getByRole("button", { name: "Select all that match this filter…" }).click();
  await bar.getByRole("button", { name: "Select all 60 customers that match" }).click();
  await bar.getByText("60 selected").waitFor();
  await bar.getByText("All 60 customers that match").waitFor();
  // The new filter also matches 60 customers, but different ones.
  await page.getByLabel("Search customers").fill("further");
  await bar.getByText("60 not in this list").waitFor();
  await bar.getByRole("button", { name: "Select all that match this filter…" }).click();
  await bar.getByRole("button", { name: "Select all 60 customers that match" }).waitFor();
  await page.getByLabel("Search customers").fill("FERNWEH org_3");
  await bar.getByText("60 not in this list").waitFor();
  const download = page.waitForEvent("download");
  await bar.getByRole("button", { name: "Export CSV" }).click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\r\n");
  expect(lines).toHaveLength(61);
  expect(lines[0]).toBe("Customer,ID,Email,Plan,Blocked,Balance,Created");
});

test("clicking a row outside its link opens the customer, and a hidden column stays hidden", async () => {
  const { service } = await setupForty();
  const page = await signIn(service.url, `${CUSTOMERS}?search=WEH%20ORG_07`);
  await page.getByRole("button", { name: "Choose columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Email" }).click();
  await page.keyboard.press("Escape");
  const email = page.getByRole("columnheader", { name: "Email" });
  await email.waitFor({ state: "detached" });
  await page.reload();
  const row = page.getByRole("row", { name: "Fernweh org_07" });
  await row.getByText("100", { exact: true }).click();
  await page.getByRole("heading", { name: "Fernweh org_07", level: 1 }).waitFor();
  await page.goBack();
  await row.waitFor();
  expect(await email.count()).toBe(0);
  expect(await page.getByRole("columnheader", { name: "Created" }).getAttribute("aria-sort")).toBe(
    "descending",
  );
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const [header, line] = readFileSync(await (await download).path(), "utf8").split("\r\n");
  expect(header).toBe("Customer,ID,Plan,Blocked,Balance,Created");
  expect(line).toMatch(/^Fernweh org_07,org_07,Pro,no,100,20/);
});

test("the Ctrl K search finds customers by part of a name, and starts actions with the keyboard", async () => {
  const { service, manage } = await setupForty();
  await manage("PUT", "customers/c1", { body: { name: "Nordlicht Films" } });
  const page = await signIn(service.url, "/projects/1/test");
  const option = (name: string | RegExp) => page.getByRole("option", { name });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("films");
  await option(/Nordlicht Films/).waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("add cred");
  await option("Add credits to…").waitFor();
  await page.keyboard.press("Enter");
  await page.getByPlaceholder("Add credits to which customer?").waitFor();
  await page.keyboard.type("licht");
  await option(/Nordlicht Films/).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Add credits to Nordlicht Films" }).waitFor();
  await page.keyboard.press("Escape");
  for (const [typed, dialog] of [
    ["create customer", "Create customer"],
    ["create api", "Create API key"],
  ] as const) {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(typed);
    await option(new RegExp(typed, "i")).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: new RegExp(dialog, "i") }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
});

test("a bulk change in Live requires a typed confirmation", async () => {
  const { service, manage } = await setupManage();
  const bert = "/manage/v1/projects/1/live/customers/bert";
  await manage("PUT", bert, { body: {} });
  const page = await signIn(service.url, "/projects/1/live/customers");
  await page.getByLabel("Select bert").click();
  await selectedOf(page).getByRole("button", { name: "Block", exact: true }).click();
  const button = page.getByRole("button", { name: "Block 1 customer in live" });
  expect(await button.isDisabled()).toBe(true);
  await page.getByLabel('Type "live" to confirm').fill("live");
  await button.click();
  await page.getByText("Blocked 1 customer", { exact: true }).waitFor();
  expect((await manage("GET", bert)).body).toMatchObject({ isBlocked: true });
});

test("creating a customer never overwrites an existing customer", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "customers/ada", { body: { name: "Ada" } });
  const page = await signIn(service.url, CUSTOMERS);
  await pressEnterOn(page, page.getByRole("button", { name: "Create customer" }));
  await page.getByLabel("ID").waitFor();
  await page.keyboard.type("ada");
  await page.keyboard.press("Enter");
  await page.getByText("This ID is already in use").waitFor();
  await expectAccessible(page);
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ name: "Ada" });
  await tabTo(page, page.getByLabel("Name"));
  await page.keyboard.type("Bertha");
  await page.getByLabel("ID").fill(" org/7 ");
  await page.getByLabel("Metadata").fill('{"seats": 3}');
  await page.getByRole("button", { name: "Create customer in test" }).click();
  await page.getByRole("heading", { name: "Bertha", level: 1 }).waitFor();
  expect((await manage("GET", "customers/org%2F7")).body).toMatchObject({
    customerId: "org/7",
    name: "Bertha",
    metadata: { seats: 3 },
  });
});

test("a filter with few matches loads more pages until a customer is found", async () => {
  const { service, manage } = await setupManage();
  const rows = Array.from({ length: 2_100 }, (_, index) => `org_${index}`);
  const csv = ["customerId", ...rows].join("\n");
  const reply = await manage("POST", "imports?name=many", {
    body: csv,
    headers: { "content-type": "text/csv" },
  });
  expect(reply.body).toMatchObject({ created: 2_100 });
  const page = await signIn(service.url, `${CUSTOMERS}?plan=pro`);
  await page.getByText("1 result").waitFor();
  await page.getByRole("link", { name: "ada" }).waitFor();
  await page.getByLabel("Balance below").fill("1");
  await page.getByText("No matches").waitFor();
});
