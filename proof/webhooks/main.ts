import { runProof } from "../harness/command.ts";
import { type Bound, count, findExceeded, megabytes, ms, rounded } from "../harness/figures.ts";
import { openInstallation } from "../harness/project.ts";
import { surviveCrashes } from "./crashes.ts";
import { measureLoad, NOTICES_OF_CUSTOMER } from "./load.ts";

const WEBHOOKS = 3;
const P95_MAX_MS = 5_000;
/** After the first quarter of the time. */
const RESIDENT_GROWTH_MAX_MB = 100;

await runProof(
  {
    command: "npm run webhooks-proof",
    about: `Kills two processes and PostgreSQL while charges cross thresholds, and compares the outbox with the ledger and with what a
webhook received. Then sends deliveries to a webhook that answers, one that fails and one that hangs. Fails if a notice is lost, doubled,
forged or late. Needs Linux.`,
    options: {
      "service-kills": { default: 50, min: 0, help: "kills of a process" },
      "postgres-kills": { default: 20, min: 0, help: "kills of PostgreSQL" },
      deliveries: { default: 100_000, help: "deliveries to the three webhooks" },
      "per-second": {
        default: 20,
        help: `charges per second, each with ${NOTICES_OF_CUSTOMER * WEBHOOKS} deliveries`,
      },
    },
  },
  async ({ options, stack }) => {
    const installation = await openInstallation(stack);
    await using own = new AsyncDisposableStack();
    const kills = { serviceKills: options["service-kills"], postgresKills: options["postgres-kills"] };
    const crashes = await surviveCrashes(installation, kills, own);
    console.log(
      `${count(crashes.entries)} entries, ${count(crashes.notices)} notices: ${crashes.lost} lost, ${crashes.doubled} doubled, ` +
        `${crashes.undelivered} undelivered, ${crashes.repeated} sent again`,
    );
    await own.disposeAsync();
    const customers = Math.ceil(options.deliveries / NOTICES_OF_CUSTOMER / WEBHOOKS);
    const load = await measureLoad(installation, { customers, perSecond: options["per-second"] }, stack);
    console.log(
      `${count(load.deliveries)} deliveries in ${rounded(load.seconds)} s: the webhook that answers was told after ${ms(load.p50Ms)} ` +
        `(p50), ${ms(load.p95Ms)} (p95), ${ms(load.p99Ms)} (p99); memory ${megabytes(load.residentWarmMb)} to ${megabytes(load.residentMaxMb)}`,
    );
    const growthMb = load.residentMaxMb - load.residentWarmMb;
    const none = (what: string, found: number): Bound => [what, found, 0, count];
    const faults = findExceeded([
      none("lost notices", crashes.lost),
      none("doubled notices", crashes.doubled),
      none("undelivered notices", crashes.undelivered),
      none("repeats with another body", crashes.changed),
      none("forged signatures", crashes.forged + load.forged),
      none("missing deliveries under load", load.missing),
      none("deliveries out of order under load", load.outOfOrder),
      ["the p95 of the webhook that answers", load.p95Ms, P95_MAX_MS, ms],
      ["the growth of the memory", growthMb, RESIDENT_GROWTH_MAX_MB, megabytes],
    ]);
    return { faults, figures: { ...kills, crashes, load } };
  },
);
