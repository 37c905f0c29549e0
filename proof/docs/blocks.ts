import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** Pages whose commands readers copy, in the order in which they are run. */
export const PAGES_WITH_COMMANDS: readonly string[] = [
  "README.md",
  ...globSync("docs/{guides,operations,recipes}/**/*.md", { cwd: ROOT }).sort(),
];

export type Block = {
  readonly line: number;
  readonly code: string;
  /** Why the block is not run, or null. */
  readonly reason: string | null;
};

const FENCE = /^( *)```(\w*)$/;
const NOT_RUN = /^ *<!-- not run: (.+) -->$/;
const PAGE_NOT_RUN = /^<!-- no block is run: (.+) -->$/m;

/**
 * The shell blocks of a page. A block is not run if the line before it is `<!-- not run: why -->`, or if the page has
 * `<!-- no block is run: why -->`.
 */
export function findBlocks(page: string): readonly Block[] {
  const reasonOfPage = page.match(PAGE_NOT_RUN)?.[1] ?? null;
  const blocks: Block[] = [];
  let mark: string | null = null;
  let open: {
    line: number;
    indent: string;
    isShell: boolean;
    lines: string[];
    reason: string | null;
  } | null = null;
  for (const [index, text] of page.split("\n").entries()) {
    const [, indent, language] = text.match(FENCE) ?? [];
    if (open === null) {
      if (indent !== undefined) {
        const isShell = language === "sh";
        open = { line: index + 1, indent, isShell, lines: [], reason: mark ?? reasonOfPage };
      }
      mark = text.match(NOT_RUN)?.[1] ?? (text.trim() === "" ? mark : null);
    } else if (text === `${open.indent}\`\`\``) {
      const { line, reason, lines, isShell } = open;
      if (isShell) blocks.push({ line, reason, code: lines.join("\n") });
      open = null;
    } else open.lines.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text);
  }
  return blocks;
}

export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
