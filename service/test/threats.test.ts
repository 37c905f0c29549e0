import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "../../docs/security");
const LINK = /\[([^\]]+)\]\(([^)]+\.test\.ts)\)/g;

/** Rows of the page's tables with three columns that describe a threat. */
const rows = readFileSync(join(FOLDER, "threats.md"), "utf8")
  .split("\n## ")
  .slice(1)
  .flatMap((section) => section.split("\n").filter((line) => /^\| (?!Threat \|)[^-]/.test(line)));

test("every threat links to at least one test that exists under that name", () => {
  const broken = rows.flatMap((row) => {
    const links = [...row.matchAll(LINK)];
    const missing = links.filter(([, title = "", file = ""]) => {
      const path = join(FOLDER, file);
      return !existsSync(path) || !readFileSync(path, "utf8").includes(title);
    });
    return links.length === 0 || missing.length > 0 ? [row] : [];
  });
  expect(broken).toEqual([]);
});
