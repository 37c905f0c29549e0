import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { renderMarkdown } from "../../service/src/edge/docs/markdown.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGES = [
  ...globSync("*.md", { cwd: ROOT }),
  ...globSync("{docs,deploy,.github}/**/*.md", { cwd: ROOT }),
].sort();

type Links = { readonly links: readonly string[]; readonly anchors: ReadonlySet<string> };

function readLinks(file: string): Links {
  const links: string[] = [];
  const { sections } = renderMarkdown(readFileSync(join(ROOT, file), "utf8"), (href) => {
    links.push(href);
    return href;
  });
  return { links, anchors: new Set(sections.map(({ anchor }) => anchor)) };
}

const read = new Map(PAGES.map((file) => [file, readLinks(file)]));

test("every link in the repository's pages leads to a file, and every anchor to a heading", () => {
  const broken = [...read].flatMap(([file, { links }]) =>
    links.filter((href) => !isSound(file, href)).map((href) => `${file}: ${href}`),
  );
  expect(broken).toEqual([]);
  expect([...read.values()].flatMap(({ links }) => links).length).toBeGreaterThan(250);
});

function isSound(file: string, href: string): boolean {
  // Other hosts are not contacted, because a test must not depend on their servers.
  if (/^\w+:/.test(href)) return href.startsWith("https://");
  const [path = "", anchor] = href.split("#");
  const target = path === "" ? file : posix.join(posix.dirname(file), decodeURIComponent(path));
  if (target.startsWith("..") || !existsSync(join(ROOT, target))) return false;
  return anchor === undefined || (read.get(target)?.anchors.has(anchor) ?? false);
}
