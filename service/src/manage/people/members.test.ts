import { expect, test } from "vitest";
import { connectTo } from "../../../test/harness.ts";
import { addWorkspace, cookieOf, send, setupManage } from "../../../test/manage.ts";
import { callerWith, join, logIn, memberIdOf, tokenOf } from "../../../test/members.ts";
import { OWNER } from "../../../test/seed.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertMember } from "../../store/control/members.ts";

const MEMBERS = "/manage/v1/members";

test("an invited member is listed and can log in after accepting", async () => {
  const managed = await setupManage();
  const { manage, tokens, service } = managed;
  const body = { email: "Ada@Example.com", name: "Ada", role: "operator" };
  const invited = await manage("POST", MEMBERS, { body });
  expect(invited.body).toMatchObject({
    member: { email: "ada@example.com", name: "Ada", role: "operator", status: "invited" },
    link: { path: expect.stringMatching(/^\/join#pur_link_\w{38}$/) },
  });
  const again = await manage("POST", MEMBERS, { body });
  expect([again.status, again.body["code"]]).toEqual([409, "already_exists"]);
  const accept = { token: tokenOf(invited), password: "ada-has-a-long-password", name: "Ada Lovelace" };
  const accepted = await send(`${service.url}/manage/v1/links`, "POST", { body: accept });
  expect(accepted.body).toMatchObject({ kind: "member", name: "Ada Lovelace", role: "operator" });
  const list = await manage("GET", `${MEMBERS}?limit=1`, { token: tokens.viewer });
  expect(list.body["items"]).toMatchObject([{ email: OWNER.email, status: "active", role: "owner" }]);
  const rest = await manage("GET", `${MEMBERS}?limit=1&cursor=${list.body["nextCursor"]}`);
  expect(rest.body).toMatchObject({
    items: [{ email: "ada@example.com", name: "Ada Lovelace", status: "active" }],
    nextCursor: null,
  });
});

test("a caller cannot grant a role above their own, or change, remove or create links for a member with such a role", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const admin = await join(managed, "admin", "adam");
  const owner = await join(managed, "owner", "olivia");
  const operator = await join(managed, "operator", "opal");
  const refused = [
    await admin.call("POST", MEMBERS, { email: "x@example.com", name: "X", role: "owner" }),
    await admin.call("PATCH", `${MEMBERS}/${owner.id}`, { role: "viewer" }),
    await admin.call("PATCH", `${MEMBERS}/${owner.id}`, { name: "Not Olivia" }),
    await admin.call("PATCH", `${MEMBERS}/${admin.id}`, { role: "owner" }),
    await admin.call("DELETE", `${MEMBERS}/${owner.id}`),
    await admin.call("POST", `${MEMBERS}/${owner.id}/link`),
    await operator.call("POST", MEMBERS, { email: "x@example.com", name: "X", role: "viewer" }),
    await operator.call("DELETE", `${MEMBERS}/${operator.id}`),
  ];
  expect(refused.map(({ status, body }) => [status, body["code"]])).toEqual(
    refused.map(() => [403, "role_missing"]),
  );
  const promoted = await admin.call("PATCH", `${MEMBERS}/${operator.id}`, { role: "admin" });
  expect(promoted.body).toMatchObject({ role: "admin", status: "active" });
  const made = await owner.call("PATCH", `${MEMBERS}/${admin.id}`, { role: "owner", name: "Adam II" });
  expect(made.body).toMatchObject({ role: "owner", name: "Adam II" });
  const list = await manage("GET", MEMBERS);
  expect((list.body["items"] as { role: string }[]).map(({ role }) => role)).toEqual([
    "owner",
    "owner",
    "owner",
    "admin",
  ]);
});

test("a demoted member loses the old role at the next call and the next login", async () => {
  const managed = await setupManage();
  const admin = await join(managed, "admin", "adam");
  const invite = (email: string) => admin.call("POST", MEMBERS, { email, name: "X", role: "viewer" });
  expect((await invite("a@example.com")).status).toBe(200);
  await managed.manage("PATCH", `${MEMBERS}/${admin.id}`, { body: { role: "viewer" } });
  expect((await invite("b@example.com")).status).toBe(401);
  const again = await logIn(managed, admin.email, admin.password);
  const call = callerWith(cookieOf(again, managed.service.url), managed.service.url);
  const body = { email: "b@example.com", name: "X", role: "viewer" };
  expect((await call("POST", MEMBERS, body)).status).toBe(403);
});

test("the last owner cannot be removed or demoted, even if another owner is invited", async () => {
  const managed = await setupManage();
  const { manage, service } = managed;
  const [first] = (await manage("GET", MEMBERS)).body["items"] as [{ id: string }];
  const body = { email: "next@example.com", name: "Next", role: "owner" };
  const invited = await manage("POST", MEMBERS, { body });
  const attempts = async () => [
    await manage("DELETE", `${MEMBERS}/${first.id}`),
    await manage("PATCH", `${MEMBERS}/${first.id}`, { body: { role: "admin" } }),
  ];
  for (const { status, body } of await attempts()) {
    expect([status, body["code"]]).toEqual([409, "last_owner"]);
  }
  const accept = { token: tokenOf(invited), password: "next-has-a-long-password" };
  await send(`${service.url}/manage/v1/links`, "POST", { body: accept });
  expect((await manage("DELETE", `${MEMBERS}/${first.id}`)).status).toBe(200);
  const next = await manage("DELETE", `${MEMBERS}/${memberIdOf(invited)}`);
  expect(next.body["code"]).toBe("last_owner");
});

test("when owners remove and demote each other concurrently, one owner remains", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  for (const round of [1, 2, 3]) {
    const owners = await Promise.all(
      ["a", "b", "c", "d"].map((name) => join(managed, "owner", `${name}${round}`)),
    );
    const others = (await manage("GET", MEMBERS)).body["items"] as { id: string }[];
    const ids = others.map(({ id }) => id);
    // Each owner removes or demotes all members, including themselves, in a different order.
    const replies = await Promise.all(
      owners.flatMap((owner, i) =>
        [...ids.slice(i), ...ids.slice(0, i)].map((id, j) =>
          j % 2 === 0
            ? owner.call("DELETE", `${MEMBERS}/${id}`)
            : owner.call("PATCH", `${MEMBERS}/${id}`, { role: "viewer" }),
        ),
      ),
    );
    for (const { status, text } of replies) expect([200, 401, 403, 404, 409], text).toContain(status);
    expect(await database.count("control.members", "role = 'owner' and removed_at is null")).toBe(1);
  }
});

test("if a caller is removed during a request, the request changes nothing", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const admin = await join(managed, "admin", "adam");
  const remover = await connectTo(database);
  await remover.query("begin");
  await remover.query("select from control.workspaces for update");
  await remover.query("update control.members set removed_at = now() where id = $1", [admin.id]);
  const inviting = admin.call("POST", MEMBERS, {
    email: "friend@example.com",
    name: "Friend",
    role: "admin",
  });
  const isWaiting =
    "datname = current_database() and wait_event_type = 'Lock' and query like '/* members.lock_workspaces */%'";
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(1);
  await remover.query("commit");
  const { status, body } = await inviting;
  expect([status, body["code"]]).toEqual([401, "sign_in_required"]);
  expect(await database.count("control.members", "email = 'friend@example.com'")).toBe(0);
});

test("a member of another workspace is not found", async () => {
  const { manage, cell, database } = await setupManage();
  const workspaceId = await addWorkspace(database, "Elsewhere");
  const foreign = await transaction(cell, async (tx) => {
    const member = {
      workspaceId,
      email: "f@example.com",
      name: "F",
      role: "viewer",
      passwordHash: null,
    } as const;
    return insertMember(tx, member);
  });
  const answers = async (id: number | string) => [
    await manage("PATCH", `${MEMBERS}/${id}`, { body: { name: "Mine" } }),
    await manage("DELETE", `${MEMBERS}/${id}`),
    await manage("POST", `${MEMBERS}/${id}/link`),
  ];
  const [there, missing, nonsense] = [await answers(foreign), await answers(99_999), await answers("abc")];
  const plain = (replies: typeof there) => replies.map(({ body }) => ({ ...body, requestId: "" }));
  expect(plain(there)).toEqual(plain(missing));
  expect(plain(nonsense)).toEqual(plain(missing));
  expect(there.map(({ status }) => status)).toEqual([404, 404, 404]);
});

test("every change to a member is audited once, with the old and new values", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const ada = await join(managed, "viewer", "ada");
  for (let i = 0; i < 3; i++) await manage("PATCH", `${MEMBERS}/${ada.id}`, { body: { role: "operator" } });
  await manage("POST", `${MEMBERS}/${ada.id}/link`);
  await manage("DELETE", `${MEMBERS}/${ada.id}`);
  const rows = await database.query(
    "select action, subject, actor_kind, before, after from control.audit where subject = $1 order by id",
    [ada.email],
  );
  const member = { id: ada.id, email: ada.email, name: "ada", role: "viewer" };
  expect(rows).toEqual([
    { action: "member.invited", subject: ada.email, actor_kind: "token", before: null, after: member },
    expect.objectContaining({ action: expect.stringMatching(/joined|signed_in/), actor_kind: "member" }),
    expect.objectContaining({ action: expect.stringMatching(/joined|signed_in/), actor_kind: "member" }),
    expect.objectContaining({
      action: "member.changed",
      before: member,
      after: { ...member, role: "operator" },
    }),
    expect.objectContaining({ action: "member.password_link_made" }),
    expect.objectContaining({
      action: "member.removed",
      before: { ...member, role: "operator" },
      after: null,
    }),
  ]);
});
