/** A catalog change, as the management API returns it. */
export type ListedChange = {
  readonly noun: string;
  readonly key: string;
  readonly change: "create" | "change" | "archive" | "unchanged";
  readonly before: unknown;
  readonly after: unknown;
};

const SIGNS = { create: "+", change: "~", archive: "-", unchanged: " " } as const;
const NAMES: Readonly<Record<string, string>> = { event_key: "event key", default_plan: "default plan" };

/** Lists every changed value. Unchanged items are only counted. */
export function describeChanges(changes: readonly ListedChange[]): string[] {
  const lines = changes.flatMap((listed) => {
    const { noun, key, change, before, after } = listed;
    if (change === "unchanged") return [];
    const name = noun === "default_plan" ? "" : ` ${key}`;
    const values = compareValues(flatten(before), flatten(after));
    return [`${SIGNS[change]} ${NAMES[noun] ?? noun}${name}`, ...values.map((line) => `    ${line}`)];
  });
  const unchanged = changes.filter(({ change }) => change === "unchanged").length;
  return [...lines, `${changes.length - unchanged} to change, ${unchanged} unchanged`];
}

type Values = ReadonlyMap<string, string>;

function compareValues(before: Values, after: Values): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths.flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    if (was === is) return [];
    if (was === undefined) return [`${path}: ${is}`];
    return is === undefined ? [`${path}: ${was} -> removed`] : [`${path}: ${was} -> ${is}`];
  });
}

/** `{allowances: [{pool: "credits", credits: 5}]}` becomes `allowances.credits.credits: 5`, because list items are named by key. A list of numbers stays one value. */
function flatten(value: unknown, path = ""): Map<string, string> {
  if (typeof value !== "object" || value === null) {
    return new Map(path === "" ? [] : [[path, JSON.stringify(value)]]);
  }
  if (Array.isArray(value) && value.some((item) => typeof item === "number"))
    return new Map([[path, JSON.stringify(value)]]);
  const members = Array.isArray(value)
    ? value.map((item, index) => [nameOf(item) ?? String(index), withoutName(item)] as const)
    : Object.entries(value).filter(([field]) => field !== "key");
  return new Map(
    members.flatMap(([field, member]) => [...flatten(member, path === "" ? field : `${path}.${field}`)]),
  );
}

type Item = { readonly feature?: string; readonly pool?: string };

/** Prefers the feature key, because a plan's features also have a pool. */
function nameOf({ feature, pool }: Item): string | undefined {
  return feature ?? pool;
}

function withoutName({ feature, pool, ...rest }: Item): object {
  return feature === undefined ? rest : { pool, ...rest };
}
