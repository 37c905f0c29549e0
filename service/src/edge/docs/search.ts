import type { Page } from "./pages.ts";

/** Longer queries are truncated, so that a search takes less than a millisecond. */
export const QUERY_LENGTH_MAX = 100;
const TERMS_MAX = 6;
export const RESULTS_MAX = 20;
const EXCERPT_LENGTH = 180;

export type Hit = {
  readonly url: string;
  readonly title: string;
  /** Null if the hit is in the page's first section. */
  readonly heading: string | null;
  /** Alternates between plain text and matched terms, starting with plain text. */
  readonly excerpt: readonly string[];
};

type Entry = Omit<Hit, "excerpt"> & {
  readonly page: Page;
  readonly text: string;
  readonly words: string;
  readonly names: string;
};

/** Finds sections that contain all words of a query, and returns the best section of each page. */
export class SearchIndex {
  readonly #entries: readonly Entry[];

  constructor(pages: Iterable<Page>) {
    this.#entries = [...pages].flatMap((page) =>
      page.rendered.sections.map(({ heading, anchor, level, text }) => ({
        page,
        url: level === 1 ? page.url : `${page.url}#${anchor}`,
        title: page.title,
        heading: level === 1 ? null : heading,
        text: level === 1 ? page.summary : text,
        words: `${page.title} ${heading} ${text}`.toLowerCase(),
        names: `${page.title} ${level === 1 ? "" : heading}`.toLowerCase(),
      })),
    );
  }

  find(query: string): readonly Hit[] {
    const terms = termsOf(query);
    if (terms.length === 0) return [];
    const best = new Map<Page, { entry: Entry; score: number }>();
    for (const entry of this.#entries) {
      if (!terms.every((term) => entry.words.includes(term))) continue;
      const score = scoreOf(entry, terms);
      if (score > (best.get(entry.page)?.score ?? 0)) best.set(entry.page, { entry, score });
    }
    return [...best.values()]
      .sort((a, b) => b.score - a.score)
      .slice(0, RESULTS_MAX)
      .map(({ entry: { url, title, heading, text } }) => ({
        url,
        title,
        heading,
        excerpt: excerptOf(text, terms),
      }));
  }
}

function termsOf(query: string): readonly string[] {
  const words = query
    .slice(0, QUERY_LENGTH_MAX)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_./-]+/u);
  return [...new Set(words.filter((word) => word.length > 1))].slice(0, TERMS_MAX);
}

/**
 * A match in a heading scores higher than a match in text, and a match in a title scores highest. Background reading ranks below
 * guides and error pages.
 */
function scoreOf({ page, title, heading, names }: Entry, terms: readonly string[]): number {
  const titleWords = title.toLowerCase();
  const scores = terms.map((term) => {
    if (titleWords === term) return 100;
    if (titleWords.includes(term)) return heading === null ? 12 : 10;
    return names.includes(term) ? 6 : 1;
  });
  const isBackground = /^\/docs\/(decisions|security|architecture|changelog)/.test(page.url);
  return scores.reduce((sum, score) => sum + score, 0) / (isBackground ? 2 : 1);
}

/** The text around the first matched term, split at every term. */
function excerptOf(text: string, terms: readonly string[]): readonly string[] {
  const lower = text.toLowerCase();
  const first = Math.min(...terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0));
  const from = Number.isFinite(first) ? Math.max(0, text.lastIndexOf(" ", Math.max(0, first - 60)) + 1) : 0;
  const cut = text.slice(from, from + EXCERPT_LENGTH);
  const part = from + EXCERPT_LENGTH < text.length ? cut.slice(0, cut.lastIndexOf(" ")) : cut;
  const whole = `${from > 0 ? "… " : ""}${part}${from + EXCERPT_LENGTH < text.length ? " …" : ""}`;
  const pattern = terms.map((term) => term.replaceAll(".", "\\.")).join("|");
  return whole.split(new RegExp(`(${pattern})`, "iu"));
}
