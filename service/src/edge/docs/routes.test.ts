import { expect, test } from "vitest";
import { setup } from "../../../test/harness.ts";

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

test("every link on every page leads to a page, and every anchor to a heading", async () => {
  const { service } = await setup();
  const seen = new Map<string, Set<string>>();
  const broken: string[] = [];
  const queue = [{ from: "start", href: "/docs/" }];
  for (const { from, href } of queue) {
    const { pathname, hash } = new URL(href, service.url);
    if (!seen.has(pathname)) {
      const reply = await fetch(service.url + pathname);
      const text = await reply.text();
      const isPage = reply.headers.get("content-security-policy") === POLICY;
      if (reply.status !== 200 && pathname !== "/") broken.push(`${from}: ${href} is ${reply.status}`);
      seen.set(pathname, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? "")));
      const links = isPage ? [...text.matchAll(/ (?:href|src)="([^"#][^"]*|#[^"]+)"/g)] : [];
      for (const [, link = ""] of links)
        if (!link.startsWith("https:")) queue.push({ from: pathname, href: new URL(link, reply.url).href });
    }
    if (hash !== "" && !seen.get(pathname)?.has(decodeURIComponent(hash.slice(1))))
      broken.push(`${from}: ${href}`);
  }
  expect(broken).toEqual([]);
  expect(seen.size).toBeGreaterThan(80);
});

test("llms.txt lists every page with a one-line summary, and every entry links to Markdown", async () => {
  const { service } = await setup();
  const list = await (await fetch(`${service.url}/llms.txt`)).text();
  const lines = [...list.matchAll(/^- \[.+?\]\((.+?)\): .{5,}$/gm)].map(([, url]) => url ?? "");
  expect(list.match(/^- /gm)).toHaveLength(lines.length);
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).toEqual([]);
  expect(lines.length).toBeGreaterThan(70);
  for (const url of lines.filter((line) => line !== "/docs/api/")) {
    const reply = await fetch(service.url + url);
    expect([url, reply.status, reply.headers.get("content-type")]).toEqual([
      url,
      200,
      "text/markdown; charset=utf-8",
    ]);
  }
});

test("a page is served as HTML or Markdown, depending on its URL or the Accept header", async () => {
  const { service } = await setup();
  const typeOf = async (path: string, accept: string): Promise<string | null> =>
    (await fetch(service.url + path, { headers: { accept } })).headers.get("content-type");
  const browser = "text/html,application/xhtml+xml,*/*;q=0.8";
  expect(await typeOf("/docs/errors/in_use", browser)).toBe("text/html; charset=utf-8");
  expect(await typeOf("/docs/errors/in_use", "*/*")).toBe("text/html; charset=utf-8");
  expect(await typeOf("/docs/errors/in_use", "text/markdown, text/html;q=0.9")).toBe(
    "text/markdown; charset=utf-8",
  );
  expect(await typeOf("/docs/errors/in_use.md", browser)).toBe("text/markdown; charset=utf-8");
  expect(await typeOf("/docs/recipes.md", browser)).toBe("text/markdown; charset=utf-8");
  expect(await typeOf("/docs/recipes/stripe-webhook/server.mjs", browser)).toBe("text/plain; charset=utf-8");
});

test("for an unknown page, a browser gets an HTML page and a program gets a problem", async () => {
  const { service } = await setup();
  for (const path of [
    "/docs/errors/nothing",
    "/docs/..%2f..%2fpackage.json",
    "/docs/errors/../../service/package.json",
  ]) {
    const html = await fetch(service.url + path, { headers: { accept: "text/html" } });
    const problem = await fetch(service.url + path);
    expect([html.status, problem.status]).toEqual([404, 404]);
    expect(problem.headers.get("content-type")).toContain("application/problem+json");
  }
});

test("a page returns 304 to a browser that has cached it", async () => {
  const { service } = await setup();
  const etag = (await fetch(`${service.url}/docs/`)).headers.get("etag") ?? "";
  expect((await fetch(`${service.url}/docs/`, { headers: { "if-none-match": etag } })).status).toBe(304);
});

test("the documentation search finds guides and error codes, and shows the query as text", async () => {
  const { service } = await setup();
  const search = async (query: string): Promise<string> =>
    (await fetch(`${service.url}/docs/search?q=${encodeURIComponent(query)}`)).text();
  const firstOf = (html: string): string | undefined =>
    html.match(/<ol class="results"><li><a href="([^"]+)"/)?.[1];
  expect(firstOf(await search("idempotency_key_reused"))).toBe("/docs/errors/idempotency_key_reused");
  expect(firstOf(await search("PgBouncer pool_mode"))).toMatch(/^\/docs\/(guides|operations)\//);
  expect(firstOf(await search("rotate an API key"))).toMatch(/^\/docs\/guides\//);
  expect(await search("no such words anywhere")).toContain("No results");
  const hostile = await search(`"><script>alert(1)</script> consume`);
  expect(hostile).not.toContain("<script");
  expect(hostile).toContain("&lt;script&gt;");
  for (const query of ["q=a&q=b", "q[]=a", "q=%00", "q=(((((", "q=.*.*.*.*"])
    expect((await fetch(`${service.url}/docs/search?${query}`)).status).toBe(200);
});
