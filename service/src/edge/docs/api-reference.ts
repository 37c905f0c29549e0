import { createHash, randomBytes } from "node:crypto";
import reference, { type FastifyApiReferenceOptions } from "@scalar/fastify-api-reference";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { endAfter } from "../end-early.ts";

/** Placeholder in Scalar's page; each reply replaces it with a new nonce. */
const NONCE = "nonce-of-the-reply";

/**
 * Runs before Scalar, which puts the nonce only on its main style element. This script:
 * - adds the nonce to all other style elements
 * - sets style attributes through the CSSOM, which the policy allows
 * - removes the unused line counts from code markup
 * - keeps the validator from trying `eval`
 * Inline styles in any other markup are still rejected.
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

/** Returns a Content-Security-Policy that blocks everything except what `sources` and `forms` allow. */
export function policyOf(sources: string, forms = "form-action 'none'"): string {
  return `default-src 'none'; ${sources}base-uri 'none'; ${forms}; frame-ancestors 'none'`;
}

/** Styles of the bar above Scalar's page. The variable makes Scalar leave room for the bar. */
const BAR_STYLE = `
      :root { --scalar-custom-header-height: 48px; }
      .purser-bar { position: sticky; top: 0; z-index: 100; box-sizing: border-box; height: 48px; display: flex; gap: 20px;
        align-items: center; padding: 0 20px; font: 500 14px system-ui, sans-serif; border-bottom: 1px solid; }
      .purser-bar, .purser-bar a { color: light-dark(#1b2a3a, #edf1f5); }
      .purser-bar { background: light-dark(#fff, #15191f); border-color: light-dark(#dde3e9, #2d3540); color-scheme: light; }
      .dark-mode .purser-bar { color-scheme: dark; }
      .purser-bar a { text-decoration: none; } .purser-bar a:hover { text-decoration: underline; }`;
const BAR =
  '<nav class="purser-bar" aria-label="Site navigation"><a href="/docs/"><strong>Purser</strong> Docs</a>' +
  '<a href="/docs/errors">Error codes</a><a href="/">Dashboard</a></nav>';

/** Adds an unpredictable nonce, so that only the page's own scripts and styles run. */
function admitByNonce(reply: FastifyReply, page: string): string {
  const nonce = randomBytes(16).toString("base64url");
  const sources =
    `script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; ` +
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; ";
  reply.headers({ "content-security-policy": policyOf(sources), "cache-control": "no-store" });
  return page
    .replace(
      "</head>",
      () =>
        `  <script nonce="${NONCE}">{${STRICT}\n    }</script>\n    <style nonce="${NONCE}">${BAR_STYLE}\n    </style>\n  </head>`,
    )
    .replace("<body>", () => `<body>\n    ${BAR}`)
    .replaceAll(NONCE, nonce);
}

/** The reference shows only curl, because Purser has no client library and every developer can read curl. */
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

/** Maximum time to download the script. Enough at about 25 kB per second. */
const SCRIPT_READ_MS_MAX = 180_000;

type Describe = () => object;

/** Serves the OpenAPI documents, and Scalar's reference for both APIs at `/docs/api/`. */
export function serveReference(
  docs: FastifyInstance,
  apis: Readonly<Record<"runtime" | "manage", Describe>>,
): void {
  const hidden = { schema: { hide: true } };
  for (const [name, describe] of Object.entries(apis)) {
    // Rendered once, because rendering takes milliseconds and the route is public.
    let document: Buffer | null = null;
    docs.get(`/openapi/${name}.json`, hidden, (_request, reply) => {
      document ??= Buffer.from(JSON.stringify(describe()));
      return reply.type("application/json; charset=utf-8").send(document);
    });
  }
  docs.get("/docs/api", hidden, (_request, reply) => reply.redirect("/docs/api/", 301));
  docs.get("/docs/api/", hidden, async (_request, reply) => {
    const { page } = await renderReference();
    return reply.type("text/html; charset=utf-8").send(admitByNonce(reply, page));
  });
  docs.get("/docs/api/js/scalar.js", hidden, async (request, reply) => {
    const { script, etag } = await renderReference();
    // The script changes with a release.
    reply.headers({ etag, "cache-control": "no-cache" });
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    endAfter(reply.raw, SCRIPT_READ_MS_MAX);
    return reply.type("application/javascript; charset=utf-8").send(script);
  });
}

type Reference = { readonly page: string; readonly script: Buffer; readonly etag: string };

let rendered: Promise<Reference> | null = null;

/**
 * Scalar's page and script, rendered once. Scalar's own handlers are public, but render 4 MB of script and two copies of the document
 * for every request. They also fail on an invalid Host header.
 */
function renderReference(): Promise<Reference> {
  rendered ??= (async () => {
    const scalar = Fastify();
    await scalar.register(reference, { routePrefix: "/docs/api", configuration: CONFIGURATION });
    const page = await scalar.inject("/docs/api/");
    const { rawPayload: script } = await scalar.inject("/docs/api/js/scalar.js");
    await scalar.close();
    const etag = `"${createHash("sha256").update(script).digest("base64url")}"`;
    return { page: page.body, script, etag };
  })();
  return rendered;
}
