import { parseArgs } from "node:util";
import { benchEvents } from "./events.ts";

const HELP = `npm run bench -- [events] [options]

Events over HTTP beside bare PostgreSQL doing the same inserts, one transaction each, on one server in one run.
Needs pgbench and wrk (Debian: apt-get install postgresql-15 wrk).

  --seconds N      length of each measurement (10)
  --rounds N       measurements of each side, taken in turns; the median counts (3)
  --connections N  clients of either side (64)
  --json           the last line is JSON
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "64" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help || (positionals[0] ?? "events") !== "events") {
  console.log(HELP);
} else {
  const result = await benchEvents({
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    connections: Number(values.connections),
    print: (line) => console.log(line),
  });
  if (values.json) console.log(JSON.stringify(result));
}
