import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, onTestFinished, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { COMPILE_CACHE } from "../../../test/purser.ts";
import { manageOperations } from "../../manage/operations.ts";
import { placeholderParts } from "../placeholder-parts.ts";
import { toTools } from "./tools.ts";

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

/** Starts `purser mcp` as a client would, and returns a client that is connected to it. */
async function connect(
  { service, tokens }: Managed,
  role: keyof Managed["tokens"],
  args: readonly string[] = [],
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, "mcp", "--project", "1", ...args],
      env: { ...COMPILE_CACHE, PURSER_URL: service.url, PURSER_TOKEN: tokens[role] },
    }),
  );
  return client;
}

type Result = { readonly isError: boolean; readonly text: string };

async function call(client: Client, name: string, input: Record<string, unknown>): Promise<Result> {
  const { isError, content } = await client.callTool({ name, arguments: input });
  const [{ text } = { text: "" }] = content as { text: string }[];
  return { isError: isError === true, text };
}

async function read(client: Client, name: string, input: Record<string, unknown>): Promise<Row> {
  const { isError, text } = await call(client, name, input);
  expect([isError, text]).toEqual([false, text]);
  return JSON.parse(text);
}

type Row = Record<string, unknown>;
type Rows = { readonly items: readonly Row[] };

test("a model finds out why a customer was denied, and can cite the charges in the ledger", async () => {
  const managed = await setupManage();
  const render = (idempotencyKey: string, quantity: number) =>
    managed.consume({ customerId: "ada", feature: "image.render", idempotencyKey, quantity });
  await managed.topUp("ada", 7);
  const charged = await render("first", 9);
  const denied = await render("second", 5);
  expect([charged.body["allowed"], denied.body["allowed"]]).toEqual([true, false]);

  const client = await connect(managed, "viewer");
  const { messages } = await client.getPrompt({ name: "why-denied", arguments: { customerId: "ada" } });
  expect(JSON.stringify(messages)).toContain("listDenials");
  const { items } = (await read(client, "listDenials", { customerId: "ada", limit: 1 })) as Rows;
  const denialId = items[0]?.["denialId"];
  const explained = await read(client, "explainDenial", { denialId });
  expect(explained["sentences"]).toEqual(
    expect.arrayContaining([expect.stringMatching(/^The request needed 50 credits/)]),
  );
  const { items: entries } = (await read(client, "listLedger", { customerId: "ada" })) as Rows;
  const inLedger = entries.filter(({ kind }) => kind === "consume").map((entry) => entry["consumeId"]);
  expect(inLedger).toEqual([charged.body["consumeId"]]);
  expect(JSON.stringify(explained)).toContain(String(inLedger[0]));
});

test("without --write, the tools are read-only, and a call to another operation fails", async () => {
  const managed = await setupManage();
  const client = await connect(managed, "owner");
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(30);
  expect(JSON.stringify(tools)).not.toContain("percent-encoded");
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  const credits = { customerId: "ada", body: { kind: "manual", credits: 5 } };
  expect(await call(client, "addCredits", credits)).toEqual({
    isError: true,
    text: 'There is no tool "addCredits". Tools that change data are available only with --write.',
  });
  expect(await managed.database.count("cell.grants", "kind = 3")).toBe(0);
});

test("with --write, a call changes data only if the token's role allows it", async () => {
  const managed = await setupManage();
  const credits = { customerId: "ada", body: { kind: "manual", credits: 5 } };
  const viewer = await connect(managed, "viewer", ["--write"]);
  const refused = await call(viewer, "addCredits", credits);
  expect([refused.isError, JSON.parse(refused.text)]).toMatchObject([true, { code: "role_missing" }]);
  const operator = await connect(managed, "operator", ["--write"]);
  await read(operator, "addCredits", credits);
  expect(await managed.database.count("cell.grants", "kind = 3 and credits = 5")).toBe(1);
  const [entry] = ((await managed.manage("GET", "audit")).body as Rows).items;
  expect(entry).toMatchObject({ action: "credits.added", actor: { kind: "token" } });
});

test("a tool call passes on customer IDs with special characters, and headers", async () => {
  const managed = await setupManage();
  const customerId = "a/b?c#d é";
  const client = await connect(managed, "admin", ["--write"]);
  await read(client, "putCustomer", { customerId, body: { name: "Odd" } });
  expect(await read(client, "readCustomer", { customerId })).toMatchObject({ customerId, name: "Odd" });
  const feature = { key: "image.render", body: { name: "Image", cost: { credits: 10 } } };
  const stale = await call(client, "putFeature", { ...feature, "if-match": '"stale"' });
  expect([stale.isError, JSON.parse(stale.text)]).toMatchObject([true, { status: 412 }]);
});

test("arguments that the service would not see, or that lead to another path, are rejected", async () => {
  const managed = await setupManage();
  await managed.manage("PUT", "customers/plan", { body: { name: "Named like a path" } });
  const client = await connect(managed, "admin", ["--write"]);
  const refused = async (name: string, input: Record<string, unknown>, text: string) =>
    expect(await call(client, name, input)).toEqual({ isError: true, text: expect.stringContaining(text) });
  // `DELETE customers/./plan` would erase the customer "plan".
  await refused("endPlan", { customerId: "." }, "cannot be sent");
  await refused("endPlan", { customerId: ".." }, "cannot be sent");
  await refused("endPlan", { customerId: "" }, "missing");
  await refused("endPlan", {}, "missing");
  await refused("readCustomer", { customerId: 2 ** 53 }, "cannot be sent");
  await refused("readCustomer", { customerId: "\ud800" }, "cannot be sent");
  await refused(
    "endPlan",
    { customerId: "ada", as_of: "2026-09-01T00:00:00Z" },
    "no argument `as_of`. Known: customerId",
  );
  await refused("addCredits", { customerId: { a: 1 }, body: { kind: "manual", credits: 5 } }, "must be text");
  await refused("listLedger", { customerId: "ada", limit: null }, "must be text");
  await refused("putFeature", { key: "x", "if-match": "a\r\nb: c", body: {} }, "cannot be sent");
  expect(await managed.database.count("cell.customers", "erased_at is not null")).toBe(0);
});

test("no tool returns an API key or a secret of a webhook, and only operations that change nothing are marked read-only", () => {
  const tools = toTools(manageOperations(placeholderParts()), { writes: true });
  const names = tools.map(({ name }) => name);
  expect(names).toContain("listApiKeys");
  expect(
    names.filter((name) =>
      /createApiKey|rotateApiKey|createWebhook|rotateWebhook|^export|^import/.test(name),
    ),
  ).toEqual(["exportCatalog"]);
  const reading = tools.filter(({ annotations }) => annotations.readOnlyHint);
  expect(
    reading
      .map(({ name }) => name)
      .filter((name) => /^(put|add|end|erase|assign|revoke|set|undo)/.test(name)),
  ).toEqual([]);
});
