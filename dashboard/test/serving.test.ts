import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";

test("pages contain no inline scripts or styles, and their content security policy forbids them", async () => {
  const { service } = await setupManage();
  for (const path of ["/", "/log-in", "/projects/1/live/customers/x%2Fy", "/workspace/members"]) {
    const reply = await fetch(`${service.url}${path}`);
    const policy = reply.headers.get("content-security-policy") ?? "";
    expect([reply.status, reply.headers.get("cache-control")]).toEqual([200, "no-cache"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(await reply.text()).not.toMatch(/<script(?![^>]* src=)|<style|style=/);
  }
});

test("hashed assets are immutable and compressed", async () => {
  const { service } = await setupManage();
  const page = await (await fetch(service.url)).text();
  const [, script = ""] = page.match(/src="(\/assets\/[^"]+\.js)"/) ?? [];
  const reply = await fetch(`${service.url}${script}`, { headers: { "accept-encoding": "br" } });
  expect(reply.headers.get("cache-control")).toContain("immutable");
  expect(reply.headers.get("content-encoding")).toBe("br");
});
