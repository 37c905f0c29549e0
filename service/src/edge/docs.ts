import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import swagger from "@fastify/swagger";
import reference, { type FastifyApiReferenceOptions } from "@scalar/fastify-api-reference";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifySchema } from "fastify";
import { endAfter } from "./end-early.ts";

const ERROR_PAGES = join(import.meta.dirname, "../../../docs/errors");

const HEADERS = { "x-frame-options": "DENY", "referrer-policy": "no-referrer" };

/** Placeholder in Scalar's page; each reply replaces it with a new nonce. */
const NONCE = "nonce-of-the-reply";

/**
 * Runs before Scalar, which puts the nonce on its main style only. Other style elements get it here; style attributes are set
 * through the CSSOM, which the policy allows; the line counts in its code markup are unused and left out; and its validator
 * does not try `eval`. Inline styles in any other markup stay rejected.
 */
const STRICT = `
      const { nonce } = document.currentScript;
      const { createElement } = document;
      document.createElement = function (...of) {
        const element = createElement.apply(this, of);
        if (element instanceof HTMLStyleElement) element.nonce = nonce;
        return element;
      };
      const { setAttribute } = Element.prototype;
      Element.prototype.setAttribute = function (name, value) {
        if (name === "style") this.style.cssText = value;
        else setAttribute.call(this, name, value);
      };
      const innerHTML = Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
      Object.defineProperty(Element.prototype, "innerHTML", {
        ...innerHTML,
        set(markup) {
          innerHTML.set.call(this, String(markup).replace(/(<code [^>]*?) style="--line-[^"]*"/g, "$1"));
        },
      });
      globalThis.__zod_globalConfig = { jitless: true };`;

/** Allows no other host. */
function policyOf(sources: string): string {
  return `default-src 'none'; ${sources}base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** Adds an unpredictable nonce, so that only the page's own scripts and styles run. */
function admitByNonce(reply: FastifyReply, page: string): string {
  const nonce = randomBytes(16).toString("base64url");
  const sources =
    `script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; ` +
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; ";
  reply.headers({ "content-security-policy": policyOf(sources), "cache-control": "no-store" });
  return page
    .replace("</head>", () => `  <script nonce="${NONCE}">{${STRICT}\n    }</script>\n  </head>`)
    .replaceAll(NONCE, nonce);
}

/** The reference shows curl only: Purser has no client library, and every developer can read curl. */
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

const CONFIGURATION: NonNullable<FastifyApiReferenceOptions["configuration"]> = {
  sources: [
    { title: "Runtime API", slug: "runtime", url: "/openapi/runtime.json" },
    { title: "Management API", slug: "manage", url: "/openapi/manage.json" },
  ],
  nonce: NONCE,
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
};

/** Time to read the script, which allows about 25 kB per second. */
const SCRIPT_READ_MS_MAX = 180_000;

declare module "fastify" {
  interface FastifyInstance {
    manageSwagger(): object;
  }
}

const LICENSE = { name: "Apache-2.0", identifier: "Apache-2.0" };
const SERVERS = [{ url: "/", description: "This installation" }];
const MANAGE = "/manage/v1/";

/** Must come before the routes, so that it sees them. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    transform: ({ schema, url }) => ({ schema: hideIf(url.startsWith(MANAGE), schema), url }),
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Purser runtime API",
        version,
        description:
          "Usage metering and credit entitlements next to your own billing system. Call it from your backend, never from a browser.",
        license: LICENSE,
      },
      servers: SERVERS,
      tags: [{ name: "Runtime", description: "Called by your product's backend." }],
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
  await app.register(swagger, {
    decorator: "manageSwagger",
    transform: ({ schema, url }) => ({ schema: hideIf(!url.startsWith(MANAGE), schema), url }),
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Purser management API",
        version,
        description:
          "Everything an operator can do. The dashboard uses this API, and so can your automation, such as a billing webhook handler.",
        license: LICENSE,
      },
      servers: SERVERS,
      components: {
        securitySchemes: {
          managementToken: {
            type: "http",
            scheme: "bearer",
            description:
              "A management token, `pur_mgmt_…`: a role in one environment or in the whole workspace.",
          },
          session: {
            type: "apiKey",
            in: "cookie",
            name: "__Host-purser_session",
            description: "The dashboard's session cookie.",
          },
        },
      },
    },
  });
}

/** Both APIs share one server; each document describes one of them. */
function hideIf(isHidden: boolean, schema: FastifySchema | undefined): FastifySchema {
  return isHidden ? { ...schema, hide: true } : (schema ?? {});
}

/** Serves the OpenAPI documents, the reference at `/docs`, and a page for each error code. */
export async function serveDocs(app: FastifyInstance): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onSend", async (_request, reply, payload) => {
      reply.headers({ ...HEADERS, "content-security-policy": policyOf("") });
      const isPage = String(reply.getHeader("content-type")).startsWith("text/html");
      return isPage && typeof payload === "string" ? admitByNonce(reply, payload) : payload;
    });
    for (const [name, describe] of [
      ["runtime", () => app.swagger()],
      ["manage", () => app.manageSwagger()],
    ] as const) {
      // Rendered once: it takes milliseconds, and the route is public.
      let document: Buffer | null = null;
      docs.get(`/openapi/${name}.json`, { schema: { hide: true } }, (_request, reply) => {
        document ??= Buffer.from(JSON.stringify(describe()));
        return reply.type("application/json; charset=utf-8").send(document);
      });
    }
    const codes = readdirSync(ERROR_PAGES).map((file) => file.replace(/\.md$/, ""));
    docs.get("/docs/errors", { schema: { hide: true } }, (_request, reply) =>
      reply
        .type("text/plain; charset=utf-8")
        .send(`Every error has a page:\n\n${codes.map((code) => `/docs/errors/${code}\n`).join("")}`),
    );
    for (const code of codes) {
      const page = readFileSync(join(ERROR_PAGES, `${code}.md`), "utf8");
      docs.get(`/docs/errors/${code}`, { schema: { hide: true } }, (_request, reply) =>
        reply.type("text/plain; charset=utf-8").send(page),
      );
    }
    docs.get("/docs", { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs/", 301));
    docs.get("/docs/", { schema: { hide: true } }, async (_request, reply) =>
      reply.type("text/html; charset=utf-8").send((await renderReference()).page),
    );
    docs.get("/docs/js/scalar.js", { schema: { hide: true } }, async (request, reply) => {
      const { script, etag } = await renderReference();
      // The script changes with a release.
      reply.headers({ etag, "cache-control": "no-cache" });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      endAfter(reply.raw, SCRIPT_READ_MS_MAX);
      return reply.type("application/javascript; charset=utf-8").send(script);
    });
  });
}

type Reference = { readonly page: string; readonly script: Buffer; readonly etag: string };

let rendered: Promise<Reference> | null = null;

/**
 * Scalar's page and script, rendered once. Its own handlers render 4 MB of script and two copies of the document for every
 * request, without authentication, and fail on an invalid Host header.
 */
function renderReference(): Promise<Reference> {
  rendered ??= (async () => {
    const scalar = Fastify();
    await scalar.register(reference, { routePrefix: "/docs", configuration: CONFIGURATION });
    const page = await scalar.inject("/docs/");
    const { rawPayload: script } = await scalar.inject("/docs/js/scalar.js");
    await scalar.close();
    const etag = `"${createHash("sha256").update(script).digest("base64url")}"`;
    return { page: page.body, script, etag };
  })();
  return rendered;
}
