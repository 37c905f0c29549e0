import { runProof, toCount } from "../harness/command.ts";
import { benchAgainst, COMPARED } from "./against.ts";
import { benchCredits } from "./credits.ts";
import { PARTS } from "./credits-round.ts";
import { benchEvents } from "./events.ts";
import { RATIO_MIN, VALUES_MIN, type Verdict } from "./median-interval.ts";

const EXIT_CODES = { "not slower": 0, slower: 1, "cannot tell": 3 } satisfies Record<Verdict, number>;
const SECONDS = { alone: 10, against: 3 };

await runProof(
  {
    command: "npm run bench -- [events]",
    about: `Charges, checks and events over HTTP beside bare PostgreSQL writing the same facts, one transaction each, on one
server in one run. "events" measures events alone, with more figures.
--against compares this tree, as it lies on disk, with another commit: two services on one server, loaded at the same time.
"not slower" means that the lower end of the 95 % interval of the median ratio is at least ${RATIO_MIN}.
Exit code 0: not slower; 1: slower, or failed; 3: cannot tell, because the interval is too wide.
Needs pgbench and wrk (Debian: apt-get install postgresql-15 wrk).`,
    options: {
      against: { default: null, takes: "COMMIT", help: "compare with this commit" },
      only: {
        default: [],
        takes: "PART",
        help: `only this of ${PARTS.join(", ")}, or with --against of ${COMPARED.join(", ")}; may be given several times. Without it, all of them, and at the end every wallet is verified`,
      },
      seconds: {
        default: null,
        takes: "N",
        help: `length of each measurement (${SECONDS.alone}; with --against ${SECONDS.against})`,
      },
      rounds: { default: 3, help: "measurements of each side, taken in turns; the median counts" },
      pairs: { default: 40, min: VALUES_MIN, help: "with --against: measurements of both trees" },
      connections: { default: 128, help: "connections to Purser" },
    },
  },
  async ({ options: { against, only, seconds, rounds, pairs, connections }, words, stack }) => {
    const known: readonly string[] = against === null ? PARTS : COMPARED;
    const unknown = only.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`--only takes ${known.join(", ")}, not ${unknown.join(", ")}`);
    const isEvents = words.length === 1 && words[0] === "events" && against === null;
    if (words.length > 0 && !isEvents) throw new Error(`there is no benchmark ${words.join(" ")}`);
    const isAsked = (part: string): boolean => only.length === 0 || only.includes(part);
    const options = {
      seconds:
        seconds === null ? SECONDS[against === null ? "alone" : "against"] : toCount("seconds", seconds),
      rounds,
      connections,
      print: (line: string) => console.log(line),
      stack,
    };
    if (against !== null) {
      const parts = new Set(COMPARED.filter(isAsked));
      const figures = await benchAgainst({ ...options, revision: against, pairs, parts });
      return { figures, exitCode: EXIT_CODES[figures.verdict] };
    }
    if (isEvents) return { figures: await benchEvents(options) };
    return { figures: await benchCredits({ ...options, parts: new Set(PARTS.filter(isAsked)) }) };
  },
);
