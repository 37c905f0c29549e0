import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROBLEMS } from "../src/edge/problem.ts";

// Rules for the structure of the code. Each test lists the places that break its rule.

const ROOT = join(import.meta.dirname, "../..");
const glob = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).sort();
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

const everything = glob("{service,proof}/**/*.{ts,sql}");
const source = glob("service/src/**/*.ts").filter((file) => !file.endsWith(".test.ts"));

/** The folder of a file: `src/edge/log.ts` → `edge`. Files at the top of src and in commands may import everything. */
function roomOf(file: string): string {
  const [room = "", ...rest] = file.replace("service/src/", "").split("/");
  return rest.length === 0 || room === "commands" ? "top" : room;
}

type Import = { file: string; room: string; target: string; isType: boolean };

const IMPORT = /^(?:import|export) (type )?(?:[^;"]*? from )?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** All imports. Our own files are paths below src; packages and `node:` modules have their names. */
const imports: Import[] = source.flatMap((file) =>
  [...read(file).matchAll(IMPORT)].map(([, type, from, dynamic]) => {
    const name = from ?? dynamic ?? "";
    const target = name.startsWith(".") ? join(file, "..", name).replace("service/src/", "") : name;
    return { file, room: roomOf(file), target, isType: type !== undefined };
  }),
);

const isOurs = ({ target }: Import): boolean => target.endsWith(".ts") || target.endsWith(".json");

/** The folders that each folder may import, besides itself. */
const ROOMS: Record<string, readonly string[]> = {
  runtime: ["edge", "entitlement", "store", "postgres", "primitives"],
  manage: ["webhooks", "edge", "entitlement", "store", "postgres", "primitives"],
  webhooks: ["store", "postgres", "primitives"],
  jobs: ["edge", "entitlement", "store", "postgres", "primitives"],
  edge: ["primitives", "store/control"],
  entitlement: ["primitives"],
  store: ["postgres", "primitives"],
  postgres: ["primitives"],
  primitives: [],
};

/** Packages that a folder may import. Folders not listed are unrestricted. */
const PACKAGES: Record<string, RegExp> = {
  entitlement: /^(node:crypto|canonicalize)$/,
  store: /^$/,
  postgres: /^(pg|node:.*)$/,
  primitives: /^node:/,
};

test("the import pattern matches every import", () => {
  const lines = source.flatMap((file) => read(file).match(/( from |^import )"[^"]+";$|\bimport\("/gm) ?? []);
  expect(imports).toHaveLength(lines.length);
});

test("every folder is in the table and imports only allowed folders", () => {
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

test("there are no import cycles, including type imports", () => {
  const files = glob("{service/src,dashboard/src,proof}/**/*.{ts,tsx}");
  const graph = new Map(files.map((file) => [file, new Set(ownImportsOf(file))]));
  expect(graph.size).toBeGreaterThan(700);
  // Removes files that are in no cycle: they import none of the remaining files, or none of the remaining files imports them.
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

test("packages are imported only where allowed: pg in postgres and commands", () => {
  const broken = imports.filter((found) => {
    if (isOurs(found)) return false;
    const { file, room, target } = found;
    if (target === "pg" && room !== "postgres" && !file.startsWith("service/src/commands/")) return true;
    return PACKAGES[room] !== undefined && !PACKAGES[room].test(target);
  });
  expect(broken).toEqual([]);
});

test("tracing code is loaded only on demand, so that it costs nothing when tracing is off", () => {
  const loading = imports.filter(({ target, isType }) => target === "edge/tracing.ts" && !isType);
  expect(loading.map(({ file }) => file)).toEqual(["service/src/service.ts"]);
  expect(read("service/src/service.ts")).not.toMatch(/^import .*edge\/tracing\.ts"/m);
  const packages = imports.filter(({ target }) => target.startsWith("@opentelemetry/"));
  expect([...new Set(packages.map(({ file }) => file))]).toEqual(["service/src/edge/tracing.ts"]);
});

/** Lines of `files` that match, as `file:line`. Files in `except` are skipped. */
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

test("only config.ts and the test setup read environment variables", () => {
  const files = glob("service/**/*.ts");
  expect(findLines(files, /process\.env\b/, ["src/config.ts", "test/"])).toEqual([]);
});

test("SQL is only in store, postgres, commands and migrations", () => {
  const SQL =
    /\bselect\b.*\bfrom\b|\binsert into\b|\bdelete from\b|\bupdate [a-z_.]+ set\b|\b(create|alter|drop) (table|index|schema)\b|\bstatement\(|\.query\(/i;
  expect(findLines(source, SQL, ["src/store/", "src/postgres/", "src/commands/"])).toEqual([]);
});

test("statement names are unique, because a connection prepares each name once", () => {
  const names = source
    .filter((file) => file.startsWith("service/src/store/") || file.startsWith("service/src/postgres/"))
    .flatMap((file) => [...read(file).matchAll(/\bstatement\(\s*"([^"]+)"/g)].map(([, name]) => name));
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("the process clock is read only in the listed files", () => {
  const agreed = [
    "src/primitives/timestamp.ts",
    "src/primitives/clocks-agree.ts",
    "src/entitlement/period.ts",
    "src/edge/request-id.ts",
    "src/edge/tracing.ts",
    "src/commands/doctor.ts",
  ];
  expect(findLines(source, /new Date\(|Date\.now\b/, agreed)).toEqual([]);
});

test("migrations are numbered without a gap, and their first line gives the reason", () => {
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

test("there are no open task comments and no default exports", () => {
  expect(findLines(everything, /TO[D]O|FIX[M]E/)).toEqual([]);
  expect(findLines(everything, /^export default\b/)).toEqual([]);
});

test("file names are specific and in kebab case", () => {
  expect(everything.filter((file) => /\b(utils?|helpers?|common|misc)\b/.test(file))).toEqual([]);
  expect(everything.filter((file) => !/^[a-z0-9./-]+$/.test(file))).toEqual([]);
});

test("every error code has a documentation page, and every page has an error code", () => {
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
