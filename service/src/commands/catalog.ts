import { readFile } from "node:fs/promises";
import type { ClientConfig } from "../config.ts";
import { describeChanges, type ListedChange } from "./catalog-changes.ts";

export type CatalogOptions = {
  readonly client: ClientConfig;
  /** Null to export. */
  readonly file: string | null;
  readonly project?: string | undefined;
  readonly environment: string;
  readonly reach: string;
  readonly "dry-run": boolean;
  readonly "archive-missing": boolean;
  readonly print: (line: string) => void;
};

/** Exports or applies a catalog file through the management API of a running service. */
export async function catalogCommand(options: CatalogOptions): Promise<void> {
  const { file, project, environment } = options;
  if (project === undefined) throw new Error("choose a project with --project ID");
  if (environment !== "test" && environment !== "live")
    throw new Error(`--environment must be test or live, not ${JSON.stringify(environment)}`);
  const path = `/manage/v1/projects/${encodeURIComponent(project)}/${environment}/catalog`;
  if (file !== null) return applyFile(options, path, file);
  options.print(JSON.stringify(await call(options, "GET", path), null, 2));
}

/** Prints what the file changes, then applies it unless the catalog has changed in between. */
async function applyFile(options: CatalogOptions, path: string, file: string): Promise<void> {
  const { print, reach, environment } = options;
  const body = { catalog: await readJson(file), reach, archiveMissing: options["archive-missing"] };
  const { version, changes } = await call<Diff>(options, "POST", `${path}/diff`, body);
  for (const line of describeChanges(changes)) print(line);
  if (options["dry-run"] || changes.every(({ change }) => change === "unchanged")) return;
  const expected = { ...body, expectedVersion: version };
  const applied = await call<Diff>(options, "POST", `${path}/apply`, expected);
  print(`Applied. The ${environment} catalog is at version ${applied.version}.`);
}

type Diff = { readonly version: number; readonly changes: readonly ListedChange[] };

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function call<T>(
  options: CatalogOptions,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<T> {
  const { url, token } = options.client;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Error(`cannot reach ${url} (PURSER_URL)`, { cause: error });
  });
  const text = await response.text();
  if (!response.ok) {
    const hint = response.status === 404 ? `\n${describeScope(options)}` : "";
    throw new Error(`${describeProblem(response.status, text)}${hint}`);
  }
  return JSON.parse(text);
}

/** The service returns the same response for a missing scope and for one that the token cannot access. */
function describeScope({ project, environment }: CatalogOptions): string {
  return (
    `Tried project ${project}, environment ${environment}. The token may lack access to it: ` +
    "choose another with --project and --environment, or use another token."
  );
}

type Problem = {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
};

function describeProblem(status: number, text: string): string {
  if (!text.startsWith("{")) return `the service returned ${status}`;
  const { code, detail, errors = [] }: Problem = JSON.parse(text);
  const more = errors.slice(1).map(({ field, message }) => `\n  \`${field}\` ${message}`);
  return `${code}: ${detail}${more.join("")}`;
}
