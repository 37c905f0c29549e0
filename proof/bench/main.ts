import { parseArgs } from "node:util";
import { benchAgainst, COMPARED } from "./against.ts";
import { benchCredits } from "./credits.ts";
import { PARTS } from "./credits-round.ts";
import { benchEvents } from "./events.ts";
import { RATIO_MIN, VALUES_MIN, type Verdict } from "./median-interval.ts";

const HELP = `npm run bench -- [events] [options]
npm run bench -- --against COMMIT [options]

Charges, checks and events over HTTP beside bare PostgreSQL writing the same facts, one transaction each, on one
server in one run. "events" measures events alone, with more figures.
--against compares this tree, as it lies on disk, with another commit: two services on one server, loaded at the same time.
"not slower" means that the lower end of the 95 % interval of the median ratio is at least ${RATIO_MIN}.
Exit code 0: not slower; 1: slower, or failed; 3: cannot tell, because the interval is too wide.
Needs pgbench and wrk (Debian: apt-get install postgresql-15 wrk).

  --only PART      only this of ${PARTS.join(", ")}; may be given several times.
                   Without it, all of them, and at the end every wallet is verified.
                   With --against: of ${COMPARED.join(", ")}
  --seconds N      length of each measurement (10; with --against 3)
  --rounds N       measurements of each side, taken in turns; the median counts (3)
  --pairs N        with --against: measurements of both trees (40)
  --connections N  connections to Purser (128)
  --json           the last line is JSON
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: "string" },
    pairs: { type: "string", default: "40" },
    only: { type: "string", multiple: true, default: [] },
    seconds: { type: "string" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "128" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const EXIT_CODES = { "not slower": 0, slower: 1, "cannot tell": 3 } satisfies Record<Verdict, number>;

/** Once interrupted, everything is stopped before this program ends, and what fails meanwhile is no news. */
let interruption: Promise<void> | null = null;

async function main(): Promise<void> {
  const [bench = "credits", ...rest] = positionals;
  const { against } = values;
  const known: readonly string[] = against === undefined ? PARTS : COMPARED;
  const unknown = values.only.filter((name) => !known.includes(name));
  const isWrong = rest.length > 0 || !/^(credits|events)$/.test(bench) || unknown.length > 0;
  if (values.help || isWrong || (against !== undefined && positionals.length > 0)) {
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
    seconds: readCount("seconds", values.seconds ?? (against === undefined ? "10" : "3")),
    rounds: readCount("rounds", values.rounds),
    connections: readCount("connections", values.connections),
    print: (line: string) => console.log(line),
    stack,
  };
  const isAsked = (part: string): boolean => values.only.length === 0 || values.only.includes(part);
  if (against !== undefined) {
    const pairs = readCount("pairs", values.pairs);
    if (pairs < VALUES_MIN)
      throw new Error(`--pairs takes ${VALUES_MIN} or more: fewer have no 95 % interval`);
    const parts = new Set(COMPARED.filter(isAsked));
    const result = await benchAgainst({ ...options, revision: against, pairs, parts });
    if (values.json) console.log(JSON.stringify(result));
    process.exitCode = EXIT_CODES[result.verdict];
    return;
  }
  const result =
    bench === "events"
      ? await benchEvents(options)
      : await benchCredits({ ...options, parts: new Set(PARTS.filter(isAsked)) });
  if (values.json) console.log(JSON.stringify(result));
}

function readCount(name: string, value: string): number {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} takes a number, not ${value}`);
  return count;
}

main().catch(async (error: unknown) => {
  await interruption;
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
