import { expect, test } from "vitest";
import { connectTo } from "../../service/test/harness.ts";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const CUSTOMERS = "/projects/1/test/customers";

test("a file is checked row by row, and valid rows are imported", async () => {
  const { service, manage } = await setupManage();
  const rows = ["customerId,name,plan,credits", "acme,Acme GmbH,pro,250", "bert,Bert,gold,", "ada,Ada,,"];
  const file = { name: "Opening balances.csv", mimeType: "text/csv", buffer: Buffer.from(rows.join("\n")) };
  const page = await signIn(service.url, CUSTOMERS, { scheme: "dark" });
  await tabTo(page, page.getByRole("button", { name: "Import CSV" }));
  await page.keyboard.press("Enter");
  await page.getByLabel("File").setInputFiles(file);
  const name = () => page.getByLabel("Import name").inputValue();
  await expect.poll(name).toMatch(/^Opening-balances-[0-9a-f]{8}$/);
  await tabTo(page, page.getByRole("button", { name: "Check file" }));
  await page.keyboard.press("Enter");
  await page.getByText("Nothing has been imported yet. 3 rows checked.").waitFor();
  const errors = page.getByRole("region", { name: "Rows with errors" }).locator("tbody tr");
  expect(await errors.allInnerTexts()).toEqual([expect.stringMatching(/3\s+plan\s+is not a published plan/)]);
  await expectAccessible(page);
  expect((await manage("GET", "customers/acme")).status).toBe(404);

  // A new name invalidates the check.
  await page.getByLabel("Import name").fill("second");
  await page.getByRole("button", { name: "Check file" }).click();
  await tabTo(page, page.getByRole("button", { name: "Import 2 rows into test" }));
  await page.keyboard.press("Enter");
  await page.getByText("Import complete. 3 rows processed.").waitFor();
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

test("a bulk assignment previews and changes all filtered customers", async () => {
  const { service, manage, publish, assign } = await setupManage();
  await publish({ key: "scale", name: "Scale" });
  for (const name of ["org_1", "org_2", "org_3"]) await assign(name);
  await assign("org_3", "scale");
  const page = await signIn(service.url, `${CUSTOMERS}?search=org`);
  await tabTo(page, page.getByRole("button", { name: "Bulk assign plan" }));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Bulk assign plan" });
  await dialog.getByText("All customers matching “org”").waitFor();
  await tabTo(page, dialog.getByLabel("Plan", { exact: true }));
  await page.keyboard.type("Scale");
  await dialog.getByText("2 of 3 customers will change.").waitFor();
  await dialog.getByText("1 already has the plan.").waitFor();
  await expectAccessible(page);
  await tabTo(page, dialog.getByRole("button", { name: "Assign Scale to 2 customers in test" }));
  await page.keyboard.press("Enter");
  await dialog.getByText("2 customers changed to Scale").waitFor();
  await expectAccessible(page);
  const plans = async (plan: string) => (await manage("GET", `customers?plan=${plan}`)).body["items"];
  expect(await plans("scale")).toHaveLength(3);
  expect(await plans("pro")).toMatchObject([{ customerId: "ada" }]);

  // New matching customers: nothing is assigned, and the preview is updated.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Bulk assign plan" }).click();
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Pro");
  await dialog.getByText("3 of 3 customers will change.").waitFor();
  for (const name of ["org_4", "org_5"]) await assign(name, "scale");
  await dialog.getByRole("button", { name: "Assign Pro to 3 customers in test" }).click();
  await dialog.getByText("5 customers match now, not 3").waitFor();
  await dialog.getByText("5 of 5 customers will change.").waitFor();
  expect(await plans("scale")).toHaveLength(5);
});

test("a stopped bulk assignment reports and resumes", async () => {
  const { service, manage, publish, database } = await setupManage();
  await publish({ key: "scale", name: "Scale" });
  const csv = ["customerId,plan", ...Array.from({ length: 300 }, (_, index) => `org_${index},pro`)].join(
    "\n",
  );
  await manage("POST", "imports?name=many", { body: csv, headers: { "content-type": "text/csv" } });
  const client = await connectTo(database);
  await client.query("begin");
  await client.query("select from cell.wallets for update");
  const page = await signIn(service.url, `${CUSTOMERS}?search=org&plan=pro`);
  await page.getByRole("button", { name: "Bulk assign plan" }).click();
  const dialog = page.getByRole("dialog", { name: "Bulk assign plan" });
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Scale");
  await dialog.getByRole("button", { name: "Assign Scale to 300 customers in test" }).click();
  const isWaiting =
    "datname = current_database() and wait_event_type = 'Lock' and query like '%wallets.lock %'";
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(1);
  await dialog.getByRole("button", { name: "Stop" }).click();
  await dialog.getByText("Changes made before you stopped are kept.").waitFor();
  await client.query("rollback");
  await expect.poll(() => database.count("cell.audit", "action = 'plan.assigned_in_bulk'")).toBe(1);
  const onScale = "action = 'plan.assigned' and subject = 'scale'";
  expect(await database.count("cell.audit", onScale)).toBe(250);

  // A second run assigns the rest. The result stays visible even though the list is then empty.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Bulk assign plan" }).click();
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Scale");
  await dialog.getByRole("button", { name: "Assign Scale to 50 customers in test" }).click();
  await dialog.getByText("50 customers changed to Scale").waitFor();
  await page.getByText("No matches").waitFor();
  await dialog.getByText("50 customers changed to Scale").waitFor();
});

test("creating a customer never overwrites an existing one", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "customers/ada", { body: { name: "Ada" } });
  const page = await signIn(service.url, CUSTOMERS);
  await tabTo(page, page.getByRole("button", { name: "Create customer" }));
  await page.keyboard.press("Enter");
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

test("a sparse filter loads further pages until a customer is found", async () => {
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
