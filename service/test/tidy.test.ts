import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROBLEMS } from "../src/edge/problem.ts";

// Keeps the house in order. Each test lists what breaks its rule, so a failure names the place to mend.

const ROOT = join(import.meta.dirname, "../..");
const glob = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).sort();
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

const everything = glob("{service,proof}/**/*.{ts,sql}");
const source = glob("service/src/**/*.ts").filter((file) => !file.endsWith(".test.ts"));

/** `service/src/edge/log.ts` → `edge`; files at the top of src, and commands, put the rooms together. */
function roomOf(file: string): string {
  const [room = "", ...rest] = file.replace("service/src/", "").split("/");
  return rest.length === 0 || room === "commands" ? "top" : room;
}

type Import = { file: string; room: string; target: string; isType: boolean };

const IMPORT = /^(?:import|export) (type )?(?:[^;"]*? from )?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Our own files as paths below src, packages and `node:` modules by their name. */
const imports: Import[] = source.flatMap((file) =>
  [...read(file).matchAll(IMPORT)].map(([, type, from, dynamic]) => {
    const name = from ?? dynamic ?? "";
    const target = name.startsWith(".") ? join(file, "..", name).replace("service/src/", "") : name;
    return { file, room: roomOf(file), target, isType: type !== undefined };
  }),
);

const isOurs = ({ target }: Import): boolean => target.endsWith(".ts") || target.endsWith(".json");

/** DESIGN: which room may import which. A room may always import itself. */
const ROOMS: Record<string, readonly string[]> = {
  runtime: ["edge", "entitlement", "store", "postgres", "primitives"],
  manage: ["edge", "entitlement", "store", "postgres", "primitives"],
  jobs: ["edge", "entitlement", "store", "postgres", "primitives"],
  edge: ["primitives", "store/control"],
  entitlement: ["primitives"],
  store: ["postgres", "primitives"],
  postgres: ["primitives"],
  primitives: [],
};

/** Packages by room, where the list is closed. */
const PACKAGES: Record<string, RegExp> = {
  entitlement: /^(node:crypto|canonicalize)$/,
  store: /^$/,
  postgres: /^(pg|node:.*)$/,
  primitives: /^node:/,
};

test("no import escapes the table below", () => {
  const lines = source.flatMap((file) => read(file).match(/( from |^import )"[^"]+";$/gm) ?? []);
  expect(imports).toHaveLength(lines.length);
});

test("every room is in the table, and imports only the rooms it may", () => {
  expect(Object.keys(ROOMS)).toEqual(
    expect.arrayContaining(source.map(roomOf).filter((room) => room !== "top")),
  );
  const broken = imports.filter((found) => {
    const { room, target, isType } = found;
    if (room === "top" || !isOurs(found)) return false;
    if (room === "store" && isType && target.startsWith("entitlement/")) return false;
    return ![room, ...(ROOMS[room] ?? [])].some((allowed) => target.startsWith(`${allowed}/`));
  });
  expect(broken).toEqual([]);
});

test("no files import each other in a circle, not even types", () => {
  const files = glob("{service/src,dashboard/src,proof}/**/*.{ts,tsx}");
  const graph = new Map(files.map((file) => [file, new Set(ownImportsOf(file))]));
  expect(graph.size).toBeGreaterThan(700);
  // Outside every circle: a file that imports none of those left, or that none of them imports.
  let size: number;
  do {
    size = graph.size;
    const imported = new Set([...graph.values()].flatMap((targets) => [...targets]));
    for (const [file, targets] of graph)
      if (!imported.has(file) || ![...targets].some((target) => graph.has(target))) graph.delete(file);
  } while (graph.size < size);
  expect([...graph.keys()]).toEqual([]);
});

function ownImportsOf(file: string): string[] {
  return [...read(file).matchAll(IMPORT)].flatMap(([, , from, dynamic]) => {
    const name = from ?? dynamic ?? "";
    return name.startsWith(".") ? [join(file, "..", name)] : [];
  });
}

test("packages stay in their rooms: pg in postgres and commands, next to none in the pure core", () => {
  const broken = imports.filter((found) => {
    if (isOurs(found)) return false;
    const { file, room, target } = found;
    if (target === "pg" && room !== "postgres" && !file.startsWith("service/src/commands/")) return true;
    return PACKAGES[room] !== undefined && !PACKAGES[room].test(target);
  });
  expect(broken).toEqual([]);
});

/** Lines of `files` that match, as `file:line`, but for the files named. */
function findLines(files: readonly string[], pattern: RegExp, except: readonly string[] = []): string[] {
  return files
    .filter((file) => !except.some((name) => file.startsWith(`service/${name}`)))
    .flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
    );
}

test("no file has more than 300 lines", () => {
  expect(everything.filter((file) => read(file).trimEnd().split("\n").length > 300)).toEqual([]);
});

test("the environment is read in config.ts alone, and in the set-up of the tests", () => {
  const files = glob("service/**/*.ts");
  expect(findLines(files, /process\.env\b/, ["src/config.ts", "test/"])).toEqual([]);
});

test("SQL stands in store, postgres, commands and migrations alone", () => {
  const SQL =
    /\bselect\b.*\bfrom\b|\binsert into\b|\bdelete from\b|\bupdate [a-z_.]+ set\b|\b(create|alter|drop) (table|index|schema)\b|\bstatement\(|\.query\(/i;
  expect(findLines(source, SQL, ["src/store/", "src/postgres/", "src/commands/"])).toEqual([]);
});

test("no two statements share a name: a connection prepares each name once", () => {
  const names = source
    .filter((file) => file.startsWith("service/src/store/") || file.startsWith("service/src/postgres/"))
    .flatMap((file) => [...read(file).matchAll(/\bstatement\(\s*"([^"]+)"/g)].map(([, name]) => name));
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("this machine's clock is read only where that was agreed", () => {
  const agreed = [
    "src/primitives/timestamp.ts",
    "src/primitives/clocks-agree.ts",
    "src/entitlement/period.ts",
    "src/edge/request-id.ts",
    "src/commands/doctor.ts",
  ];
  expect(findLines(source, /new Date\(|Date\.now\b/, agreed)).toEqual([]);
});

test("migrations are numbered without a gap, and their first line says why", () => {
  for (const schema of ["control", "cell"]) {
    const files = glob(`service/migrations/${schema}/*`);
    const names = files.map((file) => file.split("/").at(-1));
    expect(names).toEqual(
      files.map((_, i) =>
        expect.stringMatching(new RegExp(`^${String(i + 1).padStart(6, "0")}-[a-z0-9-]+\\.sql$`)),
      ),
    );
    expect(files.filter((file) => !/^-- \S/.test(read(file)))).toEqual([]);
  }
});

test("nothing is left for later, and nothing is exported by default", () => {
  expect(findLines(everything, /TO[D]O|FIX[M]E/)).toEqual([]);
  expect(findLines(everything, /^export default\b/)).toEqual([]);
});

test("files are named for what they hold", () => {
  expect(everything.filter((file) => /\b(utils?|helpers?|common|misc)\b/.test(file))).toEqual([]);
  expect(everything.filter((file) => !/^[a-z0-9./-]+$/.test(file))).toEqual([]);
});

test("every error code has its page, and every page its code", () => {
  const pages = glob("docs/errors/*").map((file) => file.replace("docs/errors/", ""));
  expect(pages).toEqual(
    Object.keys(PROBLEMS)
      .map((code) => `${code}.md`)
      .sort(),
  );
  expect(
    pages.filter((page) => !read(`docs/errors/${page}`).startsWith(`# ${page.replace(".md", "")}\n`)),
  ).toEqual([]);
});
