import { escapeHtml } from "./markdown.ts";
import type { Chapter, Page, Site } from "./pages.ts";
import { type Hit, QUERY_LENGTH_MAX, RESULTS_MAX } from "./search.ts";

/** Renders a documentation page with its layout. */
export function layOutPage(site: Site, page: Page): string {
  const isIndex = page.url === "/docs/";
  const steps = site.chapters.flatMap(({ entries }) => entries).filter(({ url }) => site.pages.has(url));
  const at = steps.findIndex(({ url }) => url === page.url);
  return layOut(site.chapters, {
    title: page.title,
    url: page.url,
    query: "",
    aside: isIndex ? "" : contentsOf(page),
    main:
      `<article class="prose">${isIndex ? introductionOf(page) : page.rendered.html}</article>${isIndex ? cardsOf(site) : ""}` +
      `<footer>${at < 0 ? "" : step("Previous", steps[at - 1]) + step("Next", steps[at + 1])}` +
      `<a class="source" href="/${escapeHtml(page.file)}">This page as Markdown</a></footer>`,
  });
}

/** Renders search results. Works without JavaScript. */
export function layOutSearch(site: Site, query: string, hits: readonly Hit[]): string {
  const results = hits.map(
    ({ url, title, heading, excerpt }) =>
      `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}` +
      `${heading === null ? "" : ` <span class="section">${escapeHtml(heading)}</span>`}</a>` +
      `<p>${excerpt.map((part, index) => (index % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part))).join("")}</p></li>`,
  );
  const count = hits.length === RESULTS_MAX ? `The first ${RESULTS_MAX} pages` : `${hits.length} pages`;
  const found = hits.length === 1 ? "1 page" : count;
  const message =
    query === ""
      ? "Enter a word, an error code or a path."
      : hits.length === 0
        ? "No results. Try fewer or different words, or browse the pages in the navigation."
        : `${found} for “${escapeHtml(query)}”.`;
  return layOut(site.chapters, {
    title: "Search",
    url: "/docs/search",
    query,
    aside: "",
    main: `<article class="prose"><h1>Search</h1><p>${message}</p></article><ol class="results">${results.join("")}</ol>`,
  });
}

/** Shown in a browser if the URL has no page. */
export function layOutMissing(site: Site): string {
  return layOut(site.chapters, {
    title: "Page not found",
    url: "",
    query: "",
    aside: "",
    main:
      '<article class="prose"><h1>Page not found</h1><p>This release has no such page. Use the search, or start at the ' +
      '<a href="/docs/">index</a>.</p></article>',
  });
}

type Parts = {
  readonly title: string;
  readonly url: string;
  readonly query: string;
  readonly main: string;
  /** The table of contents, or an empty string. */
  readonly aside: string;
};

function layOut(chapters: readonly Chapter[], { title, url, query, main, aside }: Parts): string {
  const listed = chapters.flatMap(({ entries }) => entries.map((entry) => entry.url));
  // For an error page, the index of error codes is highlighted.
  const current = listed.includes(url) ? url : listed.find((parent) => url.startsWith(`${parent}/`));
  const navigation = chapters
    .map(({ name, entries }) => {
      const links = entries.map((entry) => {
        const isCurrent = entry.url === current;
        return `<li><a href="${escapeHtml(entry.url)}"${isCurrent ? ' aria-current="page"' : ""}>${escapeHtml(entry.title)}</a></li>`;
      });
      return `<h2>${escapeHtml(name)}</h2><ul>${links.join("")}</ul>`;
    })
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(url === "/docs/" ? "Purser documentation" : `${title} · Purser`)}</title>
<link rel="stylesheet" href="/docs/site.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/docs/">Purser <span>Docs</span></a>
<form action="/docs/search" role="search">
<input type="search" name="q" value="${escapeHtml(query)}" maxlength="${QUERY_LENGTH_MAX}" placeholder="Search" aria-label="Search the documentation">
<button>Search</button>
</form>
<nav aria-label="Site navigation"><a href="/docs/api/">API reference</a><a href="/">Dashboard</a></nav>
</header>
<div class="columns${aside === "" ? " no-contents" : ""}">
<details class="menu"><summary>All pages</summary><nav aria-label="All pages">${navigation}</nav></details>
<nav class="side" aria-label="Pages">${navigation}</nav>
<main id="content" tabindex="-1">${main}</main>
${aside}
</div>
</body>
</html>
`;
}

/** The index's text before its first chapter. */
function introductionOf({ rendered: { html } }: Page): string {
  return html.slice(0, Math.max(0, html.indexOf("<h2")));
}

function cardsOf({ chapters }: Site): string {
  const sections = chapters.map(({ name, entries }) => {
    const cards = entries.map(
      ({ title, url, summary }) =>
        `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}</a>${escapeHtml(summary.charAt(0).toUpperCase() + summary.slice(1))}</li>`,
    );
    return `<section><h2>${escapeHtml(name)}</h2><ul class="cards">${cards.join("")}</ul></section>`;
  });
  return sections.join("");
}

function contentsOf({ rendered: { sections } }: Page): string {
  const links = sections
    .filter(({ level }) => level === 2 || level === 3)
    .map(
      ({ level, heading, anchor }) =>
        `<li class="level-${level}"><a href="#${escapeHtml(anchor)}">${escapeHtml(heading)}</a></li>`,
    );
  if (links.length < 2) return "";
  return `<aside aria-label="On this page"><h2>On this page</h2><ul>${links.join("")}</ul></aside>`;
}

function step(label: string, entry: { readonly url: string; readonly title: string } | undefined): string {
  if (entry === undefined) return "";
  return `<a class="step" href="${escapeHtml(entry.url)}"><span>${label}</span>${escapeHtml(entry.title)}</a>`;
}
