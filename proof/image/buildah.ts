import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { THIS_TREE } from "../harness/purser.ts";

const run = promisify(execFile);

/** Needs neither a daemon nor permission to start containers. */
const BUILDAH = ["--storage-driver", "vfs"];
const ENVIRONMENT = { ...process.env, BUILDAH_ISOLATION: "chroot" };
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs a command of buildah and returns its output. */
export async function buildah(...args: readonly string[]): Promise<string> {
  const options = { env: ENVIRONMENT, maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await run("buildah", [...BUILDAH, ...args], options);
  return stdout.trim();
}

/** Builds deploy/Dockerfile. The Docker format keeps the health check. */
export async function buildImage(name: string, revision: string): Promise<void> {
  const npmrc = join(homedir(), ".npmrc");
  // Uses this machine's npm settings, such as a mirror. The mount leaves nothing in the image.
  const settings = existsSync(npmrc) ? ["--volume", `${npmrc}:/root/.npmrc:ro`] : [];
  const output = ["--format", "docker", "--layers=false", "--tag", name];
  const file = ["--file", join(THIS_TREE, "deploy/Dockerfile"), "--build-arg", `REVISION=${revision}`];
  await buildah("build", "--network", "host", ...settings, ...output, ...file, THIS_TREE);
}

export type ImageConfig = {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly ExposedPorts: object;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck?: { readonly Test: readonly string[] };
};

type Inspected = {
  readonly FromImage: string;
  readonly Docker: {
    readonly config: ImageConfig;
    readonly history: readonly { readonly created_by?: string }[];
  };
};

export async function inspectImage(name: string): Promise<Inspected> {
  return JSON.parse(await buildah("inspect", "--type", "image", name));
}

/** The image's file tree on this machine. The stack removes it. */
export async function mountImage(name: string, stack: AsyncDisposableStack): Promise<string> {
  const container = await buildah("from", "--pull-never", name);
  stack.defer(async () => {
    await buildah("rm", container);
  });
  return buildah("mount", container);
}

/**
 * Mounts the tree read-only and changes into it, as the image's user, in a separate mount namespace that ends with the process.
 * Docker's `--read-only` has the same effect on files. Docker's resource limits and system call filter are not applied.
 */
const JAIL = `
mount --bind "$1" "$1"
mount --bind /proc "$1/proc"
mount --bind /dev "$1/dev"
mount -o remount,bind,ro "$1"
exec chroot --userspec="$2" "$1" /usr/bin/env --chdir=/purser "\${@:3}"`;

/** Starts a command of the image on its read-only tree, with the image's environment and these settings only. */
export function spawnInside(
  { tree, config }: { tree: string; config: ImageConfig },
  command: readonly string[],
  settings: Readonly<Record<string, string>> = {},
) {
  const variables = [...config.Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)];
  const args = ["--mount", "bash", "-euc", JAIL, "jail", tree, config.User, "-i", ...variables, ...command];
  return spawn("unshare", args, { stdio: ["ignore", "pipe", "pipe"] });
}
