import { expect, test } from "vitest";
import { createTestProject, post, type Reply } from "../../test/harness.ts";
import { addWorkspace, type Managed, send, setupManage } from "../../test/manage.ts";
import { OPERATIONS } from "../../test/operations.ts";
import { pathOf, plantRows, type Rows } from "../../test/planted-rows.ts";
import { createManagementToken } from "./people/management-tokens.ts";

/** Operations that create a missing row, or whose path names a month instead of a row. */
const MAKERS = [
  "readMonth",
  "putPool",
  "putFeature",
  "putEventKey",
  "putPlanDraft",
  "putCustomer",
  "assignPlan",
  "addCredits",
];

/** Operations with a row ID in their path. */
const WITH_ROWS = OPERATIONS.filter(
  ({ id, path }) =>
    /:/.test(path.replace(":projectId", "").replace(":environment", "")) && !MAKERS.includes(id),
);

/** The request body that each operation needs to reach its lookup. */
const BODIES: Readonly<Record<string, unknown>> = {
  changeMember: { name: "Mallory" },
  setAlerts: { pools: {} },
  renamePasskey: { name: "Mallory's key" },
  rotateApiKey: { overlapSeconds: 0 },
  archiveFeature: { archived: true },
  archivePlan: { archived: true },
  publishPlan: { reach: "now" },
  blockCustomer: { blocked: true },
  previewCredits: { credits: 1, kind: "manual" },
  moveGrant: { to: "bob" },
  previewMove: { to: "bob" },
  reverseConsume: {},
  previewReversal: {},
  updateWebhook: { enabled: false },
  rotateWebhookSecret: { overlapSeconds: 0 },
  replayWebhook: { from: "2026-01-01T00:00:00Z" },
};

const MISSING: Rows = {
  customers: "nobody-of-this-name",
  grants: "77",
  holds: "hld_01m7e9sv00000000000000000z",
  consumes: "con_01m7e9sv00000000000000000z",
  features: "no.such.feature",
  plans: "no.such.plan",
  "api-keys": "987654",
  keys: "no-such-key",
  denials: "den_01m7e9sv00000000000000000z",
  events: "evt_01m7e9sv00000000000000000z",
  members: "987654",
  passkeys: "987654",
  tokens: "987654",
  audit: "01998f3e-6a10-7c3d-9f25-3d1c5a7b9e00",
  webhooks: "987654",
  deliveries: "ntc_01m7e9sv00000000000000000z",
};

/** The response with IDs and times replaced, so that responses can be compared. */
function essenceOf({ status, text }: Reply, rows: Rows): string {
  let essence = text
    .replaceAll(/"requestId":"\w+"/g, '"requestId"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");
  for (const value of Object.values(rows)) essence = essence.replaceAll(`"${value}"`, '"row"');
  for (const value of Object.values(rows)) essence = essence.replaceAll(`\`${value}\``, "`row`");
  return `${status} ${essence}`;
}

async function expectAlike(
  managed: Managed,
  rows: Rows,
  scope: { projectId: number; environment: string; token: string },
  except: readonly string[] = [],
): Promise<void> {
  const foreign: string[] = [];
  const missing: string[] = [];
  for (const operation of WITH_ROWS) {
    const { id, method, body } = operation;
    if (except.includes(id)) continue;
    const ask = async (named: Rows): Promise<string> => {
      const url = `${managed.service.url}${pathOf(operation, scope, named)}`;
      const sent = body === undefined ? {} : { body: BODIES[id] ?? {} };
      return `${id}: ${essenceOf(await send(url, method, { token: scope.token, ...sent }), named)}`;
    };
    foreign.push(await ask(rows));
    missing.push(await ask(MISSING));
  }
  expect(foreign).toEqual(missing);
  // Two 400 responses would be equal even if no row was looked up.
  expect(missing.filter((line) => / 400 /.test(line))).toEqual([]);
}

test("a request for a row in the other environment gets the same response as for a missing row", async () => {
  const managed = await setupManage();
  const rows = await plantRows(managed);
  const { projectId } = managed.project;
  const scope = { projectId, environment: "live", token: managed.tokens.owner };
  // Skips `readKey`. Keys belong to the project, so it reports that the other environment used the key.
  await expectAlike(managed, rows, scope, ["readKey", ...OF_THE_WORKSPACE]);
});

test("a token for one environment sees nothing of the other environment, not even which keys it used", async () => {
  const managed = await setupManage();
  const { cell, service, project } = managed;
  const rows = await plantRows(managed);
  const { projectId, live } = project;
  const actor = { kind: "system", id: null, requestId: null } as const;
  const environment = { projectId, environmentId: live.environmentId };
  const input = { workspaceId: 1, name: "live", role: "admin", environment, expiresAt: null } as const;
  const { secret: token } = await createManagementToken(cell, actor, input);
  const scope = { projectId, environment: "live", token };
  await expectAlike(managed, rows, scope, OF_THE_WORKSPACE);

  const base = `${service.url}/manage/v1/projects/${projectId}/live`;
  const found = await send(`${base}/search?q=planted-charge`, "GET", { token });
  expect(found.status).toBe(200);
  expect(Object.values(found.body).flat()).toEqual([]);
  // After this environment uses the same key, only that use is shown.
  const event = { customerId: "bob", event: "planted", quantity: 1, idempotencyKey: "planted-charge" };
  expect((await post(`${service.url}/v1/events`, live.key.secret, event)).status).toBe(409);
  const readKey = () => send(`${base}/keys/planted-charge`, "GET", { token });
  await expect.poll(async () => (await readKey()).status).toBe(200);
  const { body, text } = await readKey();
  expect(body).toMatchObject({ state: "not_kept", uses: [{ status: 409, refused: { differs: [] } }] });
  expect(text).not.toContain("environment");
  // The request log hides the key too, because the key belongs to the other environment.
  const { body: log } = await send(`${base}/requests`, "GET", { token });
  expect(log["items"]).toMatchObject([{ status: 409, idempotencyKey: null }]);
  for (const path of ["", "/test/customers", "/test/keys/planted-charge", "/test/search?q=planted-charge"]) {
    const url = `${service.url}/manage/v1/projects/${projectId}${path}`;
    expect((await send(url, "GET", { token })).status).toBe(404);
  }
});

const OF_THE_WORKSPACE = WITH_ROWS.filter(({ path }) => !path.includes(":environment")).map(({ id }) => id);

test("a request for a row in another project gets the same response as for a missing row", async () => {
  const managed = await setupManage();
  const rows = await plantRows(managed);
  const { projectId } = await createTestProject(managed.database, "Another product");
  const scope = { projectId, environment: "test", token: managed.tokens.owner };
  await expectAlike(managed, rows, scope, OF_THE_WORKSPACE);
});

test("a request for a row in another workspace gets the same response as for a missing row", async () => {
  const managed = await setupManage();
  const { cell } = managed;
  const rows = await plantRows(managed);
  const workspaceId = await addWorkspace(managed.database, "Another company");
  const actor = { kind: "system", id: null, requestId: null } as const;
  const input = { workspaceId, name: "theirs", role: "owner", environment: null, expiresAt: null } as const;
  const { secret: token } = await createManagementToken(cell, actor, input);
  const scope = { projectId: managed.project.projectId, environment: "test", token };
  await expectAlike(managed, rows, scope);
});

test("changes in Live do not affect features, plans and customers with the same key or ID in Test", async () => {
  const { manage, project } = await setupManage();
  const read = async () => [
    (await manage("GET", "catalog")).body["plans"],
    (await manage("GET", "catalog")).body["features"],
    (await manage("GET", "customers/ada")).body,
  ];
  const before = await read();
  const live = `/manage/v1/projects/${project.projectId}/live`;
  const feature = { name: "Other", cost: { credits: 7, per: 1 } };
  const draft = { name: "Other", allowances: [], features: [{ feature: "image.render", limit: null }] };
  const put = async (method: string, path: string, body: unknown): Promise<void> => {
    expect((await manage(method, `${live}/${path}`, { body })).status).toBe(200);
  };
  await put("PUT", "features/image.render", feature);
  await put("PUT", "plans/pro/draft", draft);
  await put("POST", "plans/pro/publish", { reach: "now" });
  await put("PUT", "customers/ada", { name: "Somebody else" });
  await put("POST", "customers/ada/plan", { plan: "pro" });
  await put("POST", "customers/ada/credits", { credits: 5, kind: "manual" });
  await put("PUT", "customers/ada/block", { blocked: true });
  expect(await read()).toEqual(before);
});
