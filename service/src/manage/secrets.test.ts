import { expect, test } from "vitest";
import { createDatabase, createTestProject, type Reply, type TestDatabase } from "../../test/harness.ts";
import { cookieOf, send } from "../../test/manage.ts";
import { type Served, servePurser } from "../../test/purser.ts";

const EMAIL = "owner@example.com";
const PASSWORD = "planted-password-of-the-owner";

/** The service with the most verbose log level. */
const serve = ({ serviceUrl }: TestDatabase): Promise<Served> =>
  servePurser(serviceUrl, {
    LOG_LEVEL: "trace",
    INIT_OWNER_EMAIL: EMAIL,
    INIT_OWNER_PASSWORD: PASSWORD,
  });

/** Reads all rows of the tables that store requests or changes, as text. */
async function readRecords(database: TestDatabase): Promise<string> {
  const tables = ["control.audit", "cell.audit", "cell.request_log"];
  const rows: unknown[] = [];
  for (const table of tables)
    rows.push(...(await database.query(`select t::text as row from ${table} as t`)));
  return JSON.stringify(rows);
}

test("no password, key, token, link or cookie appears in a log, an error or an audit row", async () => {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const { url, output } = await serve(database);
  const secrets = new Set([PASSWORD, "planted-wrong-password", project.test.key.secret]);
  const refusals: string[] = [];
  const call = async (
    method: string,
    path: string,
    options: Parameters<typeof send>[2] = {},
  ): Promise<Reply> => {
    const reply = await send(`${url}${path}`, method, options);
    if (reply.status >= 400) refusals.push(reply.text);
    return reply;
  };
  const keep = (value: unknown): string => {
    expect(typeof value).toBe("string");
    secrets.add(String(value));
    return String(value);
  };

  await call("POST", "/manage/v1/session", { body: { email: EMAIL, password: "planted-wrong-password" } });
  const session = await call("POST", "/manage/v1/session", { body: { email: EMAIL, password: PASSWORD } });
  const headers = cookieOf(session, url);
  keep(headers["cookie"]?.split("=")[1]);
  const here = `/manage/v1/projects/${project.projectId}/test`;
  const token = await call("POST", "/manage/v1/tokens", {
    headers,
    body: { name: "automation", role: "admin" },
  });
  keep(token.body["secret"]);
  const key = await call("POST", `${here}/api-keys`, { headers, body: { name: "key", scopes: ["check"] } });
  keep(key.body["secret"]);
  const apiKey = key.body["apiKey"] as { id: string };
  const rotated = await call("POST", `${here}/api-keys/${apiKey.id}/rotate`, {
    headers,
    body: { overlapSeconds: 60 },
  });
  keep(rotated.body["secret"]);
  const member = { email: "ada@example.com", name: "Ada", role: "viewer" };
  const invitation = await call("POST", "/manage/v1/members", { headers, body: member });
  const link = invitation.body["link"] as { path: string };
  const linkToken = keep(link.path.split("#")[1]);
  keep("planted-password-of-ada");
  await call("POST", "/manage/v1/links", { body: { token: linkToken, password: "planted-password-of-ada" } });

  // Typical mistakes by callers: a secret in a field that may be returned, logged or stored.
  await call("POST", "/manage/v1/links", { body: { token: linkToken, password: "planted-password-of-ada" } });
  await call("POST", "/manage/v1/session", { body: { email: PASSWORD, password: 1, planted: PASSWORD } });
  await call("POST", "/manage/v1/session", { body: `{"password":"${PASSWORD}",` });
  await call("GET", `${here}/customers?token=${token.body["secret"]}`, { headers });
  await call("GET", `/manage/v1/session/${token.body["secret"]}`, { headers });
  await call("GET", "/manage/v1/session", { token: project.test.key.secret });
  await call("POST", "/v1/check", { token: String(token.body["secret"]), body: {} });
  await call("PUT", `${here}/customers/c`, { headers, body: { password: PASSWORD } });
  expect(refusals).toHaveLength(9);

  await new Promise((resolve) => setTimeout(resolve, 1_500)); // the request log is written once a second
  const records = await readRecords(database);
  expect(records).toContain("member.signed_in");
  const found = [...secrets].filter((secret) =>
    [output(), records, ...refusals].some((text) => text.includes(secret)),
  );
  expect(found).toEqual([]);
  const kept = JSON.stringify(await database.query("select t::text from control.members as t"));
  expect([...secrets].filter((secret) => kept.includes(secret))).toEqual([]);
});
