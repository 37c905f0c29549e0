import { expect, test } from "vitest";
import { post } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

type Created = { apiKey: { id: string; expiresAt: string | null }; secret: string };

const CHECK = { customerId: "ada", feature: "image.render" };
const ALL = ["check", "consume", "events"];

const checkWith = ({ service }: Managed, secret: string) => post(`${service.url}/v1/check`, secret, CHECK);

async function create({ manage }: Managed, body: object): Promise<Created> {
  const reply = await manage("POST", "api-keys", { body: { name: "Backend", scopes: ALL, ...body } });
  expect(reply.status).toBe(200);
  return reply.body as unknown as Created;
}

test("a new API key works immediately within its scopes, and its secret is shown only once", async () => {
  const managed = await setupManage();
  const { manage, service, tokens } = managed;
  const { apiKey, secret } = await create(managed, { scopes: ["check"] });
  expect(secret).toMatch(/^pur_test_\w{38}$/);
  expect((await checkWith(managed, secret)).body).toMatchObject({ allowed: true });
  const event = { customerId: "ada", event: "tokens", quantity: 1 };
  expect((await post(`${service.url}/v1/events`, secret, event)).body["code"]).toBe("scope_missing");
  const list = await manage("GET", "api-keys?limit=1", { token: tokens.viewer });
  expect(list.body["items"]).toMatchObject([
    { id: apiKey.id, name: "Backend", lastFour: secret.slice(-4), scopes: ["check"], isValid: true },
  ]);
  const rest = await manage("GET", `api-keys?limit=1&cursor=${list.body["nextCursor"]}`);
  expect(rest.body).toMatchObject({ items: [{ name: "Test key" }], nextCursor: null });
  expect(list.text + rest.text).not.toContain(secret);
});

test("creating an API key with invalid fields is rejected", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const count = await database.count("control.api_keys");
  const refused: [object, number, string][] = [
    [{ name: "K", scopes: [] }, 400, "invalid_request"],
    [{ name: "K", scopes: ["check", "check"] }, 400, "invalid_request"],
    [{ name: "K", scopes: ["admin"] }, 400, "invalid_request"],
    [{ name: "K" }, 400, "invalid_request"],
    [{ name: "", scopes: ALL }, 400, "invalid_request"],
    [{ name: "K", scopes: ALL, expiresAt: "tomorrow" }, 400, "invalid_request"],
    [{ name: "K", scopes: ALL, expiresAt: "2020-01-01T00:00:00Z" }, 422, "ends_in_the_past"],
    [{ name: "K", scopes: ALL, secret: "pur_test_mine" }, 400, "invalid_request"],
  ];
  for (const [body, status, code] of refused) {
    const reply = await manage("POST", "api-keys", { body });
    expect([body, reply.status, reply.body["code"]]).toEqual([body, status, code]);
  }
  expect(await database.count("control.api_keys")).toBe(count);
});

test("both API keys work during the overlap of a rotation, and only the new key works afterward", {
  timeout: 30_000,
}, async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const old = await create(managed, {});
  expect((await checkWith(managed, old.secret)).status).toBe(200);
  const body = { overlapSeconds: 6 };
  const startedAtMs = performance.now();
  const rotated = await manage("POST", `api-keys/${old.apiKey.id}/rotate`, { body });
  expect(rotated.body).toMatchObject({
    apiKey: { name: "Backend", scopes: ALL, expiresAt: null, isValid: true },
    replaced: { id: old.apiKey.id, expiresAt: expect.any(String), revokedAt: null, isValid: true },
  });
  const { secret } = rotated.body as unknown as Created;
  // Uses both keys continuously, as a backend does while it switches keys.
  const seen: [number, number, number][] = [];
  while (performance.now() - startedAtMs < 11_500) {
    const elapsedMs = performance.now() - startedAtMs;
    const [before, after] = [await checkWith(managed, old.secret), await checkWith(managed, secret)];
    seen.push([elapsedMs, before.status, after.status]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(seen.filter(([, , after]) => after !== 200)).toEqual([]);
  const duringOverlap = seen.filter(([elapsedMs]) => elapsedMs < 5_500);
  expect(duringOverlap.length).toBeGreaterThan(10);
  expect(duringOverlap.filter(([, before]) => before !== 200)).toEqual([]);
  const afterward = seen.filter(([elapsedMs]) => elapsedMs > 11_000);
  expect(afterward.length).toBeGreaterThan(0);
  expect(afterward.filter(([, before]) => before !== 401)).toEqual([]);
  const again = await manage("POST", `api-keys/${old.apiKey.id}/rotate`, { body });
  expect([again.status, again.body["code"]]).toEqual([404, "not_found"]);
  expect(await database.count("control.audit", "action = 'api_key.rotated'")).toBe(1);
});

test("rotation never extends the expiry of the old API key, and the overlap is limited", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const { apiKey } = await create(managed, { expiresAt });
  const rotate = (body: object) => manage("POST", `api-keys/${apiKey.id}/rotate`, { body });
  for (const overlapSeconds of [-1, 604_801, 1.5, "60"])
    expect((await rotate({ overlapSeconds })).status).toBe(400);
  expect((await rotate({ overlapSeconds: 1, expiresAt: "2020-01-01T00:00:00Z" })).status).toBe(422);
  const { body } = await rotate({ overlapSeconds: 604_800, expiresAt: "2098-01-01T00:00:00Z" });
  expect(body).toMatchObject({
    apiKey: { expiresAt: "2098-01-01T00:00:00.000Z" },
    replaced: { id: apiKey.id, expiresAt },
  });
});

test("a revoked API key is rejected within 5 seconds, and revoking it again changes nothing", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const { apiKey, secret } = await create(managed, {});
  expect((await checkWith(managed, secret)).status).toBe(200);
  const revoke = () => manage("POST", `api-keys/${apiKey.id}/revoke`);
  const revoked = await revoke();
  expect(revoked.body).toMatchObject({ isValid: false, revokedAt: expect.any(String) });
  await expect
    .poll(async () => (await checkWith(managed, secret)).status, { timeout: 5_000, interval: 100 })
    .toBe(401);
  expect((await revoke()).body["revokedAt"]).toBe(revoked.body["revokedAt"]);
  expect(await database.count("control.audit", "action = 'api_key.revoked'")).toBe(1);
  const rotated = await manage("POST", `api-keys/${apiKey.id}/rotate`, { body: { overlapSeconds: 60 } });
  expect(rotated.status).toBe(404);
});

test("an API key from another environment is not found", async () => {
  const { manage, project } = await setupManage();
  const answers = async (id: number | string) => [
    await manage("POST", `api-keys/${id}/rotate`, { body: { overlapSeconds: 0 } }),
    await manage("POST", `api-keys/${id}/revoke`),
  ];
  const plain = (replies: Awaited<ReturnType<typeof answers>>) =>
    replies.map(({ status, body }) => [status, { ...body, requestId: "" }]);
  const missing = plain(await answers(99_999));
  expect(missing.map(([status]) => status)).toEqual([404, 404]);
  expect(plain(await answers(project.live.key.id))).toEqual(missing);
  expect(plain(await answers("nonsense"))).toEqual(missing);
});
