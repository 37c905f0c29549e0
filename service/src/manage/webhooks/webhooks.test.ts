import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";
import { expectDone, setupNotified, startReceiver } from "../../../test/webhooks.ts";
import { NOTICE_TYPES } from "../../entitlement/catalog.ts";

const URL_WITH_TOKEN = "https://hooks.example/purser?token=t0ps3cret";

type Created = { webhook: { id: string }; secret: string };

async function create({ manage }: Managed, body: object = {}): Promise<Created> {
  const reply = await manage("POST", "webhooks", { body: { url: URL_WITH_TOKEN, ...body } });
  return expectDone(reply) as unknown as Created;
}

const versionOf = async ({ database }: Managed): Promise<number> =>
  Number(
    (await database.query("select version from cell.catalogs order by environment_id limit 1"))[0]?.[
      "version"
    ],
  );

test("a webhook is created with a secret that no other response contains, then edited, rotated and deleted", async () => {
  const managed = await setupManage();
  const { manage, tokens } = managed;
  const { webhook, secret } = await create(managed);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toEqual({
    id: expect.stringMatching(/^\d+$/),
    url: URL_WITH_TOKEN,
    description: null,
    types: [...NOTICE_TYPES],
    enabled: true,
    createdAt: expect.any(String),
    disabledAt: null,
    disabledByFailures: false,
    failingSince: null,
  });
  const second = await create(managed, { description: "Second", types: ["plan.ended", "balance.low"] });
  expect(second.webhook).toMatchObject({ description: "Second", types: ["balance.low", "plan.ended"] });

  const first = await manage("GET", "webhooks?limit=1", { token: tokens.viewer });
  expect(first.body["items"]).toEqual([webhook]);
  const rest = await manage("GET", `webhooks?limit=1&cursor=${first.body["nextCursor"]}`);
  expect(rest.body).toEqual({ items: [second.webhook], nextCursor: null });

  const path = `webhooks/${webhook.id}`;
  const edited = await manage("PATCH", path, { body: { description: "First", enabled: false } });
  expect(edited.body).toMatchObject({ description: "First", enabled: false, disabledByFailures: false });
  const enabled = await manage("PATCH", path, { body: { description: null, enabled: true } });
  expect(enabled.body).toEqual(webhook);

  const rotated = await manage("POST", `${path}/rotate`, { body: { overlapSeconds: 60 } });
  expect(rotated.body).toEqual({ webhook, secret: expect.stringMatching(/^whsec_/) });
  expect(rotated.body["secret"]).not.toBe(secret);
  const all = first.text + rest.text + edited.text + enabled.text;
  expect(all).not.toMatch(/whsec_|secret"/);

  expect((await manage("DELETE", path)).body).toEqual({ outcome: "deleted" });
  expect((await manage("GET", "webhooks")).body["items"]).toEqual([second.webhook]);
  for (const [method, tail, body] of [
    ["DELETE", "", undefined],
    ["PATCH", "", { enabled: true }],
    ["POST", "/rotate", { overlapSeconds: 0 }],
    ["POST", "/test", undefined],
    ["POST", "/replay", { from: "2026-01-01T00:00:00Z" }],
    ["GET", "/deliveries", undefined],
  ] as const) {
    const reply = await manage(method, `${path}${tail}`, body === undefined ? {} : { body });
    expect([method, tail, reply.status]).toEqual([method, tail, 404]);
  }
});

test("the audit log shows every change of a webhook, without secrets and without the query of its URL", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const { webhook, secret } = await create(managed, { types: ["balance.low"] });
  const path = `webhooks/${webhook.id}`;
  await manage("PATCH", path, { body: { url: `${URL_WITH_TOKEN}2` } });
  await manage("PATCH", path, { body: { url: "https://other.example/", types: ["plan.ended"] } });
  const rotated = await manage("POST", `${path}/rotate`, { body: { overlapSeconds: 60 } });
  await manage("DELETE", path);
  const { body, text } = await manage("GET", "audit?action=webhook.");
  const before = {
    id: webhook.id,
    url: "https://hooks.example/purser",
    types: ["balance.low"],
    enabled: true,
  };
  const after = { ...before, url: "https://other.example/", types: ["plan.ended"] };
  expect(body["items"]).toMatchObject([
    { action: "webhook.deleted", subject: after.url, before: after, after: null },
    { action: "webhook.secret_rotated", before: after, after: { ...after, overlapSeconds: 60 } },
    { action: "webhook.changed", subject: after.url, before, after },
    { action: "webhook.changed", subject: before.url, before, after: { ...before, queryChanged: true } },
    { action: "webhook.created", subject: before.url, before: null, after: before },
  ]);
  const stored = await database.query("select a::text as row from cell.audit as a");
  for (const hidden of ["token=", "t0ps3cret", secret, rotated.body["secret"]])
    expect(text + JSON.stringify(stored)).not.toContain(hidden);
});

test("a change of a webhook cannot be undone", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const { webhook } = await create(managed);
  await manage("DELETE", `webhooks/${webhook.id}`);
  const { items } = (await manage("GET", "audit?action=webhook.")).body as { items: { id: string }[] };
  expect(items).toHaveLength(2);
  for (const { id } of items)
    expect((await manage("POST", `audit/${id}/undo`)).body).toMatchObject({ code: "not_undoable" });
});

test("an edit without changes does not increment the catalog version, and other edits do", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const before = await versionOf(managed);
  const { webhook } = await create(managed, { description: "D" });
  const path = `webhooks/${webhook.id}`;
  expect(await versionOf(managed)).toBe(before + 1);
  const same = { url: URL_WITH_TOKEN, description: "D", enabled: true, types: NOTICE_TYPES.toReversed() };
  for (const body of [{}, same]) {
    expect((await manage("PATCH", path, { body })).body).toEqual(webhook);
    expect(await versionOf(managed)).toBe(before + 1);
  }
  await manage("PATCH", path, { body: { types: ["balance.low"] } });
  await manage("PATCH", path, { body: { enabled: false } });
  await manage("DELETE", path);
  expect(await versionOf(managed)).toBe(before + 4);
});

test("an invalid webhook is rejected, and the error names the field", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const { webhook } = await create(managed);
  const rows = () => database.query("select * from cell.webhooks");
  const before = await rows();
  const refused: [object, string, string][] = [
    [{ url: "http://hooks.example/" }, "url", "must start with https://"],
    [{ url: "https://127.0.0.1/" }, "url", "must not contain a private or reserved address"],
    [{ url: "https://[::ffff:10.0.0.1]/" }, "url", "must not contain a private or reserved address"],
    [{ url: "https://localhost/" }, "url", "must have a public host name"],
    [{ url: "https://user:password@hooks.example/" }, "url", "must not contain a user name or password"],
    [{ url: "https://hooks.example:99999/" }, "url", "must be a valid URL"],
    [{ url: "" }, "url", "must not be empty"],
    [{ url: `https://hooks.example/${"x".repeat(2_000)}` }, "url", "must have at most 2000 characters"],
    [{ description: "" }, "description", "must not be empty"],
    [{ description: "x".repeat(256) }, "description", "must have at most 255 characters"],
    [{ types: [] }, "types", "must have at least 1 item"],
    [{ types: ["balance.low", "balance.low"] }, "types", expect.any(String)],
    [{ types: ["webhook.test"] }, "types.0", expect.any(String)],
    [{ types: Array(10).fill("balance.low") }, "types", "must have at most 9 items"],
    [{ secret: "whsec_mine" }, "secret", "is not a field of this request"],
  ];
  for (const [fields, field, message] of refused) {
    for (const [method, path, body] of [
      ["POST", "webhooks", { url: URL_WITH_TOKEN, ...fields }],
      ["PATCH", `webhooks/${webhook.id}`, fields],
    ] as const) {
      const reply = await manage(method, path, { body });
      expect([fields, reply.status]).toEqual([fields, 400]);
      expect(reply.body["errors"]).toContainEqual({ field, code: expect.any(String), message });
    }
  }
  for (const overlapSeconds of [-1, 604_801, 1.5])
    expect((await manage("POST", `webhooks/${webhook.id}/rotate`, { body: { overlapSeconds } })).status).toBe(
      400,
    );
  expect(await rows()).toEqual(before);
});

test("an installation can allow webhooks within its own network", async () => {
  const managed = await setupManage({ WEBHOOK_TARGETS: "any" });
  const { webhook } = await create(managed, { url: "http://billing.internal:8080/purser" });
  expect(webhook).toMatchObject({ url: "http://billing.internal:8080/purser" });
});

test("of 30 concurrent attempts to create webhooks, exactly 20 succeed, and a deleted webhook makes room", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const body = { url: URL_WITH_TOKEN };
  const replies = await Promise.all(times(30, () => manage("POST", "webhooks", { body })));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
  const refused = replies.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status, body }) => `${status} ${body["code"]}`))).toEqual(
    new Set(["422 too_many_webhooks"]),
  );
  expect(await database.count("cell.webhooks")).toBe(20);
  const [first] = (await manage("GET", "webhooks")).body["items"] as { id: string }[];
  await manage("PATCH", `webhooks/${first?.id}`, { body: { enabled: false } });
  expect((await manage("POST", "webhooks", { body })).status).toBe(422);
  await manage("DELETE", `webhooks/${first?.id}`);
  expect((await manage("POST", "webhooks", { body })).status).toBe(200);
});

test("concurrent edits of different fields are all kept", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const { webhook } = await create(managed);
  const edits = [{ description: "New" }, { types: ["plan.ended"] }, { enabled: false }];
  await Promise.all(edits.map((body) => manage("PATCH", `webhooks/${webhook.id}`, { body })));
  expect((await manage("GET", "webhooks")).body["items"]).toMatchObject([
    { description: "New", types: ["plan.ended"], enabled: false },
  ]);
});

test("no webhook can be created until the upgrade is finished", async () => {
  const { manage, database } = await setupManage();
  await database.query("update cell.identity set data_format = 1");
  const body = { url: URL_WITH_TOKEN };
  const reply = await manage("POST", "webhooks", { body });
  expect(reply).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  expect(await database.count("cell.webhooks")).toBe(0);
});

test("a change of the types applies to the next charge", async () => {
  const notified = await setupNotified();
  const { manage, consume, topUp } = notified;
  const charge = (quantity: number, idempotencyKey: string) =>
    consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey });
  await charge(10, "all");
  const id = await notified.listen(await startReceiver(), { types: ["plan.ended"] });
  /** Adds 60 credits and spends them. Returns the number of all notices. */
  const spend = async (idempotencyKey: string): Promise<number> => {
    await topUp("ada", 60);
    expect((await charge(6, idempotencyKey)).body).toMatchObject({ balance: 0 });
    return (expectDone(await manage("GET", "notices"))["items"] as unknown[]).length;
  };
  expect(await spend("other-type")).toBe(0);
  await manage("PATCH", `webhooks/${id}`, { body: { types: ["balance.low"] } });
  expect(await spend("this-type")).toBe(2);
  await manage("PATCH", `webhooks/${id}`, { body: { enabled: false } });
  expect(await spend("disabled")).toBe(2);
  await manage("PATCH", `webhooks/${id}`, { body: { enabled: true } });
  expect(await spend("enabled")).toBe(4);
  await manage("DELETE", `webhooks/${id}`);
  expect(await spend("deleted")).toBe(4);
});

test("after a rotation, deliveries are signed with both secrets until the overlap ends", async () => {
  const notified = await setupNotified();
  const { manage, database } = notified;
  const receiver = await startReceiver();
  const id = await notified.listen(receiver);
  const old = receiver.secret;
  const rotated = expectDone(
    await manage("POST", `webhooks/${id}/rotate`, { body: { overlapSeconds: 600 } }),
  );
  const deliverTo = async (secret: unknown): Promise<number> => {
    receiver.secret = String(secret);
    const count = receiver.received.length;
    expectDone(await manage("POST", `webhooks/${id}/test`));
    await expect.poll(() => receiver.received.length).toBe(count + 1);
    return receiver.forged.length;
  };
  expect(await deliverTo(old)).toBe(0);
  expect(await deliverTo(rotated["secret"])).toBe(0);
  await database.query("update cell.webhooks set previous_secret_until = now()");
  expect(await deliverTo(rotated["secret"])).toBe(0);
  expect(await deliverTo(old)).toBe(1);
});
