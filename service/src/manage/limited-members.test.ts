import { expect, test } from "vitest";
import { createTestProject, post, type Reply } from "../../test/harness.ts";
import { nameSeeds, setupManage } from "../../test/manage.ts";
import { type JoinedMember, join, type WantedRole } from "../../test/members.ts";
import { OPERATIONS } from "../../test/operations.ts";
import { pathOf, plantRows } from "../../test/planted-rows.ts";
import { OWNER } from "../../test/seed.ts";

/**
 * The only operations that answer a member without a role in the scope. They return the member's own data, or filter by role. An
 * operation that is not listed must return 404 or 403.
 */
const ANSWERED = [
  "readSetup",
  "setUp",
  "logIn",
  "readSession",
  "logOut",
  "changePassword",
  "acceptLink",
  "listSessions",
  "endOtherSessions",
  "endSession",
  "listPasskeys",
  "startPasskey",
  "addPasskey",
  "renamePasskey",
  "deletePasskey",
  "createRecoveryCodes",
  "logInWithSecondFactor",
  "setUpSecondFactor",
  "readSignOn",
  "startSignOn",
  "finishSignOn",
  "readOwnSignOn",
  "connectSignOn",
  "disconnectSignOn",
  "readWorkspace",
  "listProjects",
  "search",
];

/** Sets up a project with rows of every kind in Test, a second project, and members with roles only in projects. */
async function setup() {
  const managed = await setupManage();
  await nameSeeds(managed);
  await managed.manage("PATCH", `/manage/v1/projects/${managed.project.projectId}`, {
    body: { name: "Secret product" },
  });
  const rows = await plantRows(managed);
  const other = await createTestProject(managed.database, "Another product");
  const joinWith = (name: string, ...roles: WantedRole[]) => join(managed, null, name, roles);
  const id = String(managed.project.projectId);
  return { managed, rows, other: String(other.projectId), here: id, joinWith };
}

/** Texts that must not appear in any response: names, IDs and keys of the project's test environment, and other people. */
const SECRETS = ["Secret product", "Ada Films", "Product image", "planted", OWNER.email, OWNER.name];

const itemsOf = ({ body }: Reply): Record<string, unknown>[] => body["items"] as Record<string, unknown>[];

test("no operation returns data of a project or environment in which a member has no role", async () => {
  const { managed, rows, other, here, joinWith } = await setup();
  const ofOther = await joinWith("olga", { projectId: other, environment: null, role: "admin" });
  const ofLive = await joinWith("liam", { projectId: here, environment: "live", role: "admin" });
  const scope = { projectId: managed.project.projectId, environment: "test" };
  const refusals: string[] = [];
  for (const operation of OPERATIONS.filter(({ id }) => !ANSWERED.includes(id))) {
    for (const member of [ofOther, ofLive]) {
      const body = operation.body === undefined ? [] : [{}];
      const reply = await member.call(operation.method, pathOf(operation, scope, rows), ...body);
      for (const secret of SECRETS) expect(reply.text).not.toContain(secret);
      refusals.push(`${operation.id}: ${reply.status} ${reply.body["code"]}`);
    }
  }
  const isScoped = (id: string) =>
    OPERATIONS.some((operation) => operation.id === id && operation.path.includes(":projectId"));
  const expected = OPERATIONS.filter(({ id }) => !ANSWERED.includes(id)).flatMap(({ id }) => {
    const refusal = `${id}: ${isScoped(id) ? "404 not_found" : "403 role_missing"}`;
    return [refusal, refusal];
  });
  expect(refusals).toEqual(expected);
});

test("the operations that answer every member are open to all, or need a role anywhere", () => {
  const open = OPERATIONS.filter(({ access }) => typeof access === "string" || access.in === "anywhere");
  expect(open.map(({ id }) => id).sort()).toEqual([...ANSWERED].sort());
});

test("a member sees only the projects and environments of their roles, and finds only what is in them", async () => {
  const { managed, rows, other, here, joinWith } = await setup();
  const ofOther = await joinWith("olga", { projectId: other, environment: null, role: "viewer" });
  const ofLive = await joinWith("liam", { projectId: here, environment: "live", role: "viewer" });
  const ofTest = await joinWith("tess", { projectId: here, environment: "test", role: "viewer" });
  const listProjects = async ({ call }: JoinedMember) => itemsOf(await call("GET", "/manage/v1/projects"));
  expect(await listProjects(ofOther)).toMatchObject([
    { id: other, name: "Another product", environments: [{ environment: "test" }, { environment: "live" }] },
  ]);
  expect(await listProjects(ofLive)).toMatchObject([{ id: here, environments: [{ environment: "live" }] }]);
  expect((await listProjects(ofLive))[0]?.["environments"]).toHaveLength(1);
  for (const text of [...Object.values(rows), "Ada Films", "Product image", "planted-charge"]) {
    const path = `/manage/v1/search?q=${encodeURIComponent(text)}`;
    for (const { call } of [ofOther, ofLive]) {
      const { status, body } = await call("GET", path);
      expect([status, Object.values(body).flat()]).toEqual([200, []]);
    }
  }
  const found = (await ofTest.call("GET", "/manage/v1/search?q=Ada")).body;
  expect(found["customers"]).toMatchObject([{ customerId: "ada", environment: "test" }]);
  const { body: workspace } = await ofOther.call("GET", "/manage/v1/workspace");
  expect(Object.keys(workspace).sort()).toEqual(["id", "limits", "name", "secondFactor", "version"]);
  const scoped = await managed.manage("GET", "/manage/v1/projects");
  expect(itemsOf(scoped)).toHaveLength(2);
});

test("only a role in both environments shows that the other environment used an idempotency key", async () => {
  const { managed, here, joinWith } = await setup();
  const ofLive = await joinWith("liam", { projectId: here, environment: "live", role: "viewer" });
  const ofBoth = await joinWith("beth", { projectId: here, environment: null, role: "viewer" });
  const event = { customerId: "bob", event: "e", quantity: 1, idempotencyKey: "planted-charge" };
  const { service, project } = managed;
  expect((await post(`${service.url}/v1/events`, project.live.key.secret, event)).status).toBe(409);
  const path = `/manage/v1/projects/${here}/live/keys/planted-charge`;
  await expect.poll(async () => (await ofLive.call("GET", path)).status).toBe(200);
  expect((await ofLive.call("GET", path)).body["state"]).toBe("not_kept");
  expect((await ofBoth.call("GET", path)).body["state"]).toBe("other_environment");
});

test("a test request does not show that Live has a feature", async () => {
  const { managed, here, joinWith } = await setup();
  const ofTest = await joinWith("tess", { projectId: here, environment: "test", role: "operator" });
  const feature = { name: "Secret feature", cost: { credits: 1, per: 1 } };
  const live = `/manage/v1/projects/${here}/live/features/secret.feature`;
  expect((await managed.manage("PUT", live, { body: feature })).status).toBe(200);
  const detailOf = async (feature: string) => {
    const body = { endpoint: "check", customerId: "ada", feature, times: 1, idempotencyKey: "k" };
    const reply = await ofTest.call("POST", `/manage/v1/projects/${here}/test/tries`, body);
    const [answer] = reply.body["answers"] as { body: Record<string, unknown> }[];
    return String(answer?.body["detail"]).replace(feature, "feature");
  };
  expect(await detailOf("secret.feature")).toBe(await detailOf("no.such.feature"));
});

test("a member reads the audit log of their own environment, without entries of others or of the workspace", async () => {
  const { managed, here, joinWith } = await setup();
  const ofLive = await joinWith("liam", { projectId: here, environment: "live", role: "admin" });
  const key = { name: "Live backend", scopes: ["check"] };
  expect((await ofLive.call("POST", `/manage/v1/projects/${here}/live/api-keys`, key)).status).toBe(200);
  const entries = itemsOf(await ofLive.call("GET", `/manage/v1/projects/${here}/live/audit`));
  expect(entries).toMatchObject([
    { action: "api_key.created", subject: "Live backend", environment: "live", actor: { name: "liam" } },
    { action: "api_key.created", environment: "live" },
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/member\.|ada|Olga/);
  // The owner's log has the entries of both environments and the workspace.
  const all = itemsOf(await managed.manage("GET", "/manage/v1/audit?limit=200"));
  expect(all.length).toBeGreaterThan(entries.length + 5);
});
