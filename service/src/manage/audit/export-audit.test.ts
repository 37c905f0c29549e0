import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";

const EXPORT = "/manage/v1/audit/export";

test("the audit log is exported as NDJSON and can be resumed after any line without gaps or duplicates", async () => {
  const { manage, tokens } = await setupManage();
  const body = { credits: 1, kind: "manual" };
  for (let i = 0; i < 5; i++) await manage("POST", "customers/ada/credits", { body });
  const listed = (await manage("GET", "/manage/v1/audit?limit=200")).body["items"] as { id: string }[];
  const first = await manage("GET", EXPORT);
  expect([first.status, first.headers.get("content-type")]).toEqual([
    200,
    "application/x-ndjson; charset=utf-8",
  ]);
  const lines = first.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ action: "audit.exported" });
  expect(lines.slice(1).map(({ cursor: _, ...entry }) => entry)).toEqual(listed);
  const rest = await manage("GET", `${EXPORT}?cursor=${lines[3].cursor}`);
  expect(rest.text).toBe(
    lines
      .slice(4)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
  expect((await manage("GET", EXPORT, { token: tokens.operator })).status).toBe(403);
});

test("the audit entry for an export contains the export's filters but no customer ID", async () => {
  const { manage } = await setupManage();
  const filters =
    "projectId=1&environment=test&customerId=ada-lovelace&actor=member:3&action=api_key.&from=2026-01-01T00:00:00Z&collapseBulk=true";
  await manage("GET", `${EXPORT}?${filters}`);
  const [entry] = (await manage("GET", "/manage/v1/audit?action=audit.exported")).body["items"] as object[];
  expect(entry).toMatchObject({
    after: {
      projectId: "1",
      environment: "test",
      isOneCustomer: true,
      actor: "member:3",
      action: "api_key.",
      collapseBulk: true,
    },
  });
  expect(JSON.stringify(entry)).not.toContain("ada-lovelace");
});

test("an audit export contains only entries that match its filters", async () => {
  const { manage } = await setupManage();
  for (const customer of ["ada", "bob"]) {
    await manage("POST", `customers/${customer}/credits`, { body: { credits: 1, kind: "manual" } });
  }
  const read = async (query: string) => {
    const { status, text } = await manage("GET", `${EXPORT}?${query}`);
    return { status, customers: [...new Set(text.match(/(?<="customerId":")\w+/g))] };
  };
  const test = "projectId=1&environment=test";
  expect(await read(test)).toEqual({ status: 200, customers: ["bob", "ada"] });
  expect(await read(`${test}&customerId=ada`)).toEqual({ status: 200, customers: ["ada"] });
  expect(await read("projectId=1&environment=live")).toEqual({ status: 200, customers: [] });
  expect((await read("projectId=77&environment=live")).status).toBe(404);
});
