import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { policyOf, serveReference } from "./api-reference.ts";
import { layOutMissing, layOutPage, layOutSearch } from "./layout.ts";
import { loadSite, type Page, type Site } from "./pages.ts";
import { QUERY_LENGTH_MAX, SearchIndex } from "./search.ts";

const HTML = "text/html; charset=utf-8";
const MARKDOWN = "text/markdown; charset=utf-8";
const PLAIN = "text/plain; charset=utf-8";

/** Blocks scripts, inline styles and other hosts. Allows forms for the search. */
const PAGE_POLICY = policyOf("style-src 'self'; img-src 'self'; ", "form-action 'self'");

/** Content types by extension. All other files are sent as plain text, so that a browser never runs them. */
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
};

type Document = { readonly type: string; readonly body: Buffer; readonly etag: string };

/** Everything the pages need, loaded at the first request and kept, because the files change only with a release. */
type Library = {
  readonly site: Site;
  readonly search: SearchIndex;
  /** Responses by path and format, each rendered once. */
  readonly documents: Map<string, Document>;
};

let loaded: Promise<Library> | null = null;

function openLibrary(): Promise<Library> {
  loaded ??= (async () => {
    const site = await loadSite();
    const listed = site.all.flatMap(({ entries }) => entries.map(({ url }) => site.pages.get(url)));
    // In navigation order, which decides between results with the same score.
    const pages = new Set([...listed.filter((page) => page !== undefined), ...site.pages.values()]);
    return { site, search: new SearchIndex(pages), documents: new Map() };
  })();
  return loaded;
}

/** Serves the documentation under `/docs/`, the API reference, `/llms.txt` and the OpenAPI documents. */
export async function serveDocs(app: FastifyInstance): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onSend", async (_request, reply) => {
      reply.headers({ "x-frame-options": "DENY", "referrer-policy": "no-referrer" });
      if (!reply.hasHeader("content-security-policy")) reply.header("content-security-policy", policyOf(""));
    });
    serveReference(docs, { runtime: () => app.swagger(), manage: () => app.manageSwagger() });

    const hidden = { schema: { hide: true } };
    docs.get("/docs", hidden, (_request, reply) => reply.redirect("/docs/", 301));
    docs.get<{ Querystring: { q?: unknown } }>("/docs/search", hidden, async (request, reply) => {
      const { site, search } = await openLibrary();
      const { q } = request.query;
      const query = typeof q === "string" ? q.slice(0, QUERY_LENGTH_MAX).trim() : "";
      return sendPage(reply, layOutSearch(site, query, search.find(query)));
    });
    docs.get("/llms.txt", hidden, (request, reply) => answer(request, reply, "/llms.txt"));
    // A page's Markdown is served at the path of its file, so that relative links work.
    for (const file of ["README", "ARCHITECTURE", "SECURITY", "CHANGELOG", "CONTRIBUTING"])
      docs.get(`/${file}.md`, hidden, (request, reply) => answer(request, reply, `/${file}.md`));
    docs.get<{ Params: { "*": string } }>("/docs/*", hidden, (request, reply) =>
      answer(request, reply, `/docs/${request.params["*"]}`),
    );
  });
}

async function answer(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
  const library = await openLibrary();
  const { site } = library;
  const accept = request.headers.accept ?? "";
  const page = site.pages.get(path);
  const document = findDocument(library, path, page !== undefined && prefersMarkdown(accept));
  if (document === null) return answerMissing(reply, site, { path, accept });
  const { type, body, etag } = document;
  reply.headers({ etag, "cache-control": "no-cache", vary: "accept" });
  if (type === HTML) reply.header("content-security-policy", PAGE_POLICY);
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  return reply.type(type).send(body);
}

/**
 * Redirects `/docs/errors/`, for example, to `/docs/errors`, and `/docs/recipes.md` to the page's Markdown. Any other path gets a
 * 404.
 */
function answerMissing(
  reply: FastifyReply,
  site: Site,
  { path, accept }: { path: string; accept: string },
): FastifyReply {
  const page =
    site.pages.get(path.replace(/\.md$|\/$/, "")) ??
    (path === "/docs/index.md" ? site.pages.get("/docs/") : undefined);
  if (page !== undefined) return reply.redirect(path.endsWith(".md") ? `/${page.file}` : page.url, 301);
  if (!accept.includes("text/html")) return reply.callNotFound() as unknown as FastifyReply;
  return sendPage(reply.code(404), layOutMissing(site));
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .headers({ "content-security-policy": PAGE_POLICY, "cache-control": "no-store" })
    .type(HTML)
    .send(html);
}

/** The media type listed first wins. Browsers list only HTML. */
function prefersMarkdown(accept: string): boolean {
  const [markdown, html] = [accept.indexOf("text/markdown"), accept.indexOf("text/html")];
  return markdown >= 0 && (html < 0 || markdown < html);
}

function findDocument(library: Library, path: string, isMarkdown: boolean): Document | null {
  const key = isMarkdown ? `${path} as Markdown` : path;
  const known = library.documents.get(key);
  if (known !== undefined) return known;
  const found = render(library.site, path, isMarkdown);
  if (found === null) return null;
  const body = Buffer.from(found.body);
  const document = {
    type: found.type,
    body,
    etag: `"${createHash("sha256").update(body).digest("base64url")}"`,
  };
  library.documents.set(key, document);
  return document;
}

function render(
  site: Site,
  path: string,
  isMarkdown: boolean,
): { type: string; body: string | Buffer } | null {
  const page = site.pages.get(path) ?? findByFile(site, path);
  if (page !== undefined) {
    if (isMarkdown || path.endsWith(".md")) return { type: MARKDOWN, body: page.source };
    return { type: HTML, body: layOutPage(site, page) };
  }
  if (path === "/llms.txt") return { type: PLAIN, body: listForModels(site) };
  const file = site.files.get(path);
  return file === undefined ? null : { type: TYPES[extname(file)] ?? PLAIN, body: readFileSync(file) };
}

function findByFile(site: Site, path: string): Page | undefined {
  return [...site.pages.values()].find(({ file }) => `/${file}` === path);
}

/** Lists every page with a one-line summary, in the llmstxt.org format. */
function listForModels({ all, pages }: Site): string {
  const chapters = all.map(({ name, entries }) => {
    const lines = entries.map(({ title, url, summary }) => {
      const page = pages.get(url);
      return `- [${title}](${page === undefined ? url : `/${page.file}`}): ${summary}\n`;
    });
    return `\n## ${name}\n\n${lines.join("")}`;
  });
  return `# Purser\n\n> ${pages.get("/docs/quick-start")?.summary ?? "Usage metering and prepaid credits."}\n${chapters.join("")}`;
}
