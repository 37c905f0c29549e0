import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { THIS_TREE } from "../harness/purser.ts";

export type ComposeService = {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
};

export type ComposeFile = {
  readonly lines: number;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: object;
};

/** Reads deploy/compose.yaml as Compose does when neither the environment nor an `.env` file sets a variable. */
export function readComposeFile(): ComposeFile {
  const source = readFileSync(join(THIS_TREE, "deploy/compose.yaml"), "utf8");
  const { services, volumes } = parse(source, (_, value) => interpolate(value), { merge: true });
  return { lines: source.trimEnd().split("\n").length, services, volumes };
}

function interpolate(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value.replaceAll(/\$\$|\$\{\w+:-([^}]*)\}|\$/g, (found, fallback: string | undefined) => {
    if (found === "$$") return "$";
    if (fallback === undefined) throw new Error(`this variable has no default: ${value}`);
    return fallback;
  });
}

/** The names of the services. Each comes after its dependencies. */
export function startOrder({ services }: Pick<ComposeFile, "services">): string[] {
  const order: string[] = [];
  const visit = (name: string): void => {
    if (order.includes(name)) return;
    for (const other of Object.keys(services[name]?.depends_on ?? {})) visit(other);
    order.push(name);
  };
  for (const name of Object.keys(services)) visit(name);
  return order;
}

/** Settings that the image sets with `ENV`. */
export function readImageEnvironment(): Record<string, string> {
  const source = readFileSync(join(THIS_TREE, "deploy/Dockerfile"), "utf8");
  const pairs = [...source.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = ""]) => line.split(" "));
  return Object.fromEntries(pairs.map((pair) => pair.split("=", 2)));
}
