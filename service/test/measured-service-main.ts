import { readConfig } from "../src/config.ts";
import { openLog } from "../src/edge/log.ts";
import { startService } from "../src/service.ts";

export type Question = { readonly kind: "cpu" } | { readonly kind: "parse"; readonly text: string };
export type Answer = { readonly micros: number };

const PARSE_ROUNDS = 7;

const config = readConfig();
const service = await startService(config, openLog(config.logLevel));
process.on("message", (question: Question) => {
  process.send?.({ micros: question.kind === "cpu" ? cpuMicros() : parseMicros(question.text) });
});
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
process.send?.({ url: service.url });

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The processor time of one parse: the median of several rounds. */
function parseMicros(text: string): number {
  const rounds = Array.from({ length: PARSE_ROUNDS }, () => {
    const before = cpuMicros();
    parse(text);
    return cpuMicros() - before;
  });
  return rounds.sort((a, b) => a - b)[PARSE_ROUNDS >> 1] ?? 0;
}

function parse(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    // Invalid JSON is parsed up to the error.
  }
}
