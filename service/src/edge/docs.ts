import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import swagger from "@fastify/swagger";
import reference from "@scalar/fastify-api-reference";
import type { FastifyInstance } from "fastify";

const ERROR_PAGES = join(import.meta.dirname, "../../../docs/errors");

const HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  // Scalar styles itself inline and boots from an inline script; nothing may come from or go to another host.
  "content-security-policy":
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** The reference shows curl alone: any language can read it, and there is no client library to prefer. */
const CLIENTS_NOT_SHOWN = [
  ...([
    "c",
    "clojure",
    "csharp",
    "dart",
    "fsharp",
    "go",
    "http",
    "java",
    "js",
    "kotlin",
    "node",
    "objc",
  ] as const),
  ...(["ocaml", "php", "powershell", "python", "r", "ruby", "rust", "swift", "wget", "httpie"] as const),
];

/** Must come before the routes, so that it sees them. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Purser runtime API",
        version,
        description:
          "Usage metering and credit entitlements beside your own billing system. Call it from your backend, never from a browser.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "This installation" }],
      tags: [{ name: "Runtime", description: "What a product's backend calls." }],
      components: {
        securitySchemes: {
          apiKey: {
            type: "http",
            scheme: "bearer",
            description: "A project's API key: `pur_live_…` or `pur_test_…`.",
          },
        },
      },
    },
  });
}

/** `/openapi/runtime.json`, the reference at `/docs`, and a page for each error code. */
export async function serveDocs(app: FastifyInstance): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onSend", async (_request, reply) => {
      reply.headers(HEADERS);
    });
    docs.get("/openapi/runtime.json", { schema: { hide: true } }, () => app.swagger());
    for (const file of readdirSync(ERROR_PAGES)) {
      const page = readFileSync(join(ERROR_PAGES, file), "utf8");
      docs.get(`/docs/errors/${file.replace(/\.md$/, "")}`, { schema: { hide: true } }, (_request, reply) =>
        reply.type("text/plain; charset=utf-8").send(page),
      );
    }
    await docs.register(reference, {
      routePrefix: "/docs",
      configuration: {
        url: "/openapi/runtime.json",
        pageTitle: "Purser API reference",
        hideTestRequestButton: true,
        hideClientButton: true,
        withDefaultFonts: false,
        telemetry: false,
        defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
        hiddenClients: CLIENTS_NOT_SHOWN,
        showDeveloperTools: "never",
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    });
  });
}
