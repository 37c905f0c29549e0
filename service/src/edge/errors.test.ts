import { expect, test } from "vitest";
import { setup } from "../../test/harness.ts";
import { PROBLEMS } from "./problem.ts";

const UNDEFINED_PATHS = [
  "/nowhere",
  "/v1",
  "/v1/",
  "/v1/events/",
  "/V1/events",
  "/v1/events/evt_1",
  "/v2/events",
  "/../etc",
];

test.each(UNDEFINED_PATHS)("the unknown path %s returns a 404 problem", async (path) => {
  const { service } = await setup();
  for (const method of ["GET", "POST"]) {
    const reply = await fetch(service.url + path, { method });
    expect(reply.status).toBe(404);
    expect(reply.headers.get("content-type")).toMatch("application/problem+json");
    expect(await reply.json()).toEqual({
      type: "/docs/errors/not_found",
      title: "Not found",
      status: 404,
      detail: expect.any(String),
      code: "not_found",
      requestId: reply.headers.get("x-request-id"),
    });
  }
});

test.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])(
  "%s gets 405 and the allowed method",
  async (method) => {
    const { service } = await setup();
    for (const query of ["", "?x=1"]) {
      const reply = await fetch(`${service.url}/v1/events${query}`, { method });
      expect([reply.status, reply.headers.get("allow")]).toEqual([405, "POST"]);
      expect(await reply.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
    }
  },
);

test("HEAD on a POST endpoint returns 405 without a body", async () => {
  const { service } = await setup();
  const reply = await fetch(`${service.url}/v1/events`, { method: "HEAD" });
  expect([reply.status, reply.headers.get("allow"), await reply.text()]).toEqual([405, "POST", ""]);
});

test.each(["/v1/%zz", "/%c0%af", "/v1/events%"])(
  "the malformed path %s returns a 4xx problem",
  async (path) => {
    const { service } = await setup();
    const reply = await fetch(service.url + path, { method: "POST" });
    expect(reply.status).toBeLessThan(500);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.headers.get("content-type")).toMatch("application/problem+json");
    expect(reply.headers.get("x-request-id")).not.toBeNull();
  },
);

test("with PUBLIC_URL every problem type is an absolute URL, even for a URL that cannot be decoded", async () => {
  const { service } = await setup({ PUBLIC_URL: "https://purser.example.com/" });
  for (const [path, code] of [
    ["/nowhere", "not_found"],
    ["/v1/events", "method_not_allowed"],
    ["/manage/v1/projects", "sign_in_required"],
    ["/v1/%zz", "invalid_request"],
  ]) {
    const problem = await (await fetch(service.url + path)).json();
    expect(problem).toMatchObject({ code, type: `https://purser.example.com/docs/errors/${code}` });
  }
});

test("an internal error is a 500 without internal details, and stores nothing", async () => {
  const { database, record } = await setup();
  await database.query("alter table cell.events add constraint no_bombs check (event <> 'bomb')");
  const event = { customerId: "c", quantity: 1, metadata: { planted: "secret" }, idempotencyKey: "k" };
  const reply = await record({ ...event, event: "bomb" });
  expect([reply.status, reply.body["code"]]).toEqual([500, "internal_error"]);
  expect(reply.text).not.toMatch(/bomb|constraint|sql|planted|secret|23514/i);
  for (const table of ["events", "customers", "keyed_requests"])
    expect(await database.count(`cell.${table}`)).toBe(0);
});

test("every error page and the index of error codes are served as HTML and as Markdown", async () => {
  const { service } = await setup();
  const list = await (await fetch(`${service.url}/docs/errors`)).text();
  const pages = [...new Set(list.match(/\/docs\/errors\/\w+/g))];
  expect(pages.map((page) => page.split("/").at(-1)).sort()).toEqual(Object.keys(PROBLEMS).sort());
  for (const page of pages) {
    const html = await fetch(service.url + page);
    const source = await fetch(service.url + page, { headers: { accept: "text/markdown" } });
    expect(html.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(source.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await source.text()).toMatch(new RegExp(`^# ${page.split("/").at(-1)}\n`));
  }
});
