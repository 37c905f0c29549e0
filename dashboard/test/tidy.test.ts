import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// Keeps the dashboard in order, as service/test/tidy.test.ts keeps the service. A failure names the place to mend.

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const source = globSync("src/**/*.{ts,tsx}", { cwd: ROOT })
  .filter((file) => !file.endsWith(".gen.d.ts"))
  .sort();

/** Which room may import which; a page may import its own area's files, and no other area's. */
const ROOMS: Record<string, readonly string[]> = {
  words: [],
  api: ["words"],
  ui: ["words", "api"],
  frame: ["words", "api", "ui"],
  pages: ["words", "api", "ui", "frame"],
};

const roomOf = (file: string): string => file.split("/")[1] ?? "";
const areaOf = (file: string): string => file.split("/").slice(0, 3).join("/");

const imports = source.flatMap((file) =>
  [...read(file).matchAll(/from "(\.[^"]+)"|import\("(\.[^"]+)"\)/g)].map(([, from, dynamic]) => ({
    file,
    target: join(file, "..", from ?? dynamic ?? ""),
  })),
);

function findLines(pattern: RegExp, isExempt: (file: string) => boolean): string[] {
  return source
    .filter((file) => !isExempt(file))
    .flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
    );
}

test("rooms import downwards alone, and no area another one's pages", () => {
  expect(imports.length).toBeGreaterThan(100);
  const broken = imports.filter(({ file, target }) => {
    const allowed = ROOMS[roomOf(file)];
    // main.tsx and router.tsx put the rooms together; a document of another package is data.
    if (allowed === undefined || !target.startsWith("src/") || allowed.includes(roomOf(target))) return false;
    return roomOf(file) === "pages" ? areaOf(file) !== areaOf(target) : roomOf(file) !== roomOf(target);
  });
  expect(broken).toEqual([]);
});

test("no file has more than 300 lines", () => {
  expect(source.filter((file) => read(file).trimEnd().split("\n").length > 300)).toEqual([]);
});

test("colours and sizes of type come from tokens.css", () => {
  const OWN =
    /oklch\(|\brgba?\(|["' ](?:[a-z]+:)*(?:bg|text|border|fill|stroke)-(?:white|black|\[|[a-z]+-\d{2,3})|\btext-(?:xs|sm|base|lg|xl)\b/;
  expect(findLines(OWN, () => false)).toEqual([]);
});

test("the API is called through its client, and nothing is written into a page as markup", () => {
  expect(findLines(/\bfetch\(|XMLHttpRequest|WebSocket/, (file) => file.startsWith("src/api/"))).toEqual([]);
  expect(findLines(/dangerouslySetInnerHTML|innerHTML|<style/, () => false)).toEqual([]);
});
