import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../harness/database.ts";
import type { Project } from "../harness/project.ts";
import { fillEvents } from "./fill.ts";
import type { World } from "./world.ts";

/** The roll-up job must make progress within this time. */
const STEP_MS_MAX = 120_000;

export type Loaded = {
  /** Time to load all rows while the job rolls them up. */
  readonly loadSeconds: number;
  /** Time from the end of the load until all rows were rolled up. */
  readonly catchUpSeconds: number;
  /** Events rolled up per second after loading. */
  readonly catchUpPerSecond: number;
  /** Events per second, from the first row until the last was rolled up. */
  readonly perSecond: number;
};

/** Returns when the service reports that its roll-ups are complete. */
export async function loadEvents(
  database: Database,
  project: Project,
  world: World,
  events: number,
): Promise<Loaded> {
  const startMs = performance.now();
  await fillEvents(database, project, world, events);
  const filledMs = performance.now();
  const [row = {}] = await database.query(
    `select clock_timestamp()::text as filled_at, count(*) as left_over
     from cell.events
     where transaction_number >= (select transaction_number from cell.usage_progress)`,
  );
  await untilComplete(database, String(row["filled_at"]));
  const endMs = performance.now();
  const catchUpSeconds = (endMs - filledMs) / 1_000;
  return {
    loadSeconds: (filledMs - startMs) / 1_000,
    catchUpSeconds,
    catchUpPerSecond: Number(row["left_over"]) / catchUpSeconds,
    perSecond: (events * 1_000) / (endMs - startMs),
  };
}

async function untilComplete(database: Database, filledAt: string): Promise<void> {
  let last = "";
  let lastMs = performance.now();
  for (;;) {
    const [row = {}] = await database.query(
      `select complete_to > '${filledAt}' as is_complete, transaction_number || '.' || slices_done as place
       from cell.usage_progress`,
    );
    if (row["is_complete"] === true) return;
    const place = String(row["place"]);
    if (place !== last) {
      last = place;
      lastMs = performance.now();
    } else if (performance.now() - lastMs > STEP_MS_MAX) throw new Error(`the roll-ups stopped at ${place}`);
    await pause(100);
  }
}
