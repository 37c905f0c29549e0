import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseAllDocuments } from "yaml";
import { runProof } from "../harness/command.ts";
import { THIS_TREE } from "../harness/purser.ts";
import { CHART, MANIFEST, renderChart, renderManifest } from "./manifest.ts";
import { findHelm, findKubectl, findSchemas, run } from "./tools.ts";

const UNITS = join(THIS_TREE, "deploy/systemd");
/** From 0 (safest) to 10, as `systemd-analyze security` computes it. */
const EXPOSURE_MAX = 1.5;

type Resource = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
};

await runProof(
  {
    command: "npm run deploy-proof",
    about: `Lints and renders the Helm chart with Helm, with its defaults and with everything turned on. Validates all resources against the
schemas of Kubernetes and the Prometheus operator, including unknown fields. Compares deploy/kubernetes/purser.yaml with the chart, renders
its kustomization.yaml, and checks the systemd unit. Needs Linux on amd64, and Debian's package systemd.`,
    options: {},
  },
  async () => {
    const faults: string[] = [];
    const full = ["--values", join(CHART, "ci/full-values.yaml")];
    const secret = ["--set", "database.existingSecret=purser-database"];
    for (const values of [secret, full]) await run(await findHelm(), ["lint", "--strict", CHART, ...values]);

    const manifest = await renderManifest();
    if ((await readFile(MANIFEST, "utf8")) !== manifest)
      faults.push("deploy/kubernetes/purser.yaml is not what the chart renders: run npm run manifest");
    const kustomized = await run(await findKubectl(), ["kustomize", dirname(MANIFEST)]);
    faults.push(...inspectKustomized(kustomized));
    const resources = [manifest, kustomized, await renderChart(full)].flatMap(readResources);
    faults.push(...(await validate(resources)));

    const withoutSecret = await renderChart([]).catch((error: Error) => error.message);
    if (!withoutSecret.includes("database.existingSecret is required"))
      faults.push("the chart renders without a Secret for the database");

    const exposure: Record<string, number> = {};
    await run("systemd-analyze", ["verify", join(UNITS, "purser-verify.timer")]);
    for (const unit of ["purser.service", "purser-verify.service"]) {
      await run("systemd-analyze", ["verify", join(UNITS, unit)]);
      const report = await run("systemd-analyze", [
        "security",
        "--offline=true",
        "--no-pager",
        join(UNITS, unit),
      ]);
      const level = Number(/exposure level for \S+: ([\d.]+)/.exec(report)?.[1]);
      if (!(level <= EXPOSURE_MAX)) faults.push(`${unit} has an exposure level of ${level}`);
      exposure[unit] = level;
    }

    const kinds = [...new Set(resources.map(({ kind }) => kind))].sort();
    console.log(
      `${resources.length} resources of ${kinds.length} kinds; exposure: ${JSON.stringify(exposure)}`,
    );
    return { faults, figures: { resources: resources.length, kinds, exposure } };
  },
);

function readResources(text: string): Resource[] {
  // Kubernetes reads YAML 1.1, in which 0440 is octal.
  return parseAllDocuments(text, { version: "1.1" }).map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS() as Resource;
  });
}

/** kustomization.yaml must set PUBLIC_URL and every image. */
function inspectKustomized(text: string): string[] {
  const images = [...text.matchAll(/^ *image: (\S+)$/gm)].map(([, image = ""]) => image);
  const others = images.filter((image) => !/^registry\.example\.com\/purser:\d/.test(image));
  return [
    ...(images.length > 0 && others.length === 0
      ? []
      : [`kustomization.yaml does not set the images: ${others}`]),
    ...(/name: PUBLIC_URL\n *value: https:/.test(text) ? [] : ["kustomization.yaml sets no PUBLIC_URL"]),
  ];
}

type Model = new (content: object) => { validate(): void };

/** Checks values with the packages' validators, and unknown fields with the compiler, because the validators accept them. */
async function validate(resources: readonly Resource[]): Promise<string[]> {
  const directory = await findSchemas();
  const faults: string[] = [];
  const lines: string[] = [];
  const check = async (resource: Resource): Promise<string | null> => {
    const file = pathToFileURL(join(directory, "node_modules", moduleOf(resource), "index.js")).href;
    const Kind = ((await import(file)) as Record<string, Model>)[resource.kind];
    if (Kind === undefined) return "the kind is unknown";
    try {
      new Kind(resource).validate();
      return null;
    } catch (error) {
      return String(error);
    }
  };
  for (const [index, resource] of resources.entries()) {
    const fault = await check(resource);
    if (fault !== null) faults.push(`${resource.kind} ${resource.metadata.name}: ${fault}`);
    const type = `import("${moduleOf(resource)}").I${resource.kind}`;
    lines.push(`export const resource${index}: ${type} = ${JSON.stringify(resource, null, 2)};`);
  }
  // Tests that both checks detect wrong values.
  const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "wrong" } };
  if ((await check({ ...budget, spec: { maxUnavailable: true } } as Resource)) === null)
    faults.push("a wrong value was accepted");
  lines.push(
    `// @ts-expect-error`,
    `export const wrong: import("kubernetes-models/policy/v1").IPodDisruptionBudget = ${JSON.stringify({ ...budget, spec: { maxUnavailble: 1 } })};`,
  );
  await writeFile(join(directory, "check.ts"), `${lines.join("\n")}\n`);
  const options = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--types",
    "",
  ];
  await run(join(THIS_TREE, "node_modules/.bin/tsc"), [...options, "check.ts"], directory).catch(
    (error: Error) => faults.push(error.message),
  );
  return faults;
}

/** `apps/v1` → `kubernetes-models/apps/v1` */
function moduleOf({ apiVersion }: Resource): string {
  const isOperator = apiVersion.startsWith("monitoring.coreos.com/");
  return `${isOperator ? "@kubernetes-models/prometheus-operator" : "kubernetes-models"}/${apiVersion}`;
}
