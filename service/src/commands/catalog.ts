import { readFile } from "node:fs/promises";
import { callService, environmentPath, type ServiceOptions } from "./call-service.ts";
import { describeChanges, type ListedChange } from "./catalog-changes.ts";

export type CatalogOptions = ServiceOptions & {
  /** The file to apply. Null to export the catalog. */
  readonly file: string | null;
  readonly reach: string;
  readonly "dry-run": boolean;
  readonly "archive-missing": boolean;
};

/** Exports or applies a catalog file through the management API of a running service. */
export async function catalogCommand(options: CatalogOptions): Promise<void> {
  const { file } = options;
  const path = `${environmentPath(options)}/catalog`;
  if (file !== null) return applyFile(options, path, file);
  options.print(JSON.stringify(await callService(options, "GET", path), null, 2));
}

/** Prints the changes, then applies them. Fails if the catalog has changed since the comparison. */
async function applyFile(options: CatalogOptions, path: string, file: string): Promise<void> {
  const { print, reach, environment } = options;
  const body = { catalog: await readJson(file), reach, archiveMissing: options["archive-missing"] };
  const { version, changes } = await callService<Diff>(options, "POST", `${path}/diff`, body);
  for (const line of describeChanges(changes)) print(line);
  if (options["dry-run"] || changes.every(({ change }) => change === "unchanged")) return;
  const expected = { ...body, expectedVersion: version };
  const applied = await callService<Diff>(options, "POST", `${path}/apply`, expected);
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
