import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { THIS_TREE } from "./purser.ts";

const run = promisify(execFile);

export type OtherTree = { readonly directory: string; readonly commit: string };

/** Checks out another commit into a temporary git worktree and installs the packages of its lockfile. */
export async function checkOut(revision: string, stack: AsyncDisposableStack): Promise<OtherTree> {
  const commit = await git("rev-parse", "--verify", "--quiet", `${revision}^{commit}`).catch(() => {
    throw new Error(`${revision} is not a commit of this repository`);
  });
  const parent = await mkdtemp(join(tmpdir(), "purser-against-"));
  const directory = join(parent, "tree");
  stack.defer(() => rm(parent, { recursive: true, force: true }));
  await git("worktree", "add", "--detach", directory, commit);
  stack.defer(async () => {
    await git("worktree", "remove", "--force", directory);
  });
  await installPackages(directory);
  return { directory, commit };
}

/** Links the packages of this tree if both lockfiles are the same. */
async function installPackages(directory: string): Promise<void> {
  const lockfiles = [THIS_TREE, directory].map((tree) => readFile(join(tree, "package-lock.json"), "utf8"));
  const [ours, theirs] = await Promise.all(lockfiles);
  if (ours === theirs) await symlink(join(THIS_TREE, "node_modules"), join(directory, "node_modules"));
  else await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: directory });
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run("git", ["-C", THIS_TREE, ...args])).stdout.trim();
}
