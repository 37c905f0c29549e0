import { expect, test } from "vitest";
import { connectTo } from "../../service/test/harness.ts";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const CUSTOMERS = "/projects/1/test/customers";

test("a file is checked row by row, and then imported as far as it is right", async () => {
  const { service, manage } = await setupManage();
  const rows = ["customerId,name,plan,credits", "acme,Acme GmbH,pro,250", "bert,Bert,gold,", "ada,Ada,,"];
  const file = { name: "Opening balances.csv", mimeType: "text/csv", buffer: Buffer.from(rows.join("\n")) };
  const page = await signIn(service.url, CUSTOMERS, { scheme: "dark" });
  await tabTo(page, page.getByRole("button", { name: "Import CSV" }));
  await page.keyboard.press("Enter");
  await page.getByLabel("File").setInputFiles(file);
  const name = () => page.getByLabel("Name of the import").inputValue();
  await expect.poll(name).toMatch(/^Opening-balances-[0-9a-f]{8}$/);
  await tabTo(page, page.getByRole("button", { name: "Check the file" }));
  await page.keyboard.press("Enter");
  await page.getByText("Nothing is written yet. 3 rows would be handled like this:").waitFor();
  const errors = page.getByRole("region", { name: "Rows with errors" }).locator("tbody tr");
  expect(await errors.allInnerTexts()).toEqual([expect.stringMatching(/3\s+plan\s+is no plan/)]);
  await expectAccessible(page);
  expect((await manage("GET", "customers/acme")).status).toBe(404);

  // Another name is another import: what was seen is no longer what would be done.
  await page.getByLabel("Name of the import").fill("second");
  await page.getByRole("button", { name: "Check the file" }).click();
  await tabTo(page, page.getByRole("button", { name: "Import 2 rows in test" }));
  await page.keyboard.press("Enter");
  await page.getByText("Done. 3 rows were handled like this:").waitFor();
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

test("a plan goes to everybody whom the list is narrowed to, after it was seen what that does", async () => {
  const { service, manage, publish, assign } = await setupManage();
  await publish({ key: "scale", name: "Scale" });
  for (const name of ["org_1", "org_2", "org_3"]) await assign(name);
  await assign("org_3", "scale");
  const page = await signIn(service.url, `${CUSTOMERS}?search=org`);
  await tabTo(page, page.getByRole("button", { name: "Assign a plan to many" }));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Assign a plan to many" });
  await dialog.getByText("For everybody found by “org”.").waitFor();
  await tabTo(page, dialog.getByLabel("Plan", { exact: true }));
  await page.keyboard.type("Scale");
  await dialog.getByText("2 of 3 customers will change.").waitFor();
  await dialog.getByText("1 with the plan already keep all as it is.").waitFor();
  await expectAccessible(page);
  await tabTo(page, dialog.getByRole("button", { name: "Assign Scale to 2 customers in test" }));
  await page.keyboard.press("Enter");
  await dialog.getByText("2 customers changed to Scale").waitFor();
  await expectAccessible(page);
  const plans = async (plan: string) => (await manage("GET", `customers?plan=${plan}`)).body["items"];
  expect(await plans("scale")).toHaveLength(3);
  expect(await plans("pro")).toMatchObject([{ customerId: "ada" }]);

  // Who came meanwhile was not seen: nothing is done, and the number is there anew.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Assign a plan to many" }).click();
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Pro");
  await dialog.getByText("3 of 3 customers will change.").waitFor();
  for (const name of ["org_4", "org_5"]) await assign(name, "scale");
  await dialog.getByRole("button", { name: "Assign Pro to 3 customers in test" }).click();
  await dialog.getByText("5 customers match now, not 3").waitFor();
  await dialog.getByText("5 of 5 customers will change.").waitFor();
  expect(await plans("scale")).toHaveLength(5);
});

test("stopped, it goes no further, says so, and can go on", async () => {
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
  await page.getByRole("button", { name: "Assign a plan to many" }).click();
  const dialog = page.getByRole("dialog", { name: "Assign a plan to many" });
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Scale");
  await dialog.getByRole("button", { name: "Assign Scale to 300 customers in test" }).click();
  const isWaiting =
    "datname = current_database() and wait_event_type = 'Lock' and query like '%wallets.lock %'";
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(1);
  await dialog.getByRole("button", { name: "Stop" }).click();
  await dialog.getByText("What was done until then stands").waitFor();
  await client.query("rollback");
  await expect.poll(() => database.count("cell.audit", "action = 'plan.assigned_in_bulk'")).toBe(1);
  const onScale = "action = 'plan.assigned' and subject = 'scale'";
  expect(await database.count("cell.audit", onScale)).toBe(250);

  // Opened anew, it does the rest. Nobody is left in the list then, and what was done is told all the same.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Assign a plan to many" }).click();
  await dialog.getByLabel("Plan", { exact: true }).selectOption("Scale");
  await dialog.getByRole("button", { name: "Assign Scale to 50 customers in test" }).click();
  await dialog.getByText("50 customers changed to Scale").waitFor();
  await page.getByText("Nobody matches").waitFor();
  await dialog.getByText("50 customers changed to Scale").waitFor();
});

test("a new customer is made by its id, and never in the place of another", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "customers/ada", { body: { name: "Ada" } });
  const page = await signIn(service.url, CUSTOMERS);
  await tabTo(page, page.getByRole("button", { name: "New customer" }));
  await page.keyboard.press("Enter");
  await page.getByLabel("Id").waitFor();
  await page.keyboard.type("ada");
  await page.keyboard.press("Enter");
  await page.getByText("There is a customer with this id").waitFor();
  await expectAccessible(page);
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ name: "Ada" });
  await tabTo(page, page.getByLabel("Name"));
  await page.keyboard.type("Bertha");
  await page.getByLabel("Id").fill(" org/7 ");
  await page.getByLabel("Metadata").fill('{"seats": 3}');
  await page.getByRole("button", { name: "Make customer in test" }).click();
  await page.getByRole("heading", { name: "Bertha", level: 1 }).waitFor();
  expect((await manage("GET", "customers/org%2F7")).body).toMatchObject({
    customerId: "org/7",
    name: "Bertha",
    metadata: { seats: 3 },
  });
});

test("a filter that finds nobody for long reads on by itself until it finds somebody", async () => {
  const { service, manage } = await setupManage();
  const rows = Array.from({ length: 2_100 }, (_, index) => `org_${index}`);
  const csv = ["customerId", ...rows].join("\n");
  const reply = await manage("POST", "imports?name=many", {
    body: csv,
    headers: { "content-type": "text/csv" },
  });
  expect(reply.body).toMatchObject({ created: 2_100 });
  const page = await signIn(service.url, `${CUSTOMERS}?plan=pro`);
  await page.getByText("The only one").waitFor();
  await page.getByRole("link", { name: "ada" }).waitFor();
  await page.getByLabel("Balance below").fill("1");
  await page.getByText("Nobody matches").waitFor();
});
