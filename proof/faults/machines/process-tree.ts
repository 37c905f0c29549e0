import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const STOP_LOOKS_MAX = 1_000;

/**
 * Kills a process and all that it started with SIGKILL, and returns their ids. Each is stopped first, so that it
 * cannot fork a child that nobody counted. Thorough and slow: for cleaning up.
 */
export function killTree(pid: number): number[] {
  signal(pid, "SIGSTOP");
  for (let look = 0; look < STOP_LOOKS_MAX && !isStill(pid); look++);
  const below = listChildren(pid).flatMap(killTree);
  signal(pid, "SIGKILL");
  return [pid, ...below];
}

export function listChildren(parent: number): number[] {
  return listAll().filter((pid) => findStat(pid)?.parent === parent);
}

/** Zombies have no working directory any more, and are not among them. */
export function listWorkingIn(directory: string): number[] {
  return listAll().filter((pid) => findWorkingDirectory(pid) === directory);
}

export function killAll(pids: readonly number[]): void {
  for (const pid of pids) signal(pid, "SIGKILL");
}

/** A zombie counts as gone: it holds neither memory nor files, and only waits for its parent to notice. */
export function isGone(pid: number): boolean {
  const stat = findStat(pid);
  return stat === null || stat.state === "Z" || stat.state === "X";
}

function listAll(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function findWorkingDirectory(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function isStill(pid: number): boolean {
  return isGone(pid) || findStat(pid)?.state === "T";
}

function findStat(pid: number): { state: string; parent: number } | null {
  try {
    // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

function signal(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}
