import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { THIS_TREE } from "../harness/purser.ts";
import { findHelm, run } from "./tools.ts";

export const CHART = join(THIS_TREE, "deploy/helm/purser");
export const MANIFEST = join(THIS_TREE, "deploy/kubernetes/purser.yaml");

const HEAD = `# Made from deploy/helm/purser by npm run manifest. Do not edit it: put your values into kustomization.yaml.
# Before the first use: kubectl create namespace purser, and the Secret purser-database. See docs/operations/kubernetes.md.
`;

/** The chart with the given options of Helm. */
export async function renderChart(options: readonly string[]): Promise<string> {
  return run(await findHelm(), ["template", "purser", CHART, "--namespace", "purser", ...options]);
}

/** The manifest for kubectl: the chart's defaults, without what only Helm understands. */
export async function renderManifest(): Promise<string> {
  const rendered = await renderChart(["--set", "database.existingSecret=purser-database"]);
  const lines = rendered
    .split("\n")
    .filter((line) => !/^# Source: |^ *helm\.sh\/|managed-by: Helm$/.test(line))
    .join("\n")
    // The annotations of the job were hooks only.
    .replace(/^ {2}annotations:\n(?=\S)/gm, "")
    .replace(/^( *)name: purser(\S*)\n {2}labels:/gm, "$1name: purser$2\n$1namespace: purser\n  labels:");
  return `${HEAD}${lines}`;
}

if (import.meta.main) await writeFile(MANIFEST, await renderManifest());
