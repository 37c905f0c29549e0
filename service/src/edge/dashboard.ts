import { existsSync } from "node:fs";
import { join } from "node:path";
import files from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";

const BUILT = join(import.meta.dirname, "../../../dashboard/dist");

/** Every page is the same document: its script reads the address. */
const PAGES = ["/", "/log-in", "/setup", "/join", "/sign-in", "/welcome", "/projects/*", "/workspace/*"];

const HEADERS = {
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  // No inline script or style, and nothing from or to another host: a customer's name is never run.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** The dashboard, from the same origin as the API that it is a client of. */
export async function serveDashboard(app: FastifyInstance, directory = BUILT): Promise<void> {
  await app.register(async (pages) => {
    pages.addHook("onSend", async (_request, reply) => void reply.headers(HEADERS));
    if (!existsSync(join(directory, "index.html"))) {
      for (const url of PAGES) pages.get(url, { schema: { hide: true } }, sayHowToBuild);
      return;
    }
    const shared = { preCompressed: true, index: false, cacheControl: false, schemaHide: true } as const;
    // The page itself and what it needs before its script: another one with the next release.
    await pages.register(files, {
      ...shared,
      root: directory,
      wildcard: false,
      globIgnore: ["assets/**"],
      setHeaders: (reply) => void reply.header("cache-control", "no-cache"),
    });
    // Named by their content, and so never another: kept for ever.
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

function sayHowToBuild(_request: unknown, reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type("text/plain; charset=utf-8")
    .send("The dashboard is not built. Run `npm run build`, then start Purser again.\n");
}
