import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { endProcess, THIS_TREE } from "../harness/purser.ts";
import { steadyPort } from "../harness/steady-port.ts";

const FOLDER = join(THIS_TREE, "deploy/observability");
const READY_WITHIN_MS = 60_000;
const POLL_MS = 200;

/** Speed-up factor. The rules expect a scrape every 15 s, and this proof scrapes every second. */
export const SPEED = 15;

type Answer = { data: { alerts: { state: string; labels: Record<string, string> }[] } };

/** A Prometheus that scrapes one process, with the alert rules of this repository. */
export class Prometheus {
  readonly #url: string;

  static async start(stack: AsyncDisposableStack, target: string): Promise<Prometheus> {
    const directory = await mkdtemp(join(tmpdir(), "purser-prometheus-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const rules = await readFile(join(FOLDER, "alerts.yaml"), "utf8");
    await writeFile(join(directory, "alerts.yaml"), speedUp(rules));
    await writeFile(
      join(directory, "prometheus.yml"),
      `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: purser
    static_configs: [{ targets: ["${target}"] }]
`,
    );
    await promtool("check", "config", join(directory, "prometheus.yml"));
    const address = `127.0.0.1:${await steadyPort()}`;
    const child = spawn(
      "prometheus",
      [
        `--config.file=${join(directory, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(directory, "data")}`,
        `--web.listen-address=${address}`,
        "--log.level=error",
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    stack.defer(() => endProcess(child));
    const errors = text(child.stderr);
    const prometheus = new Prometheus(`http://${address}`);
    for (let waitedMs = 0; waitedMs < READY_WITHIN_MS; waitedMs += POLL_MS) {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${await errors}`);
      const isReady = await fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) return prometheus;
      await pause(POLL_MS);
    }
    throw new Error("Prometheus was not ready in time");
  }

  private constructor(url: string) {
    this.#url = url;
  }

  async firing(): Promise<string[]> {
    const { data } = (await (await fetch(`${this.#url}/api/v1/alerts`)).json()) as Answer;
    const names = data.alerts
      .filter(({ state }) => state === "firing")
      .map(({ labels }) => labels["alertname"]);
    return [...new Set(names)].filter((name) => name !== undefined).sort();
  }

  /** Returns the seconds until all of these alerts fire, or until none of them fires. Throws after `secondsMax`. */
  async until(names: readonly string[], are: "firing" | "quiet", secondsMax: number): Promise<number> {
    const startMs = performance.now();
    for (;;) {
      const firing = await this.firing();
      const isReached = names.every((name) => firing.includes(name) === (are === "firing"));
      const seconds = (performance.now() - startMs) / 1_000;
      if (isReached) return seconds;
      if (seconds > secondsMax)
        throw new Error(
          `not ${are} after ${secondsMax} s: ${names.join(", ")}; firing: ${firing.join(", ")}`,
        );
      await pause(POLL_MS);
    }
  }
}

/** Divides every duration in the rules (`for`, ranges and offsets) by the speed-up factor. */
export function speedUp(rules: string): string {
  const DURATION = /(for: |\[|offset )(\d+)m\b/g;
  return rules.replace(DURATION, (_, before, minutes) => `${before}${(Number(minutes) * 60) / SPEED}s`);
}

/** Checks the rules' syntax and runs their unit tests. */
export async function checkRules(): Promise<void> {
  await promtool("check", "rules", join(FOLDER, "alerts.yaml"));
  await promtool("test", "rules", join(FOLDER, "alerts.test.yaml"), join(FOLDER, "alerts-days.test.yaml"));
}

async function promtool(...args: readonly string[]): Promise<void> {
  await promisify(execFile)("promtool", args).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`promtool ${args.join(" ")} failed: ${error.stdout ?? ""}${error.stderr ?? ""}`);
  });
}
