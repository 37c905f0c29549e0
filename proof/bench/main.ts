import { parseArgs } from "node:util";
import { benchCredits } from "./credits.ts";
import { PARTS } from "./credits-round.ts";
import { benchEvents } from "./events.ts";

const HELP = `npm run bench -- [events] [options]

Charges, checks and events over HTTP beside bare PostgreSQL writing the same facts, one transaction each, on one
server in one run. "events" measures events alone, with more figures.
Needs pgbench and wrk (Debian: apt-get install postgresql-15 wrk).

  --only PART      only this of ${PARTS.join(", ")}; may be given several times.
                   Without it, all of them, and at the end every wallet is verified
  --seconds N      length of each measurement (10)
  --rounds N       measurements of each side, taken in turns; the median counts (3)
  --connections N  connections to Purser (128)
  --json           the last line is JSON
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string", multiple: true, default: [] },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "128" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Once interrupted, everything is stopped before this program ends, and what fails meanwhile is no news. */
let interruption: Promise<void> | null = null;

async function main(): Promise<void> {
  const [bench = "credits", ...rest] = positionals;
  const unknown = values.only.filter((name) => !PARTS.some((part) => part === name));
  if (values.help || rest.length > 0 || !/^(credits|events)$/.test(bench) || unknown.length > 0) {
    console.log(HELP);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      interruption = stack.disposeAsync().finally(() => process.exit(130));
    });
  }
  const options = {
    seconds: readCount("seconds"),
    rounds: readCount("rounds"),
    connections: readCount("connections"),
    print: (line: string) => console.log(line),
    stack,
  };
  const parts = PARTS.filter((part) => values.only.length === 0 || values.only.includes(part));
  const result =
    bench === "events"
      ? await benchEvents(options)
      : await benchCredits({ ...options, parts: new Set(parts) });
  if (values.json) console.log(JSON.stringify(result));
}

function readCount(name: "seconds" | "rounds" | "connections"): number {
  const count = Number(values[name]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} takes a number, not ${values[name]}`);
  return count;
}

main().catch(async (error: unknown) => {
  await interruption;
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
