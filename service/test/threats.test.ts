import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "../../docs/security");
const LINK = /\[([^\]]+)\]\(([^)]+\.test\.ts)\)/g;

/** Rows of the page's tables, each about one threat. */
const rows = readFileSync(join(FOLDER, "threats.md"), "utf8")
  .split("\n## ")
  .slice(1)
  .flatMap((section) => section.split("\n").filter((line) => /^\| (?!Threat \|)[^-]/.test(line)));

test("every threat links to at least one test, and every linked test exists under that name", () => {
  const broken = rows.flatMap((row) => {
    const links = [...row.matchAll(LINK)];
    const missing = links.filter(([, title = "", file = ""]) => {
      const path = join(FOLDER, file);
      return !existsSync(path) || !runs(readFileSync(path, "utf8"), title);
    });
    return links.length === 0 || missing.length > 0 ? [row] : [];
  });
  expect(broken).toEqual([]);
  // Fails if the tables are not found.
  expect(rows.length).toBeGreaterThan(80);
});

/** Whether the text contains a test with this name that is not skipped. */
function runs(text: string, title: string): boolean {
  const at = text.indexOf(title);
  if (at < 0) return false;
  const before = text.slice(0, at);
  const test = before.slice(Math.max(before.lastIndexOf("\ntest"), before.lastIndexOf("\n  test")));
  return !/^\s*test\.(skip|todo|fails)|\.(skip|todo|fails)\(/.test(test);
}

test("a skipped test does not count as coverage for a threat", () => {
  expect(runs('\ntest("no gap", () => {});\n', "no gap")).toBe(true);
  expect(runs('\ntest.each([1])("no gap %s", () => {});\n', "no gap %s")).toBe(true);
  for (const way of ["skip", "todo", "fails"]) {
    expect(runs(`\ntest("b", () => {});\ntest.${way}("no gap", () => {});\n`, "no gap")).toBe(false);
    expect(runs(`\ntest.${way}.each([1])("no gap %s", () => {});\n`, "no gap %s")).toBe(false);
  }
});
