import { existsSync } from "node:fs";
import { join } from "node:path";
import files from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";

const BUILT = join(import.meta.dirname, "../../../dashboard/dist");

/** All pages are the same HTML document. Its script reads the URL. */
const PAGES = ["/", "/log-in", "/setup", "/join", "/sign-in", "/welcome", "/projects/*", "/workspace/*"];

const HEADERS = {
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  // Blocks inline scripts, inline styles and other hosts, so that injected markup, for example in a customer's name, cannot run.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Serves the dashboard from the same origin as its API. */
export async function serveDashboard(app: FastifyInstance, directory = BUILT): Promise<void> {
  await app.register(async (pages) => {
    pages.addHook("onSend", async (_request, reply) => void reply.headers(HEADERS));
    if (!existsSync(join(directory, "index.html"))) {
      for (const url of PAGES) pages.get(url, { schema: { hide: true } }, replyNotBuilt);
      return;
    }
    const shared = { preCompressed: true, index: false, cacheControl: false, schemaHide: true } as const;
    // The document and files without a hash in their name can change with a release.
    await pages.register(files, {
      ...shared,
      root: directory,
      wildcard: false,
      globIgnore: ["assets/**"],
      setHeaders: (reply) => void reply.header("cache-control", "no-cache"),
    });
    // Files named by a content hash never change.
    await pages.register(files, {
      ...shared,
      root: join(directory, "assets"),
      prefix: "/assets/",
      decorateReply: false,
      setHeaders: (reply) => void reply.header("cache-control", "public, max-age=31536000, immutable"),
    });
    for (const url of PAGES) {
      pages.get(url, { schema: { hide: true } }, (_request, reply) => reply.sendFile("index.html"));
    }
  });
}

function replyNotBuilt(_request: unknown, reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type("text/plain; charset=utf-8")
    .send("The dashboard is not built. Run `npm run build`, then start Purser again.\n");
}
