import { setTimeout as pause } from "node:timers/promises";
import type { History } from "../faults/history.ts";
import { integerBetween } from "../harness/random.ts";
import type { Cluster, NodeName } from "./cluster.ts";

/** A fault of the cluster. Times are milliseconds of this process's monotonic clock. */
export type Fault = {
  readonly name: FaultName;
  readonly startMs: number;
  /** When all nodes were up to date again. */
  readonly endMs: number;
  /** From the fault until Patroni reported another leader. Null if the leader stayed. */
  readonly promotedMs: number | null;
  /** Sessions that were cancelled or ended while they waited for a standby. */
  readonly interrupted: number;
};

type Scene = { readonly cluster: Cluster; readonly leader: NodeName; readonly standby: NodeName };
type Effect = { readonly promotedMs?: number | null; readonly interrupted?: number };

const POLL_MS = 50;
const PROMOTED_WITHIN_MS = 90_000;
const RESTART_AFTER_MS = 3_000;
const STANDBY_AWAY_MS = 15_000;
const ETCD_AWAY_MS = 15_000;
const APART_MS = 30_000;
/** Between two faults, so that they occur at all stages of a batch. */
const CALM_MS = { min: 1_000, max: 3_000 };
/** How long commits wait for standbys that are stopped before their sessions are interrupted. */
const WAITING_MS = 1_500;

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
export async function inject(cluster: Cluster, history: History, name: FaultName): Promise<Fault> {
  const members = await cluster.awaitHealthy();
  await pause(integerBetween(CALM_MS.min, CALM_MS.max));
  const leader = await cluster.findPrimary();
  const standby = members.find(({ role, name: other }) => role === "sync_standby" && other !== leader)?.name;
  if (leader === null || standby === undefined) throw new Error("the cluster lost its leader by itself");
  const startMs = performance.now();
  const cause: (scene: Scene) => Promise<Effect> = FAULTS[name];
  const { promotedMs = null, interrupted = 0 } = await cause({ cluster, leader, standby });
  await cluster.awaitHealthy();
  const endMs = performance.now();
  history.noteFault(name, { startMs, endMs, promotedMs: promotedMs ?? -1, interrupted });
  return { name, startMs, endMs, promotedMs, interrupted };
}

async function killLeader({ cluster, leader }: Scene): Promise<Effect> {
  const effect = await watch(cluster, leader, async () => cluster.signal(leader, "SIGKILL"));
  await pause(RESTART_AFTER_MS);
  cluster.startNode(leader);
  return effect;
}

/** The leader does not notice that it was stopped, and must not write anything afterwards. */
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
 * Commits that wait for a standby are stored by the leader only. Interrupts those waits, and then kills the leader: what was
 * acknowledged nevertheless would be lost.
 */
async function interruptWaits({ cluster, leader }: Scene, how: string): Promise<Effect> {
  const standbys = (["n1", "n2", "n3"] as const).filter((name) => name !== leader);
  for (const name of standbys) cluster.signal(name, "SIGSTOP");
  await pause(WAITING_MS);
  const rows = await cluster.query(
    leader,
    `select count(*) filter (where ${how}(pid)) as interrupted
     from pg_stat_activity
     where wait_event = 'SyncRep' and application_name like 'purser%'`,
  );
  // Time for the responses that must not come.
  await pause(WAITING_MS);
  const effect = await watch(cluster, leader, async () => {
    cluster.signal(leader, "SIGKILL");
    for (const name of standbys) cluster.signal(name, "SIGCONT");
  });
  await pause(RESTART_AFTER_MS);
  cluster.startNode(leader);
  return { ...effect, interrupted: Number(rows[0]?.["interrupted"]) };
}

async function killEtcd({ cluster, leader }: Scene): Promise<Effect> {
  cluster.killEtcd();
  await pause(ETCD_AWAY_MS);
  const hasLeft = (await cluster.findPrimary()) !== leader;
  cluster.startEtcd();
  if (!hasLeft) return {};
  return watch(cluster, null, async () => {});
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
