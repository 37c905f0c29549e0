import { expect, test } from "vitest";
import { setup } from "../../test/harness.ts";

test("every reply has the nosniff header, including errors, docs, health and metrics", async () => {
  const { service } = await setup();
  const paths = ["/livez", "/v1/check", "/no/such", "/%", "/docs/", "/docs/errors", "/openapi/manage.json"];
  const urls = [...paths, "/manage/v1/setup", "/manage/v1/session", "/"].map((path) => service.url + path);
  for (const url of [...urls, `${service.metricsUrl}/metrics`, `${service.metricsUrl}/no`]) {
    const reply = await fetch(url);
    expect([url, reply.headers.get("x-content-type-options")]).toEqual([url, "nosniff"]);
  }
});

test("HSTS is sent if a trusted proxy reports https, and never for plain http", async () => {
  const [trusting, plain] = [await setup({ TRUST_PROXY: "127.0.0.1" }), await setup()];
  const read = async (url: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/livez`, { headers })).headers.get("strict-transport-security");
  expect(await read(trusting.service.url, { "x-forwarded-proto": "https" })).toBe("max-age=31536000");
  expect(await read(trusting.service.url, { "x-forwarded-proto": "https, http" })).toBe(null);
  expect(await read(trusting.service.url)).toBe(null);
  expect(await read(plain.service.url, { "x-forwarded-proto": "https" })).toBe(null);
});
