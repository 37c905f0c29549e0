import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import type { Reply } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { rounds } from "../../../test/rounds.ts";
import { times } from "../../../test/two-services.ts";

type Answer = { count: number; status: number; isReplay: boolean; body: Record<string, unknown> };

const RENDER = { endpoint: "consume", customerId: "ada", feature: "image.render", times: 32 };

async function attempt(managed: Managed, body: object): Promise<{ answers: Answer[]; charged: unknown }> {
  const reply = await managed.manage("POST", "tries", { body, token: managed.tokens.operator });
  expect(reply.status, reply.text).toBe(200);
  return { answers: reply.body["answers"] as Answer[], charged: reply.body["charged"] };
}

const brief = ({ count, status, isReplay, body }: Answer) => [count, status, isReplay, body["code"] ?? null];

test("32 concurrent requests with the same key result in one charge and 31 replays", async () => {
  const managed = await setupManage();
  const { consume, database } = managed;
  const { answers, charged } = await attempt(managed, { ...RENDER, idempotencyKey: "k" });
  expect(answers.map(brief)).toEqual([
    [1, 200, false, null],
    [31, 200, true, null],
  ]);
  expect(charged).toBe(10);
  expect(answers[0]?.body).toMatchObject({ allowed: true, balance: 90, creditsCharged: 10 });
  expect(await database.count("cell.ledger", "kind = 2")).toBe(1);
  // The key and payload are the same, so a backend that sends them now gets the same response.
  const backend = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k" });
  expect(backend.headers.get("idempotent-replayed")).toBe("true");
  expect(answers.map(({ body }) => body)).toEqual([backend.body, backend.body]);
});

test("if test requests and a backend use the same key concurrently, exactly one request is charged", async () => {
  const managed = await setupManage();
  const { consume, topUp, database } = managed;
  await topUp("ada", 10_000);
  for (const round of rounds(5)) {
    const request = { customerId: "ada", feature: "image.render", idempotencyKey: `round-${round}` };
    const [tried, backend] = await Promise.all([
      Promise.all(times(4, () => attempt(managed, { ...RENDER, ...request }))),
      Promise.all(times(8, () => consume(request))),
    ]);
    const all: [number, boolean][] = [
      ...tried.flatMap(({ answers }) => answers.map((one): [number, boolean] => [one.count, one.isReplay])),
      ...backend.map((reply): [number, boolean] => [1, reply.headers.has("idempotent-replayed")]),
    ];
    const countOf = (isReplay: boolean) =>
      all.reduce((sum, [count, replayed]) => (replayed === isReplay ? sum + count : sum), 0);
    expect([countOf(false), countOf(true)]).toEqual([1, 4 * 32 + 8 - 1]);
    expect(await database.count("cell.ledger", "kind = 2")).toBe(round + 1);
  }
  await expectSoundBooks(database);
});

test("a runtime error is returned as a response and charges nothing", async () => {
  const managed = await setupManage();
  const { consume, database } = managed;
  const of = async (body: object): Promise<unknown[]> => {
    const { answers, charged } = await attempt(managed, { ...RENDER, times: 5, ...body });
    return [...answers.map(brief), charged];
  };
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "used" });
  const { answers } = await attempt(managed, { ...RENDER, quantity: 2, idempotencyKey: "used" });
  const conflict = await consume({
    customerId: "ada",
    feature: "image.render",
    quantity: 2,
    idempotencyKey: "used",
  });
  expect(answers).toEqual([
    {
      count: 32,
      status: 409,
      isReplay: false,
      body: { ...conflict.body, requestId: expect.stringMatching(/^req_/) },
    },
  ]);
  expect(await of({ feature: "image.rendr", idempotencyKey: "a" })).toEqual([
    [5, 404, false, "feature_not_found"],
    0,
  ]);
  expect(await of({ quantity: 1_000, idempotencyKey: "b" })).toEqual([
    [1, 200, false, null],
    [4, 200, true, null],
    0,
  ]);
  expect(await of({ customerId: "nobody", idempotencyKey: "c" })).toEqual([[5, 200, false, null], 0]);
  expect(await database.count("cell.ledger", "kind = 2")).toBe(1);
  await database.query("update cell.wallets set state = '{}'");
  expect(await of({ idempotencyKey: "d" })).toEqual([[5, 500, false, "internal_error"], 0]);
});

test("a check changes nothing and returns the same response as a check from a backend", async () => {
  const managed = await setupManage();
  const { check, database } = managed;
  const { answers, charged } = await attempt(managed, { ...RENDER, endpoint: "check", idempotencyKey: "k" });
  const backend = await check({ customerId: "ada", feature: "image.render" });
  expect(answers).toEqual([{ count: 32, status: 200, isReplay: false, body: backend.body }]);
  expect(charged).toBe(0);
  expect(await database.count("cell.keyed_requests")).toBe(0);
  expect(await database.count("cell.ledger", "kind = 2")).toBe(0);
});

test("invalid fields are rejected as in the runtime API, and nothing is sent or audited", async () => {
  const { manage, database } = await setupManage();
  const refused = async (body: object): Promise<Reply> => manage("POST", "tries", { body });
  const good = { ...RENDER, idempotencyKey: "k" };
  for (const [field, value] of [
    ["quantity", 0],
    ["quantity", 1_000_001],
    ["quantity", "1"],
    ["customerId", ""],
    ["customerId", "x".repeat(256)],
    ["customerId", "\u0000"],
    ["feature", "x".repeat(121)],
    ["idempotencyKey", "with space"],
    ["idempotencyKey", undefined],
    ["times", 0],
    ["times", 51],
    ["endpoint", "events"],
    ["metadata", {}],
  ] as const) {
    const { status, body } = await refused({ ...good, [field]: value });
    expect({ field, value, status, body }).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  }
  expect(await database.count("cell.keyed_requests")).toBe(0);
  expect(await database.count("cell.audit", "action = 'request.tried'")).toBe(0);
});

test("test requests in Live are rejected for every role", async () => {
  const { manage, project, database } = await setupManage();
  const path = `/manage/v1/projects/${project.projectId}/live/tries`;
  const { status, body } = await manage("POST", path, { body: { ...RENDER, idempotencyKey: "k" } });
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: "invalid_request", errors: [{ field: "environment" }] });
  expect(await database.count("cell.keyed_requests")).toBe(0);
  expect(await database.count("cell.audit", "action = 'request.tried'")).toBe(0);
});

test("test requests are audited once, and each is logged with the call's ID", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const body = { ...RENDER, times: 3, idempotencyKey: "k" };
  const { headers } = await manage("POST", "tries", { body });
  const requestId = headers.get("x-request-id");
  await expect.poll(() => database.count("cell.request_log")).toBe(3);
  const logged = (await manage("GET", "requests")).body["items"] as Record<string, unknown>[];
  expect(logged.map(({ isReplay }) => isReplay).sort()).toEqual([false, true, true]);
  for (const item of logged)
    expect(item).toMatchObject({
      requestId,
      endpoint: "consume",
      customerId: "ada",
      feature: "image.render",
      idempotencyKey: "k",
      status: 200,
    });
  const audit = (await manage("GET", "audit?action=request.tried")).body["items"];
  expect(audit).toEqual([
    expect.objectContaining({
      requestId,
      customerId: "ada",
      subject: "image.render",
      after: { endpoint: "consume", quantity: 1, times: 3 },
    }),
  ]);
});
