import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// Checks code conventions in the dashboard, as service/test/tidy.test.ts does in the service. A failure names the file to fix.

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const source = globSync("src/**/*.{ts,tsx}", { cwd: ROOT })
  .filter((file) => !file.endsWith(".gen.d.ts"))
  .sort();

/** For each folder, the other folders it may import from. */
const ROOMS: Record<string, readonly string[]> = {
  format: [],
  api: ["format"],
  ui: ["format", "api"],
  frame: ["format", "api", "ui"],
  features: ["format", "api", "ui", "frame"],
};

/** Features in the same area may import from each other. */
const AREAS = [
  ["customers", "credits", "holds", "ledger", "assignments", "overrides", "alerts", "requests"],
  ["catalog", "plans"],
  ["home", "welcome"],
  ["usage", "months", "exports"],
  ["workspace", "members", "tokens", "audit", "settings"],
];

const roomOf = (file: string): string => file.split("/")[1] ?? "";

function areaOf(file: string): string {
  const feature = file.split("/")[2] ?? "";
  return AREAS.find((area) => area.includes(feature))?.[0] ?? feature;
}

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

test("folders import only from lower layers, and a feature imports only features in its own area", () => {
  expect(imports.length).toBeGreaterThan(100);
  const rooms = source.filter((file) => file.split("/").length > 2).map(roomOf);
  expect(Object.keys(ROOMS)).toEqual(expect.arrayContaining(rooms));
  const broken = imports.filter(({ file, target }) => {
    const allowed = ROOMS[roomOf(file)];
    // main.tsx and router.tsx may import anything. Files outside src contain only data.
    if (allowed === undefined || !target.startsWith("src/") || allowed.includes(roomOf(target))) return false;
    return roomOf(file) === "features" ? areaOf(file) !== areaOf(target) : roomOf(file) !== roomOf(target);
  });
  expect(broken).toEqual([]);
});

test("no source file has more than 300 lines", () => {
  expect(source.filter((file) => read(file).trimEnd().split("\n").length > 300)).toEqual([]);
});

test("colors and font sizes come from tokens.css", () => {
  const OWN =
    /oklch\(|\brgba?\(|["' ](?:[a-z]+:)*(?:bg|text|border|fill|stroke)-(?:white|black|\[|[a-z]+-\d{2,3})|\btext-(?:xs|sm|base|lg|xl)\b/;
  expect(findLines(OWN, () => false)).toEqual([]);
});

test("only src/api sends requests, and no page inserts raw markup", () => {
  expect(findLines(/\bfetch\(|XMLHttpRequest|WebSocket/, (file) => file.startsWith("src/api/"))).toEqual([]);
  expect(findLines(/dangerouslySetInnerHTML|innerHTML|<style/, () => false)).toEqual([]);
});
