import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { PROBLEMS } from "../problem.ts";
import { type Rendered, renderMarkdown } from "./markdown.ts";

const ROOT = join(import.meta.dirname, "../../../..");

/** Pages in the root of the repository, where readers expect them. */
const ROOT_PAGES: Readonly<Record<string, string>> = {
  "README.md": "/docs/quick-start",
  "ARCHITECTURE.md": "/docs/architecture",
  "SECURITY.md": "/docs/security",
  "CHANGELOG.md": "/docs/changelog",
  "CONTRIBUTING.md": "/docs/contributing",
};

export type Page = {
  /** Path in the repository. With a leading slash, it is the URL of the page's Markdown. */
  readonly file: string;
  readonly url: string;
  readonly source: string;
  readonly title: string;
  /** One line, without Markdown. */
  readonly summary: string;
  readonly rendered: Rendered;
};

type Entry = { readonly title: string; readonly url: string; readonly summary: string };
export type Chapter = { readonly name: string; readonly entries: readonly Entry[] };

export type Site = {
  readonly pages: ReadonlyMap<string, Page>;
  /** The navigation: the chapters in `docs/README.md`, and pages that it does not list. */
  readonly chapters: readonly Chapter[];
  /** All pages, for `/llms.txt`. */
  readonly all: readonly Chapter[];
  /** File paths of images and examples, by URL. */
  readonly files: ReadonlyMap<string, string>;
};

/** Folders with too many pages for the navigation, which shows only the index of each folder. */
const LISTED_APART = [
  ["Error codes", "/docs/errors/"],
  ["Decisions", "/docs/decisions/"],
] as const;

/** Reads and renders every page. This takes 100 to 200 ms in total. Other requests are served meanwhile. */
export async function loadSite(root: string = ROOT): Promise<Site> {
  const paths = globSync("docs/**/*", { cwd: root }).filter((path) => /\.\w+$/.test(path));
  const sources = new Map(
    [...Object.keys(ROOT_PAGES), ...paths.filter((path) => path.endsWith(".md")).sort()]
      .filter((file) => existsSync(join(root, file)))
      .map((file) => [file, readFileSync(join(root, file), "utf8")]),
  );
  for (const [file, text] of indexesOf(sources)) sources.set(file, text);
  const files = new Map(
    paths.filter((path) => !path.endsWith(".md")).map((path) => [`/${path}`, join(root, path)]),
  );
  const urls = new Map([...sources.keys()].map((file) => [file, urlOf(file)]));
  const pages = new Map<string, Page>();
  for (const [file, source] of sources) {
    await setImmediate();
    const rendered = renderMarkdown(source, (href) => resolveLink(file, href, { urls, files }));
    const [title, summary] = [rendered.sections[0]?.heading ?? file, summaryOf(source)];
    pages.set(urlOf(file), { file, url: urlOf(file), source, title, summary, rendered });
  }
  const chapters = readChapters(pages);
  const apart = LISTED_APART.map(([name, folder]) => ({
    name,
    entries: [...pages.values()].filter(({ url }) => url.startsWith(folder)),
  }));
  return { pages, chapters, all: [...chapters, ...apart], files };
}

function urlOf(file: string): string {
  return ROOT_PAGES[file] ?? `/${file.replace(/(?:README)?\.md$/, "").replace(/(?<!^docs)\/$/, "")}`;
}

type Targets = { readonly urls: ReadonlyMap<string, string>; readonly files: ReadonlyMap<string, string> };

/**
 * Resolves a link: `../errors/in_use.md#why` in a guide → `/docs/errors/in_use#why`. Null for source code and other files that are
 * not served.
 */
function resolveLink(file: string, href: string, { urls, files }: Targets): string | null {
  if (/^(https:|#|\/)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, "");
  const url = urls.get(target) ?? urls.get(`${target}/README.md`) ?? urls.get(`${target}.md`);
  const found = url ?? (files.has(`/${target}`) ? `/${target}` : OPENAPI[target]);
  if (found === undefined) return null;
  return anchor === undefined ? found : `${found}#${anchor}`;
}

const OPENAPI: Readonly<Record<string, string>> = {
  openapi: "/docs/api/",
  "openapi/runtime.json": "/openapi/runtime.json",
  "openapi/manage.json": "/openapi/manage.json",
};

/** Generates an index for each folder that has none. Error codes are sorted by status. Other folders get a list of pages. */
function indexesOf(sources: ReadonlyMap<string, string>): Map<string, string> {
  const indexes = new Map([["docs/errors.md", errorIndex()]]);
  const folders = Map.groupBy([...sources.keys()], (file) => posix.dirname(file));
  for (const [folder, files] of folders) {
    if (!folder.startsWith("docs/") || folder === "docs/errors" || sources.has(`${folder}/README.md`))
      continue;
    if (Object.values(ROOT_PAGES).includes(`/${folder}`)) continue;
    const lines = files.map((file) => {
      const source = sources.get(file) ?? "";
      return `- [${titleOf(source)}](${file.replace("docs/", "")}): ${summaryOf(source)}`;
    });
    const name = folder.split("/").at(-1) ?? "";
    indexes.set(`${folder}.md`, `# ${name.charAt(0).toUpperCase()}${name.slice(1)}\n\n${lines.join("\n")}\n`);
  }
  return indexes;
}

function errorIndex(): string {
  const rows = Object.entries(PROBLEMS)
    .sort(([a, { status }], [b, { status: other }]) => status - other || (a < b ? -1 : 1))
    .map(([code, { status, title }]) => `| ${status} | [\`${code}\`](errors/${code}.md) | ${title} |\n`);
  return (
    "# Error codes\n\nEvery error is `application/problem+json`. Its `type` links to one of these pages.\n\n" +
    `| Status | Code | Meaning |\n|---|---|---|\n${rows.join("")}`
  );
}

function titleOf(source: string): string {
  return source.match(/^# (.+)$/m)?.[1] ?? "";
}

/** The first sentence of at least 25 characters in the Decision section, or in the page if it has no such section. */
function summaryOf(source: string): string {
  const body = source.match(/^## Decision\n+([\s\S]*)/m)?.[1] ?? source;
  const paragraph = body.split(/\n{2,}/).find((part) => !/^(#|\||```|<!--|Status: |!\[)/.test(part)) ?? "";
  const plain = paragraph
    .replace(/\s+/g, " ")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]|^- /g, "");
  const sentence = plain.match(/^.{25,}?[.:](?= |$)/)?.[0] ?? plain;
  return sentence.replace(/:$/, ".").trim();
}

/** Reads the chapters from `docs/README.md`. A page that is not listed there is added to the chapter of its folder. */
function readChapters(pages: ReadonlyMap<string, Page>): Chapter[] {
  const urls = new Map([...pages.values()].map(({ file, url }) => [file, url]));
  const parts = pages.get("/docs/")?.source.split(/^## /m).slice(1) ?? [];
  const chapters = new Map<string, Entry[]>();
  for (const part of parts) {
    const lines = part.matchAll(/^- \[(.+?)\]\((.+?)\): (.+)$/gm);
    const entries = [...lines].flatMap(([, title = "", href = "", summary = ""]) => {
      const url = resolveLink("docs/README.md", href, { urls, files: new Map() });
      return url === null ? [] : [{ title, url, summary: summary.replaceAll("`", "") }];
    });
    chapters.set(part.split("\n")[0] ?? "", entries);
  }
  const listed = new Set([...chapters.values()].flat().map(({ url }) => url));
  for (const page of pages.values()) {
    const [, , folder = "", name] = page.url.split("/");
    const isApart = LISTED_APART.some(([, prefix]) => page.url.startsWith(prefix));
    if (listed.has(page.url) || isApart || folder === "" || name === undefined) continue;
    const chapter = `${folder.charAt(0).toUpperCase()}${folder.slice(1)}`;
    chapters.set(chapter, [...(chapters.get(chapter) ?? []), page]);
  }
  return [...chapters].map(([name, entries]) => ({ name, entries }));
}
