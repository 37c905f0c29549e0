import { setTimeout as pause } from "node:timers/promises";
import { runWrk } from "../bench/load/wrk.ts";
import { Caller } from "../harness/caller.ts";
import { CALLS } from "../harness/calls.ts";
import { runProof } from "../harness/command.ts";
import { rounded } from "../harness/figures.ts";
import { startLoop } from "../harness/loop.ts";
import { type Installation, openInstallation } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";
import { steadyPort } from "../harness/steady-port.ts";
import { checkRules, Prometheus } from "./prometheus.ts";

const CUSTOMER = "customer_1";
/** Longer than every `for` duration and range in the alerts below. */
const HEALTHY_SECONDS = 45;
/** More than the threshold of the queue alert plus the requests of one batch. */
const CONNECTIONS = 1_500;
const LOAD_SECONDS = 60;

type Times = { readonly firedAfterSeconds: number; readonly resolvedAfterSeconds: number };

await runProof(
  {
    command: "npm run alerts-proof",
    about: `Runs Prometheus with the alert rules of deploy/observability, 15 times faster, on a running service. Stops PostgreSQL, fills the
queue, and kills the service. Fails unless the alerts for each fire and then resolve, or if any alert fires before. Needs Debian's
packages prometheus and wrk.`,
    options: { seconds: { default: 180, help: "time limit for an alert to fire or resolve, in seconds" } },
  },
  async ({ options: { seconds: secondsMax }, stack }) => {
    await checkRules();
    const installation = await openInstallation(stack);
    const { server, database, project } = installation;
    const metricsPort = await steadyPort();
    const service = await Service.start(database.url, stack, {
      environment: { METRICS_PORT: String(metricsPort) },
    });
    const caller = new Caller(service, project);
    await caller.call("POST", `customers/${CUSTOMER}/plan`, { body: { plan: "wide" } });
    const prometheus = await Prometheus.start(stack, `127.0.0.1:${metricsPort}`);
    const traffic = startLoop(async () => {
      await caller.consume(CUSTOMER).catch(() => null);
      await pause(100);
    });
    stack.defer(() => traffic.stop());

    const faults: string[] = [];
    for (let second = 0; second < HEALTHY_SECONDS; second++) {
      faults.push(...(await prometheus.firing()).map((name) => `${name} fired without a cause`));
      await pause(1_000);
    }

    const figures: Record<string, Times> = {};
    const trial = async (names: readonly string[], cause: () => Promise<() => Promise<unknown>>) => {
      const mend = await cause();
      const firedAfter = await prometheus.until(names, "firing", secondsMax);
      await mend();
      const resolvedAfter = await prometheus.until(names, "quiet", secondsMax);
      const times = {
        firedAfterSeconds: rounded(firedAfter),
        resolvedAfterSeconds: rounded(resolvedAfter),
      };
      figures[names.join(", ")] = times;
      console.log(`${names.join(", ")}: ${JSON.stringify(times)}`);
    };

    await trial(["PurserDatabaseUnreachable", "PurserErrors"], async () => {
      await server.stopImmediately();
      return () => server.startAgain();
    });
    await trial(["PurserOverloaded", "PurserQueueFilling", "PurserSlow"], () =>
      fillQueue(installation, service, LOAD_SECONDS),
    );
    await trial(["PurserDown"], async () => {
      await service.kill();
      return () => service.launch();
    });
    await trial(["PurserRestarting"], async () => {
      const restarts = startLoop(async () => {
        await service.kill();
        await service.launch();
        // Gives Prometheus time to scrape the service after each start.
        await pause(2_000);
      });
      return () => restarts.stop();
    });
    return { faults, figures };
  },
);

/** Slows down inserts of events, and sends more events than can be committed. Returns a function that stops the slowdown and the load. */
async function fillQueue(
  { database, project }: Installation,
  service: Service,
  seconds: number,
): Promise<() => Promise<void>> {
  await database.query(`
    create function slow() returns trigger language plpgsql
    as $$ begin perform pg_sleep(1.5); return null; end $$`);
  await database.query(
    "create trigger slow before insert on cell.events for each statement execute function slow()",
  );
  const { apiKey } = project;
  const load = {
    url: service.url,
    apiKey,
    call: CALLS.events,
    customers: 1_000,
    seconds,
    connections: CONNECTIONS,
  };
  const ended = runWrk(load);
  return async () => {
    await ended;
    await database.query("drop trigger slow on cell.events");
  };
}
