import { expect, test } from "vitest";
import { EXPORTED, read, setupExport } from "../../../test/exports.ts";
import { DAY_MS } from "../../../test/wind-back.ts";

test("a file resumed within a day still includes rows that have left the history window", async () => {
  const managed = await setupExport();
  const { database, manage } = managed;
  const setDays = (days: number | null) =>
    database.query("update control.workspace_plans set history_days_max = $1", [days]);
  await setDays(3_000);
  for (const kind of EXPORTED) {
    const { headers, text } = await manage("GET", `exports/${kind}?format=csv`);
    const whole = text.trimEnd().split("\n").slice(1);
    const [first = ""] = whole;
    // Simulates a file that started earlier, whose window therefore starts earlier too.
    const earlier = (ms: number): string => {
      const values = JSON.parse(Buffer.from(first.slice(first.lastIndexOf(",") + 1), "base64url").toString());
      values[2] = String(values[2] - ms);
      return Buffer.from(JSON.stringify(values)).toString("base64url");
    };
    const hour = await manage("GET", `exports/${kind}?format=csv&cursor=${earlier(3_600_000)}`);
    expect(hour.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=absent");
    const moved =
      Date.parse(String(headers.get("purser-window-start"))) -
      Date.parse(String(hour.headers.get("purser-window-start")));
    expect(moved).toBe(3_600_000);
    expect(hour.text.trimEnd().split("\n").filter(Boolean)).toHaveLength(whole.length - 1);
    const { status, body } = await manage("GET", `exports/${kind}?cursor=${earlier(25 * 3_600_000)}`);
    expect([status, body["detail"]]).toEqual([400, expect.stringContaining("start a new one")]);
    // A cursor from a time when there was no history window.
    const values = JSON.parse(Buffer.from(earlier(0), "base64url").toString()).with(2, "none");
    const unlimited = Buffer.from(JSON.stringify(values)).toString("base64url");
    expect((await manage("GET", `exports/${kind}?cursor=${unlimited}`)).status).toBe(400);
    await setDays(null);
    expect((await manage("GET", `exports/${kind}?cursor=${earlier(25 * 3_600_000)}`)).status).toBe(200);
    await setDays(3_000);
  }
});

test("an export resumed after an hour still includes events that left the history window in that hour", async () => {
  const managed = await setupExport();
  const { database, manage } = managed;
  await database.query("update control.workspace_plans set history_days_max = 3000");
  await database.query(`insert into cell.events (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id)
    select e.recorded_at, gen_random_uuid(), now() - 3000 * interval '24 hours' - interval '30 minutes', e.customer_number, e.environment_id, 1, 'left', ''
    from cell.events as e limit 1`);
  const [first] = await read(managed, "events?format=ndjson");
  const values = JSON.parse(Buffer.from(String(first?.["cursor"]), "base64url").toString());
  /** Resumes after a first row that is older than all others. */
  const rest = (ms: number) => {
    const cursor = JSON.stringify(values.with(2, String(values[2] - ms)).with(3, 0));
    return read(managed, `events?format=ndjson&cursor=${Buffer.from(cursor).toString("base64url")}`);
  };
  expect((await rest(0)).map(({ event }) => event)).not.toContain("left");
  expect((await rest(3_600_000)).map(({ event }) => event)).toContain("left");
  await database.query("update control.workspace_plans set history_days_max = 36500");
  const [one] = await read(managed, "events?format=ndjson");
  expect((await manage("GET", `exports/events?cursor=${one?.["cursor"]}`)).status).toBe(200);
});

test("an export to a slow reader is cut off when its history window is a day old", async () => {
  const managed = await setupExport();
  const { database, service, here, tokens } = managed;
  await database.query("update control.workspace_plans set history_days_max = 3000");
  const [first] = await read(managed, "events?format=ndjson");
  // Inserts more rows than the socket buffers can hold.
  await database.query(`insert into cell.events (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id, metadata)
    select t.at, gen_random_uuid(), t.at, 1, ${managed.project.test.environmentId}, 1, 'many', '', jsonb_build_object('text', repeat('x', 8000))
    from (select date_trunc('milliseconds', now()) as at) as t, generate_series(1, 5000)`);
  const values = JSON.parse(Buffer.from(String(first?.["cursor"]), "base64url").toString());
  /** Resumes a file that started `ms` ago, and pauses before reading it. */
  const readSlowly = async (ms: number): Promise<Response> => {
    const window = Date.now() - 3_000 * DAY_MS - ms;
    const forged = [Date.now(), `${Date.now()}-${2 ** 40}`, String(window), 0, values[4], values[5]];
    const cursor = Buffer.from(JSON.stringify(forged)).toString("base64url");
    const url = `${service.url}${here}/exports/events?format=ndjson&cursor=${cursor}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${tokens.owner}` } });
    expect(response.status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    return response;
  };
  const inTime = await readSlowly(3_600_000);
  expect((await inTime.arrayBuffer()).byteLength).toBeGreaterThan(40_000_000);
  const tooLate = await readSlowly(DAY_MS - 2_000);
  const end = await tooLate.arrayBuffer().then(
    () => "whole",
    () => "cut off",
  );
  expect(end).toBe("cut off");
}, 60_000);
