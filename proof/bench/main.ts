import { CUSTOMERS } from "../harness/calls.ts";
import { runProof, toCount } from "../harness/command.ts";
import { benchAgainst, benchWebhook, COMPARED } from "./against.ts";
import { RATIO_MIN, VALUES_MIN, type Verdict } from "./median-interval.ts";
import { benchAll, benchEvents, PARTS } from "./rounds.ts";
import { benchSize, VARIANTS, type Variant } from "./size.ts";
import { benchTail } from "./tail.ts";

const EXIT_CODES = { "not slower": 0, slower: 1, "cannot tell": 3 } satisfies Record<Verdict, number>;
const SECONDS = { alone: 10, against: 3 };

await runProof(
  {
    command: "npm run bench -- [events | size | tail | webhook]",
    about: `Measures charges, checks and events over HTTP, and bare PostgreSQL writing the same data in one transaction per charge or
event, alternately on one server. "events" measures events alone, with more figures.
"size" measures charges with many customers and stored keys, and the WAL of each table and index.
"tail" measures latency at half of the peak rate, and draws where slow charges spend their time.
"webhook" compares charges with a webhook and thresholds with charges without, like --against. They may be 5% slower.
--against compares this working tree with another commit: two services on one server, loaded at the same time.
"not slower" means that the lower end of the 95% interval of the median ratio is at least ${RATIO_MIN}.
Exit code 0: not slower; 1: slower, or failed; 3: cannot tell, because the interval is too wide.
Needs pgbench and wrk (Debian: apt-get install postgresql-15 wrk).`,
    options: {
      against: { default: null, takes: "COMMIT", help: "compare with this commit" },
      only: {
        default: [],
        takes: "PART",
        help: `measure only this part: ${PARTS.join(", ")}; with --against and webhook ${COMPARED.join(", ")}. Can be repeated. Without --only, all parts are measured, and every wallet is verified at the end`,
      },
      seconds: {
        default: null,
        takes: "N",
        help: `length of each measurement (${SECONDS.alone}; with --against ${SECONDS.against})`,
      },
      rounds: {
        default: 3,
        help: "alternating measurements of Purser and bare PostgreSQL; the median is reported",
      },
      pairs: {
        default: 24,
        min: VALUES_MIN,
        help: "with --against and webhook: measurements of both services",
      },
      connections: { default: 128, help: "connections to Purser" },
      customers: { default: CUSTOMERS, help: "with size: customers" },
      keys: { default: 0, min: 0, help: "with size: stored idempotency keys" },
      checkpoint: {
        default: 300,
        min: 30,
        help: "with size: seconds between checkpoints. The load runs for two checkpoints before the measurement, which takes one",
      },
      variant: {
        default: ["random"],
        takes: "NAME",
        help: `with size: ${Object.keys(VARIANTS).join(", ")}: the idempotency keys of the load, and wal_compression. Can be repeated`,
      },
    },
  },
  async ({ options: all, positionals, stack }) => {
    const { against, only, seconds, rounds, pairs, connections } = all;
    const [benchmark = null, ...others] = positionals;
    const isComparison = against !== null || benchmark === "webhook";
    const known: readonly string[] = isComparison ? COMPARED : PARTS;
    const unknown = only.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`--only takes ${known.join(", ")}, not ${unknown.join(", ")}`);
    const isKnown =
      benchmark === null || (["events", "size", "tail", "webhook"].includes(benchmark) && against === null);
    if (!isKnown || others.length > 0) throw new Error(`unknown benchmark: ${positionals.join(" ")}`);
    const isSelected = (part: string): boolean => only.length === 0 || only.includes(part);
    const options = {
      seconds: seconds === null ? SECONDS[isComparison ? "against" : "alone"] : toCount("seconds", seconds),
      rounds,
      connections,
      print: (line: string) => console.log(line),
      stack,
    };
    if (isComparison) {
      const compare = { ...options, pairs, parts: new Set(COMPARED.filter(isSelected)) };
      const figures = against === null ? await benchWebhook(compare) : await benchAgainst(against, compare);
      return { figures, exitCode: EXIT_CODES[figures.verdict] };
    }
    if (benchmark === "events") return { figures: await benchEvents(options) };
    if (benchmark === "tail") return { figures: await benchTail(options) };
    if (benchmark === "size") {
      const { customers, keys, checkpoint: checkpointSeconds, variant } = all;
      const variants = variant.filter((name): name is Variant => name in VARIANTS);
      if (variants.length < variant.length)
        throw new Error(`--variant takes ${Object.keys(VARIANTS).join(", ")}, not ${variant.join(", ")}`);
      return { figures: await benchSize({ ...options, customers, keys, checkpointSeconds, variants }) };
    }
    return { figures: await benchAll({ ...options, parts: new Set(PARTS.filter(isSelected)) }) };
  },
);
