import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { serveDashboard } from "./dashboard.ts";

test("if the dashboard was not built, every page explains how to build it", async () => {
  const app = Fastify();
  await serveDashboard(app, mkdtempSync(join(tmpdir(), "purser-dashboard-")));
  for (const url of ["/", "/log-in", "/projects/1/test/customers"]) {
    const reply = await app.inject(url);
    expect([reply.statusCode, reply.body]).toEqual([503, expect.stringContaining("npm run build")]);
  }
  await app.close();
});
