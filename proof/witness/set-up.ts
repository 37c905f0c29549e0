import { setTimeout as pause } from "node:timers/promises";
import type { Reply } from "./recorder.ts";
import { LIVE, type Scene, TEST, textIn } from "./scene.ts";

const OWNER = { email: "owner@example.com", name: "Olga Owner", password: "seven-green-kettles" };
const HOUR = 3_600_000;
/** Failed logins are written to the audit log after their response. */
const AUDIT_MS = 1_000;
/** Time until all processes reject a revoked API key. */
const REVOKED_MS = 5_000;

/** Creates everything that charges need: the first owner, members, tokens, a project, its keys and its catalog. */
export async function setUp(scene: Scene): Promise<void> {
  await createOwner(scene);
  await createTokens(scene);
  await managePeople(scene);
  await createKeys(scene);
  await editCatalog(scene);
}

async function createOwner(scene: Scene): Promise<void> {
  const { recorder, tokens } = scene;
  const { setupToken } = recorder.world;
  const ask = (body: object) => recorder.call("POST", "/manage/v1/setup", { body });
  await recorder.call("GET", "/manage/v1/setup");
  await ask({ ...OWNER, token: "pur_link_wrong" });
  await ask({ ...OWNER, token: setupToken, password: "Password1234!" });
  const owner = cookieOf(await ask({ ...OWNER, token: setupToken }));
  await ask({ ...OWNER, token: setupToken });
  await recorder.call("GET", "/manage/v1/session", { headers: owner });
  const body = { name: "Owner's", role: "owner", managesAccess: true };
  const foreign = { ...owner, origin: "https://elsewhere.example" };
  await recorder.call("POST", "/manage/v1/tokens", { headers: foreign, body });
  tokens.owner = textIn(
    (await recorder.call("POST", "/manage/v1/tokens", { headers: owner, body })).body,
    "secret",
  );
  // Logs out, because a timer writes the last use of a session, which determines its expiry.
  await recorder.call("DELETE", "/manage/v1/session", { headers: owner });
  await scene.manage("POST", "/manage/v1/projects", { name: "Main product" }).then(({ body }) => {
    scene.keys.test = textIn(body, "secrets", "test");
    scene.keys.live = textIn(body, "secrets", "live");
  });
  await scene.manage("PATCH", "/manage/v1/projects/1", { name: "Renamed product" });
  await scene.manage("POST", "/manage/v1/projects", { name: "Second product" });
  const limits = { metadataBytesMax: 2_000, metadataKeysMax: 10, metadataDepthMax: 3 };
  await scene.manage("PATCH", "/manage/v1/workspace", { name: "Acme", limits });
  await scene.manage("PATCH", "/manage/v1/workspace", { limits: { metadataDepthMax: 0 } });
}

async function createTokens(scene: Scene): Promise<void> {
  const create = (body: object) => scene.manage("POST", "/manage/v1/tokens", body);
  for (const role of ["operator", "viewer"] as const)
    scene.tokens[role] = textIn((await create({ name: `The ${role}'s`, role })).body, "secret");
  const narrow = { name: "One environment", role: "admin", projectId: "1", environment: "live" };
  scene.tokens.narrow = textIn((await create(narrow)).body, "secret");
  await create({ name: "Ended", role: "viewer", expiresAt: scene.at(-HOUR) });
  await create({ name: "Nowhere", role: "viewer", projectId: "99", environment: "live" });
  const short = { name: "Short", role: "admin", managesAccess: true, expiresAt: scene.at(6 * HOUR) };
  scene.tokens.short = textIn((await create(short)).body, "secret");
  const child = { name: "Child", role: "viewer" };
  await scene.manage("POST", "/manage/v1/tokens", child, { token: scene.tokens.short });
  const revoked = await create({ name: "To revoke", role: "admin", managesAccess: true });
  const token = textIn(revoked.body, "secret");
  for (let i = 0; i < 3; i++)
    await scene.manage("POST", "/manage/v1/tokens", { ...child, name: `Child ${i}` }, { token });
  await scene.manage("POST", `/manage/v1/tokens/${textIn(revoked.body, "token", "id")}/revoke`);
  await scene.manage("POST", `/manage/v1/tokens/${textIn(revoked.body, "token", "id")}/revoke`);
  await scene.manage("GET", "/manage/v1/session", undefined, { token });
}

async function managePeople(scene: Scene): Promise<void> {
  const { recorder } = scene;
  const invite = (name: string, role: string) =>
    scene.manage("POST", "/manage/v1/members", { email: `${name}@example.com`, name, role });
  const accept = (body: object) => recorder.call("POST", "/manage/v1/links", { body });
  const linkIn = ({ body }: Reply) => textIn(body, "link", "path").split("#")[1] ?? "";
  const ada = await invite("ada", "admin");
  const id = textIn(ada.body, "member", "id");
  await invite("ada", "viewer");
  const bob = await invite("bob", "operator");
  await accept({ token: linkIn(ada) });
  await accept({ token: linkIn(ada), password: "ada-has-a-long-one", name: "Ada L." });
  await accept({ token: linkIn(ada), password: "ada-has-a-long-one" });
  await accept({ token: "pur_link_unknown", password: "nobody-has-a-long-one" });

  const logIn = (email: string, password: string) =>
    recorder.call("POST", "/manage/v1/session", { body: { email, password } });
  for (const email of ["ada@example.com", "nobody@example.com"]) {
    await logIn(email, "a-wrong-one-entirely");
    await pause(AUDIT_MS);
  }
  const sessions = [];
  for (let i = 0; i < 4; i++) sessions.push(cookieOf(await logIn("ada@example.com", "ada-has-a-long-one")));
  const [first = {}, second = {}, third = {}] = sessions;
  const as = (headers: Record<string, string>, method: string, path: string, body?: unknown) =>
    recorder.call(method, `/manage/v1/${path}`, { headers, body });
  await as(first, "GET", "sessions");
  await as(first, "DELETE", "sessions/5");
  await as(first, "DELETE", "sessions/999");
  const next = "ada-has-another-long-one";
  await as(second, "POST", "session/password", { current: "a-wrong-one-entirely", new: next });
  await pause(AUDIT_MS);
  await as(first, "POST", "session/password", { current: "ada-has-a-long-one", new: next });
  await as(third, "GET", "session");
  await logIn("ada@example.com", next);
  await as(first, "DELETE", "sessions");
  await as(first, "DELETE", "session?everywhere=true");
  await as(first, "GET", "session");

  await scene.manage("PATCH", `/manage/v1/members/${id}`, { name: "Ada Lovelace", role: "operator" });
  await scene.manage("PATCH", "/manage/v1/members/999", { name: "Nobody" });
  await scene.manage("PATCH", "/manage/v1/members/1", { role: "viewer" });
  await scene.manage("GET", `/manage/v1/members/${id}/access`);
  const link = await scene.manage("POST", `/manage/v1/members/${id}/link`);
  await accept({ token: linkIn(link), password: "ada-has-a-third-long-one" });
  await scene.manage("DELETE", `/manage/v1/members/${textIn(bob.body, "member", "id")}`);
  await scene.manage("DELETE", "/manage/v1/members/1");
}

async function createKeys(scene: Scene): Promise<void> {
  const create = (body: object) => scene.manage("POST", "api-keys", body);
  const checks = await create({ name: "Checks alone", scopes: ["check"] });
  await create({ name: "None", scopes: [] });
  await create({ name: "Ended", scopes: ["check"], expiresAt: scene.at(-HOUR) });
  const ask = { customerId: "c-1", feature: "image.render", quantity: 1, idempotencyKey: "before-all" };
  const token = textIn(checks.body, "secret");
  await scene.run("check", ask, { token });
  await scene.run("consume", ask, { token });
  const id = textIn(checks.body, "apiKey", "id");
  const rotated = await scene.manage("POST", `api-keys/${id}/rotate`, { overlapSeconds: 3_600 });
  await scene.manage("POST", "api-keys/999/rotate", { overlapSeconds: 0 });
  await scene.manage("POST", `api-keys/${textIn(rotated.body, "apiKey", "id")}/revoke`);
  await scene.manage("POST", "api-keys/999/revoke");
  await scene.manage("POST", `api-keys/${id}/revoke`);
  await pause(REVOKED_MS);
  await scene.run("check", ask, { token });
  await scene.run("check", ask, { token: null });
  await scene.run("check", ask, { token: "pur_live_nonsense" });
  await scene.run("check", ask, { headers: { origin: "https://elsewhere.example" } });
}

const feature = (key: string, cost: object, more: object = {}): object => ({ key, name: key, cost, ...more });
const limited = (key: string, quantity: number, period: string): object => ({
  feature: key,
  limit: { quantity, period },
});

const CATALOG = {
  pools: ["credits", "video"].map((key) => ({ key, name: key })),
  features: [
    feature("image.render", { credits: 10 }, { unit: "image" }),
    feature("text.generate", { credits: 3, per: 1_000 }),
    feature("export", { credits: 0 }),
    feature("video.render", { credits: 50 }, { pool: "video" }),
    feature("beta.tool", { credits: 1 }),
  ],
  plans: [
    {
      key: "free",
      name: "Free",
      allowances: [{ credits: 40, period: "day" }],
      features: [limited("image.render", 3, "day"), limited("export", 2, "week")],
    },
    {
      key: "pro",
      name: "Pro",
      allowances: [
        { credits: 400, period: "month", rollover: 1, overage: 0 },
        { pool: "video", credits: 300, period: "week", rollover: 2, overage: 0 },
      ],
      features: [
        { feature: "image.render" },
        { feature: "text.generate" },
        limited("export", 4, "day"),
        limited("video.render", 10, "month"),
      ],
    },
    {
      key: "trial",
      name: "Trial",
      allowances: [{ credits: 120, period: "once" }],
      features: [{ feature: "image.render" }, limited("text.generate", 20_000, "once")],
    },
  ],
  eventKeys: [{ key: "tokens.generated", name: "Tokens", unit: "token" }],
  defaultPlan: null,
};

/** Applies a catalog to Test, promotes it to Live, and edits it there. */
async function editCatalog(scene: Scene): Promise<void> {
  const { manage: call } = scene;
  const document = { catalog: CATALOG, reach: "now" };
  await call("POST", `${TEST}/catalog/diff`, document);
  await call("POST", `${TEST}/catalog/apply`, { ...document, expectedVersion: 99 });
  await call("POST", `${TEST}/catalog/apply`, document);
  await call("POST", `${TEST}/catalog/apply`, { ...document, catalog: { ...CATALOG, defaultPlan: "none" } });
  await call("POST", "/manage/v1/projects/1/promote/diff", { reach: "now" });
  await call("POST", "/manage/v1/projects/1/promote", { reach: "now", expectedVersion: 99 });
  await call("POST", "/manage/v1/projects/1/promote", { reach: "now" });
  await call("GET", `${LIVE}/catalog`);

  await call("PUT", "pools/seats", { name: "Seats" });
  const audio = { name: "Audio", cost: { credits: 2 } };
  await call("PUT", "features/audio", audio);
  await call("PUT", "features/audio", { ...audio, name: "Sound" });
  await call("PUT", "features/audio", audio, { headers: { "if-match": '"other"' } });
  const etag = (await call("GET", "features/audio")).headers.get("etag") ?? "";
  await call("PUT", "features/audio", { ...audio, name: "Sound" }, { headers: { "if-match": etag } });
  await call("PUT", "features/audio2", { ...audio, pool: "none" });
  await call("POST", "features/audio/archive", { archived: true });
  await call("POST", "features/none/archive", {});
  await call("PUT", "event-keys/jobs.done", { name: "Jobs", unit: null });

  const draft = {
    name: "Team",
    allowances: [{ credits: 900, period: "year" }],
    features: [{ feature: "image.render" }],
  };
  await call("PUT", "plans/team/draft", { ...draft, features: [{ feature: "none" }] });
  await call("PUT", "plans/team/draft", draft);
  await call("PUT", "plans/team/draft", draft);
  await call("GET", "plans/team/diff");
  await call("POST", "plans/team/publish", { reach: "new_assignments", expectedVersion: 1 });
  await call("POST", "plans/team/publish", { reach: "new_assignments" });
  await call("POST", "plans/team/publish", { reach: "new_assignments" });
  await call("PUT", "plans/team/draft", { ...draft, name: "Teams" });
  await call("DELETE", "plans/team/draft");
  await call("DELETE", "plans/team/draft");
  await call("POST", "plans/team/archive", { archived: true });
  await call("POST", "plans/team/archive", { archived: false });
  await call("PUT", "default-plan", { plan: "none" });
  await call("PUT", "default-plan", { plan: "free" });
  await call("POST", "plans/free/archive", {});
  await call("PUT", "default-plan", { plan: null });
}

/** The cookies that a browser would send back. */
function cookieOf({ headers }: Reply): Record<string, string> {
  return {
    cookie: headers
      .getSetCookie()
      .map((cookie) => cookie.split(";", 1)[0])
      .join("; "),
  };
}
