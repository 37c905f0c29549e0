import { setTimeout as pause } from "node:timers/promises";
import type { History } from "../faults/history.ts";
import { isTrueWithin } from "../faults/inject.ts";
import { integerBetween } from "../harness/random.ts";
import { type Cluster, NAMES, type NodeName } from "./cluster.ts";

/** An injected fault. Times are milliseconds of this process's monotonic clock. */
export type Fault = {
  readonly name: FaultName;
  readonly startMs: number;
  /** Time at which all nodes were up to date again. */
  readonly endMs: number;
  /** Milliseconds from the fault until Patroni reported another leader. Null if the leader did not change. */
  readonly promotedMs: number | null;
  /** Sessions that were canceled or ended while they waited for a standby. */
  readonly interrupted: number;
  /** Reasons why the result of this fault is incomplete. */
  readonly doubts: readonly string[];
};

type Scene = { readonly cluster: Cluster; readonly leader: NodeName; readonly standby: NodeName };
type Effect = {
  readonly promotedMs?: number | null;
  readonly interrupted?: number;
  readonly doubts?: readonly string[];
};

const POLL_MS = 50;
const PROMOTED_WITHIN_MS = 90_000;
const RESTART_AFTER_MS = 3_000;
const STANDBY_AWAY_MS = 15_000;
const ETCD_AWAY_MS = 15_000;
const APART_MS = 30_000;
/** Random pause between two faults, so that faults occur at all stages of a batch. */
const CALM_MS = { min: 1_000, max: 3_000 };
/** How long commits wait for disconnected standbys before their sessions are interrupted. */
const WAITING_MS = 1_500;
/** After the cluster is healthy again, each service must acknowledge a request within this time. */
const BACK_WITHIN_MS = 15_000;

export const FAULTS = {
  "leader killed": killLeader,
  "switched over": ({ cluster, leader, standby }) =>
    watch(cluster, leader, () => cluster.switchOver(leader, standby)),
  "leader stopped for 20 s": (scene) => stopLeader(scene, 20_000),
  "leader stopped for 45 s": (scene) => stopLeader(scene, 45_000),
  "leader cut off": cutOffLeader,
  "standby asked to stop": (scene) => withoutStandby(scene, "SIGTERM"),
  "standby killed": (scene) => withoutStandby(scene, "SIGKILL"),
  "standby stopped": (scene) => withoutStandby(scene, "SIGSTOP"),
  "wait cancelled": (scene) => interruptWaits(scene, "pg_cancel_backend"),
  "waiting session ended": (scene) => interruptWaits(scene, "pg_terminate_backend"),
  "etcd killed": killEtcd,
} as const satisfies Record<string, (scene: Scene) => Promise<Effect>>;

export type FaultName = keyof typeof FAULTS;

/** Injects a fault into a healthy cluster, and waits until it is healthy again. */
export async function inject(
  cluster: Cluster,
  history: History,
  services: readonly { readonly name: string }[],
  name: FaultName,
): Promise<Fault> {
  const members = await cluster.awaitHealthy();
  await pause(integerBetween(CALM_MS.min, CALM_MS.max));
  const leader = await cluster.findPrimary();
  const standby = members.find(({ role, name: other }) => role === "sync_standby" && other !== leader)?.name;
  if (leader === null || standby === undefined)
    throw new Error("the cluster lost its leader without a fault");
  const startMs = performance.now();
  const cause: (scene: Scene) => Promise<Effect> = FAULTS[name];
  const { promotedMs = null, interrupted = 0, doubts = [] } = await cause({ cluster, leader, standby });
  await cluster.awaitHealthy();
  const endMs = performance.now();
  history.noteFault(name, { startMs, endMs, promotedMs: promotedMs ?? -1, interrupted });
  const areBack = (): boolean => services.every((service) => history.hasOkSince(endMs, service.name));
  if (!(await isTrueWithin(BACK_WITHIN_MS, areBack)))
    throw new Error(`${name}: a service acknowledged nothing for 15 s after the cluster had recovered`);
  return { name, startMs, endMs, promotedMs, interrupted, doubts };
}

async function killLeader({ cluster, leader }: Scene): Promise<Effect> {
  const effect = await watch(cluster, leader, async () => cluster.signal(leader, "SIGKILL"));
  await pause(RESTART_AFTER_MS);
  cluster.startNode(leader);
  return effect;
}

/** Pauses the leader's processes. When they continue, the old leader must not write anything. */
async function stopLeader({ cluster, leader }: Scene, forMs: number): Promise<Effect> {
  const continueAtMs = performance.now() + forMs;
  const promoted = watch(cluster, leader, async () => cluster.signal(leader, "SIGSTOP"), forMs);
  const effect = await promoted;
  await pause(Math.max(0, continueAtMs - performance.now()));
  cluster.signal(leader, "SIGCONT");
  return effect;
}

async function cutOffLeader({ cluster, leader }: Scene): Promise<Effect> {
  const connectAtMs = performance.now() + APART_MS;
  const effect = await watch(cluster, leader, async () => cluster.disconnect(leader), APART_MS);
  await pause(Math.max(0, connectAtMs - performance.now()));
  cluster.connect(leader);
  return effect;
}

async function withoutStandby(
  { cluster, standby }: Scene,
  signal: "SIGTERM" | "SIGKILL" | "SIGSTOP",
): Promise<Effect> {
  if (signal === "SIGTERM") cluster.stopNode(standby);
  else cluster.signal(standby, signal);
  await pause(STANDBY_AWAY_MS);
  if (signal === "SIGSTOP") cluster.signal(standby, "SIGCONT");
  else cluster.startNode(standby);
  return {};
}

/**
 * Disconnects the standbys, so that only the leader stores commits, and interrupts the sessions that wait for them. Then the leader is
 * disconnected and killed, so a write that was wrongly acknowledged is lost. A test row, written in the same way, must be lost too.
 */
async function interruptWaits({ cluster, leader }: Scene, how: string): Promise<Effect> {
  await cluster.query(leader, "create table if not exists interrupted (number bigint)");
  const standbys = NAMES.filter((name) => name !== leader);
  for (const name of standbys) cluster.disconnect(name);
  const number = Date.now();
  const written = cluster.query(leader, `insert into interrupted values (${number})`).catch(() => []);
  await pause(WAITING_MS);
  const rows = await cluster.query(
    leader,
    `select count(*) filter (where application_name like 'purser%' and ${how}(pid)) as interrupted,
       count(*) filter (where query like 'insert into interrupted%' and ${how}(pid)) as controls
     from pg_stat_activity
     where wait_event = 'SyncRep'`,
  );
  await written;
  // Waits for responses, which must not arrive.
  await pause(WAITING_MS);
  const effect = await watch(cluster, leader, async () => {
    cluster.disconnect(leader);
    cluster.signal(leader, "SIGKILL");
    for (const name of standbys) cluster.connect(name);
  });
  const [kept] = await cluster.queryLeader(
    `select count(*) as rows from interrupted where number = ${number}`,
  );
  await pause(RESTART_AFTER_MS);
  cluster.connect(leader);
  cluster.startNode(leader);
  const { interrupted, controls } = rows[0] ?? {};
  const doubts = [
    ...(Number(interrupted) > 0 ? [] : ["no wait of a service was interrupted"]),
    ...(Number(controls) === 1 && kept?.["rows"] === "0"
      ? []
      : ["a row that only the leader stored was not lost"]),
  ];
  return { ...effect, interrupted: Number(interrupted), doubts };
}

/** With `failsafe_mode`, the leader keeps its role. */
async function killEtcd({ cluster, leader }: Scene): Promise<Effect> {
  const startMs = performance.now();
  cluster.killEtcd();
  await pause(ETCD_AWAY_MS);
  const hasStayed = (await cluster.findPrimary()) === leader;
  cluster.startEtcd();
  if (hasStayed) return {};
  await watch(cluster, null, async () => {});
  return (await cluster.findPrimary()) === leader ? {} : { promotedMs: performance.now() - startMs };
}

/** Causes the fault, and measures how long Patroni takes to report another leader. */
async function watch(
  cluster: Cluster,
  leader: NodeName | null,
  cause: () => Promise<void>,
  maxMs = PROMOTED_WITHIN_MS,
): Promise<{ readonly promotedMs: number | null }> {
  const startMs = performance.now();
  const caused = cause();
  while (performance.now() - startMs < maxMs) {
    if ((await cluster.findPrimary(leader)) !== null) {
      const promotedMs = performance.now() - startMs;
      await caused;
      return { promotedMs };
    }
    await pause(POLL_MS);
  }
  await caused;
  if (maxMs === PROMOTED_WITHIN_MS) throw new Error("Patroni promoted no other node");
  return { promotedMs: null };
}
