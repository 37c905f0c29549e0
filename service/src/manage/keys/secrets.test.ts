import { expect, test } from "vitest";
import { cookieOf, setupManage } from "../../../test/manage.ts";
import { join, logIn, tokenOf } from "../../../test/members.ts";
import { OWNER } from "../../../test/seed.ts";

test("tables store only hashes of secrets", async () => {
  const managed = await setupManage();
  const { manage, database, service, project, tokens } = managed;
  const secretOf = (body: Record<string, unknown>): string => String(body["secret"]);
  const ada = await join(managed, "admin", "ada");
  const cookie = cookieOf(await logIn(managed, ada.email, ada.password), service.url)["cookie"] ?? "";
  const link = await manage("POST", `/manage/v1/members/${ada.id}/link`);
  const key = await manage("POST", "api-keys", { body: { name: "K", scopes: ["check"] } });
  const { id } = key.body["apiKey"] as { id: string };
  const rotated = await manage("POST", `api-keys/${id}/rotate`, { body: { overlapSeconds: 60 } });
  await manage("POST", `api-keys/${id}/revoke`);
  const token = await manage("POST", "/manage/v1/tokens", { body: { name: "T", role: "viewer" } });
  const made = await manage("POST", "/manage/v1/projects", { body: { name: "P" } });
  const secrets = [
    OWNER.password,
    ada.password,
    cookie.split("=")[1] ?? "",
    tokenOf(link),
    secretOf(key.body),
    secretOf(rotated.body),
    secretOf(token.body),
    ...Object.values(made.body["secrets"] as Record<string, string>),
    ...Object.values(tokens),
    project.test.key.secret,
  ];
  for (const secret of secrets) expect(secret.length).toBeGreaterThan(10);

  const tables = await database.query(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('control', 'cell')",
  );
  expect(tables.length).toBeGreaterThan(15);
  for (const { name } of tables) {
    const rows = await database.query(`select t::text as row from ${name} as t`);
    const text = rows.map(({ row }) => row).join("\n");
    const hex = (secret: string): string => Buffer.from(secret).toString("hex");
    const found = secrets.filter((secret) => text.includes(secret) || text.includes(hex(secret)));
    expect([name, found]).toEqual([name, []]);
  }
  // Confirms that this search finds values that are stored.
  const audit = await database.query("select a::text as row from control.audit as a");
  const lastFour = secretOf(rotated.body).slice(-4);
  expect(audit.some(({ row }) => String(row).includes(lastFour))).toBe(true);
});
