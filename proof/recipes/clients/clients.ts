import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Run, runProgram } from "../run-program.ts";

const RECIPE = join(import.meta.dirname, "../../../docs/recipes/clients");
const DRIVERS = join(import.meta.dirname, "drivers");

/** The file names of the clients. */
export const CLIENTS = ["purser.ts", "purser.py", "purser.go", "purser.sh"] as const;
export type Client = (typeof CLIENTS)[number];

export function readClient(client: Client): string {
  return readFileSync(join(RECIPE, client), "utf8");
}

/** Runs the driver of a client in a separate process. */
export function runClient(
  client: Client,
  env: { readonly PURSER_URL: string; readonly PURSER_KEY: string },
  args: readonly string[],
): Promise<Run> {
  const [command = "", ...fixed] = COMMANDS[client]();
  return runProgram(command, [...fixed, ...args], env);
}

const COMMANDS: Readonly<Record<Client, () => readonly string[]>> = {
  "purser.ts": () => [process.execPath, join(DRIVERS, "driver.ts")],
  "purser.py": () => ["python3", join(DRIVERS, "driver.py")],
  "purser.go": () => [buildGo()],
  "purser.sh": () => ["sh", join(DRIVERS, "driver.sh")],
};

let goProgram: string | null = null;

/** Compiles the client as a package in a new module, as in a user's project. */
function buildGo(): string {
  if (goProgram !== null) return goProgram;
  const directory = mkdtempSync(join(tmpdir(), "purser-go-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "purser"));
  writeFileSync(join(directory, "go.mod"), "module recipe\n\ngo 1.18\n");
  copyFileSync(join(RECIPE, "purser.go"), join(directory, "purser/purser.go"));
  copyFileSync(join(DRIVERS, "driver.go"), join(directory, "main.go"));
  for (const args of [
    ["vet", "./..."],
    ["build", "-o", "driver", "."],
  ]) {
    const { status, stderr } = spawnSync("go", args, { cwd: directory, encoding: "utf8" });
    if (status !== 0) throw new Error(`go ${args.join(" ")}: ${stderr}`);
  }
  goProgram = join(directory, "driver");
  return goProgram;
}
