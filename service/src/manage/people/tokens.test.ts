import { expect, test } from "vitest";
import { addWorkspace, type Managed, setupManage } from "../../../test/manage.ts";
import { transaction } from "../../postgres/transaction.ts";
import { listDescendantTokens, revokeManagementTokens } from "../../store/control/management-tokens.ts";
import { createManagementToken } from "./management-tokens.ts";

const TOKENS = "/manage/v1/tokens";

type Created = { token: { id: string; lastFour: string }; secret: string };

const create = async ({ manage }: Managed, body: object, token?: string) =>
  manage("POST", TOKENS, { body: { name: "Webhooks", ...body }, ...(token === undefined ? {} : { token }) });

test("a token for one environment works only there, and its secret is shown once", async () => {
  const managed = await setupManage();
  const { manage, project, here } = managed;
  const where = { projectId: String(project.projectId), environment: "test" };
  const reply = await create(managed, { role: "operator", ...where });
  expect(reply.body["token"]).toMatchObject({ name: "Webhooks", role: "operator", ...where, isValid: true });
  const { secret, token } = reply.body as unknown as Created;
  expect(secret).toMatch(/^pur_mgmt_\w{38}$/);
  const statusOf = async (path: string) => (await manage("GET", path, { token: secret })).status;
  expect(await statusOf(`${here}/customers`)).toBe(200);
  expect(await statusOf(here.replace("test", "live/customers"))).toBe(404);
  expect(await statusOf("/manage/v1/members")).toBe(403);
  const projects = await manage("GET", "/manage/v1/projects", { token: secret });
  expect(projects.body["items"]).toMatchObject([{ environments: [{ environment: "test" }] }]);
  const list = await manage("GET", TOKENS);
  const [newest] = list.body["items"] as object[];
  expect(newest).toMatchObject({ id: token.id, lastFour: secret.slice(-4), lastUsedAt: expect.any(String) });
  expect(list.text).not.toContain(secret);
});

test("a revoked token is rejected at its next call, and revoking it again changes nothing", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const { token, secret } = (await create(managed, { role: "viewer" })).body as unknown as Created;
  expect((await manage("GET", TOKENS, { token: secret })).status).toBe(200);
  const revoke = () => manage("POST", `${TOKENS}/${token.id}/revoke`);
  const first = await revoke();
  expect(first.body).toMatchObject({ isValid: false, revokedAt: expect.any(String) });
  expect((await manage("GET", TOKENS, { token: secret })).status).toBe(401);
  expect((await revoke()).body).toEqual(first.body);
  expect(await database.count("control.audit", "action = 'token.revoked'")).toBe(1);
});

test("a caller cannot create or revoke a token with a role above their own", async () => {
  const managed = await setupManage();
  const { manage, tokens } = managed;
  const above = await create(managed, { role: "owner" }, tokens.admin);
  expect([above.status, above.body["code"]]).toEqual([403, "role_missing"]);
  const { token } = (await create(managed, { role: "owner" })).body as unknown as Created;
  const revoke = await manage("POST", `${TOKENS}/${token.id}/revoke`, { token: tokens.admin });
  expect([revoke.status, revoke.body["code"]]).toEqual([403, "role_missing"]);
  expect((await create(managed, { role: "admin" }, tokens.admin)).status).toBe(200);
});

test("creating a token with an incomplete or unknown environment or a past expiry is rejected", async () => {
  const managed = await setupManage();
  const { project, database } = managed;
  const projectId = String(project.projectId);
  const role = "viewer";
  const count = await database.count("control.management_tokens");
  const refused: [object, number, string][] = [
    [{ role, projectId }, 400, "invalid_request"],
    [{ role, environment: "test" }, 400, "invalid_request"],
    [{ role, projectId: "99", environment: "test" }, 404, "not_found"],
    [{ role, projectId: "nonsense", environment: "test" }, 404, "not_found"],
    [{ role, projectId, environment: "staging" }, 400, "invalid_request"],
    [{ role: "king" }, 400, "invalid_request"],
    [{ role, expiresAt: "2026-01-01T00:00:00" }, 400, "invalid_request"],
    [{ role, expiresAt: "2020-01-01T00:00:00Z" }, 422, "ends_in_the_past"],
    [{ role, name: "" }, 400, "invalid_request"],
    [{ role, secret: "mine" }, 400, "invalid_request"],
  ];
  for (const [body, status, code] of refused) {
    const reply = await create(managed, body);
    expect([body, reply.status, reply.body["code"]]).toEqual([body, status, code]);
  }
  expect(await database.count("control.management_tokens")).toBe(count);
});

test("a token stops working when it expires", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const expiresAt = "2099-01-01T00:00:00.000Z";
  const { token, secret } = (await create(managed, { role: "viewer", expiresAt })).body as unknown as Created;
  expect(token).toMatchObject({ expiresAt });
  expect((await manage("GET", TOKENS, { token: secret })).status).toBe(200);
  await database.query("update control.management_tokens set expires_at = now() where id = $1", [token.id]);
  expect((await manage("GET", TOKENS, { token: secret })).status).toBe(401);
});

test("a token from another workspace is neither listed nor found", async () => {
  const { manage, cell, database } = await setupManage();
  const workspaceId = await addWorkspace(database, "Elsewhere");
  const actor = { kind: "system", id: null, requestId: null } as const;
  const input = { workspaceId, name: "Foreign", role: "viewer", environment: null, expiresAt: null } as const;
  const { id } = await createManagementToken(cell, actor, input);
  expect((await manage("GET", TOKENS)).text).not.toContain("Foreign");
  const [there, missing] = [
    await manage("POST", `${TOKENS}/${id}/revoke`),
    await manage("POST", `${TOKENS}/99999/revoke`),
  ];
  expect({ ...there.body, requestId: "" }).toEqual({ ...missing.body, requestId: "" });
  expect(there.status).toBe(404);
});

test("no statement lists or revokes a token of another workspace", async () => {
  const managed = await setupManage();
  const { cell, database } = managed;
  const workspaceId = await addWorkspace(database, "Elsewhere");
  const made = await create(managed, { role: "admin", managesAccess: true });
  const { token, secret } = made.body as unknown as Created;
  const child = (await create(managed, { role: "viewer" }, secret)).body as unknown as Created;
  const [id, childId] = [Number(token.id), Number(child.token.id)];
  const found = await transaction(cell, async (tx) => [
    await listDescendantTokens(tx, { workspaceId, id }),
    await revokeManagementTokens(tx, { workspaceId, ids: [id, childId] }),
    (await listDescendantTokens(tx, { workspaceId: 1, id })).map((one) => one.id),
  ]);
  expect(found).toEqual([[], [], [childId]]);
});
