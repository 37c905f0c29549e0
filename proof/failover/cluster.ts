import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { databaseAt } from "../harness/database.ts";
import { listWorkingIn } from "../harness/postgres.ts";
import { steadyPort } from "../harness/steady-port.ts";
import {
  ETCD_PORT,
  haproxyConfiguration,
  Network,
  patroniConfiguration,
  REST_PORT,
  socketsOf,
} from "./configuration.ts";

export const NAMES = ["n1", "n2", "n3"] as const;
export type NodeName = (typeof NAMES)[number];

const HEALTHY_WITHIN_MS = 120_000;
const POLL_MS = 100;
const ASK_MAX_MS = 1_500;
/** A standby is up to date if it lags by at most this many bytes of WAL. */
const LAG_MAX = 1_000_000;

/** A member of the cluster, as Patroni describes it. */
export type Member = {
  readonly name: NodeName;
  readonly role: "leader" | "sync_standby" | "replica";
  readonly state: string;
  readonly timeline?: number;
  readonly lag?: number | "unknown";
};

type Signal = "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT";

/** A node: PostgreSQL and the Patroni process that controls it, in a separate network namespace. */
class Node {
  readonly name: NodeName;
  readonly address: string;
  readonly #directory: string;
  readonly #network: Network;
  #patroni: ChildProcess | null = null;

  constructor(name: NodeName, directory: string, network: Network) {
    this.name = name;
    this.address = network.addressOf(name);
    this.#directory = directory;
    this.#network = network;
  }

  get #data(): string {
    return join(this.#directory, this.name);
  }

  async write(): Promise<void> {
    await writeFile(`${this.#data}.yml`, patroniConfiguration(this.name, this.#directory, this.#network));
  }

  start(): void {
    const command = [...this.#network.enter(this.name), ...AS_POSTGRES, "patroni", `${this.#data}.yml`];
    this.#patroni = run(command, `${this.#data}.log`);
  }

  /** Sends the signal to PostgreSQL, all its backends and Patroni. */
  signal(signal: Signal): void {
    const pids = listWorkingIn(this.#data);
    if (this.#patroni?.pid !== undefined) pids.unshift(this.#patroni.pid);
    for (const pid of pids) send(pid, signal);
  }

  /** Asks Patroni to stop PostgreSQL and itself. */
  stop(): void {
    if (this.#patroni?.pid !== undefined) send(this.#patroni.pid, "SIGTERM");
  }

  ask(path: string, init: RequestInit = {}): Promise<Response> {
    const signal = AbortSignal.timeout(ASK_MAX_MS);
    return fetch(`http://${this.address}:${REST_PORT}${path}`, { signal, ...init });
  }
}

/** Runs a command as the postgres user, because PostgreSQL refuses to run as root. */
const AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"];

/** Three nodes with strict synchronous replication under Patroni, etcd, and HAProxy in front of the leader. */
export class Cluster {
  readonly #directory: string;
  readonly #network: Network;
  readonly #port: number;
  readonly #nodes: ReadonlyMap<NodeName, Node>;
  #etcd: ChildProcess | null = null;

  /** Returns when the cluster has a leader and a synchronous standby. */
  static async start(stack: AsyncDisposableStack): Promise<Cluster> {
    const directory = await mkdtemp(join(tmpdir(), "purser-failover-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    execFileSync("chown", ["postgres:postgres", directory]);
    const network = new Network(NAMES);
    stack.defer(() => network.remove());
    network.create();
    const cluster = new Cluster(directory, network, await steadyPort());
    stack.defer(() => cluster.#end());
    await cluster.#launch(stack);
    await cluster.awaitHealthy();
    return cluster;
  }

  private constructor(directory: string, network: Network, port: number) {
    this.#directory = directory;
    this.#network = network;
    this.#port = port;
    this.#nodes = new Map(NAMES.map((name) => [name, new Node(name, directory, network)]));
  }

  async #launch(stack: AsyncDisposableStack): Promise<void> {
    for (const name of NAMES)
      for (const path of [join(this.#directory, name), socketsOf(name, this.#directory)]) {
        await mkdir(path, { mode: 0o700 });
        execFileSync("chown", ["postgres:postgres", path]);
      }
    this.startEtcd();
    for (const node of this.#nodes.values()) {
      await node.write();
      node.start();
    }
    const file = join(this.#directory, "haproxy.cfg");
    await writeFile(file, haproxyConfiguration(this.#port, NAMES, this.#network));
    const haproxy = run(["haproxy", "-db", "-f", file], join(this.#directory, "haproxy.log"));
    stack.defer(() => void haproxy.kill("SIGKILL"));
  }

  /** The URL of the leader, through the proxy. */
  url(database: string, role = "postgres"): string {
    return `postgres://${role}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Queries one node directly, without the proxy. */
  query(name: NodeName, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return databaseAt(`postgres://postgres@${this.#node(name).address}:5432/postgres`).query(text);
  }

  /** Queries the leader directly, without the proxy. */
  async queryLeader(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const leader = await this.findPrimary();
    if (leader === null) throw new Error("the cluster has no leader");
    return this.query(leader, text);
  }

  /** All nodes, as reported by the first node that responds. Empty if none responds. */
  async members(): Promise<readonly Member[]> {
    for (const node of this.#nodes.values()) {
      const found = await node
        .ask("/cluster")
        .then((response) => response.json() as Promise<{ members: Member[] }>)
        .catch(() => null);
      if (found !== null) return found.members;
    }
    return [];
  }

  /** The node that accepts writes. Null if there is none. */
  async findPrimary(except: NodeName | null = null): Promise<NodeName | null> {
    const found = await Promise.all(
      NAMES.filter((name) => name !== except).map(async (name) => {
        const response = await this.#node(name)
          .ask("/primary")
          .catch(() => null);
        return response?.status === 200 ? name : null;
      }),
    );
    return found.find((name) => name !== null) ?? null;
  }

  /** Waits until all nodes are up to date. Throws if that takes too long. */
  async awaitHealthy(): Promise<readonly Member[]> {
    const giveUpAtMs = performance.now() + HEALTHY_WITHIN_MS;
    for (;;) {
      const members = await this.members();
      if (isHealthy(members) && (await this.findPrimary()) !== null) return members;
      if (performance.now() > giveUpAtMs)
        throw new Error(`the cluster did not recover: ${JSON.stringify(members)}`);
      await pause(POLL_MS);
    }
  }

  signal(name: NodeName, signal: Signal): void {
    this.#node(name).signal(signal);
  }

  stopNode(name: NodeName): void {
    this.#node(name).stop();
  }

  startNode(name: NodeName): void {
    this.#node(name).start();
  }

  async switchOver(leader: NodeName, candidate: NodeName): Promise<void> {
    const response = await this.#node(leader).ask("/switchover", {
      method: "POST",
      body: JSON.stringify({ leader, candidate }),
      // Patroni responds when the switchover is complete.
      signal: AbortSignal.timeout(HEALTHY_WITHIN_MS),
    });
    if (!response.ok) throw new Error(`the switchover failed: ${await response.text()}`);
  }

  /** Cuts a node off from the others, from etcd, and from the proxy. */
  disconnect(name: NodeName): void {
    this.#network.disconnect(name);
  }

  connect(name: NodeName): void {
    this.#network.connect(name);
  }

  startEtcd(): void {
    const url = `http://${this.#network.host}:${ETCD_PORT}`;
    const peers = `http://127.0.0.1:${ETCD_PORT + 1}`;
    const command = [
      ...AS_POSTGRES,
      "etcd",
      `--data-dir=${join(this.#directory, "etcd")}`,
      "--enable-v2=true",
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
    ];
    this.#etcd = run(command, join(this.#directory, "etcd.log"));
  }

  killEtcd(): void {
    this.#etcd?.kill("SIGKILL");
  }

  #node(name: NodeName): Node {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }

  /** Kills repeatedly, because Patroni restarts PostgreSQL, and a paused process ends late. */
  async #end(): Promise<void> {
    this.killEtcd();
    for (let round = 0; round < 3; round++) {
      for (const node of this.#nodes.values()) node.signal("SIGKILL");
      await pause(POLL_MS);
    }
  }
}

function isHealthy(members: readonly Member[]): boolean {
  const isRunning = ({ role, state, lag }: Member): boolean =>
    /^(running|streaming)$/.test(state) && (role === "leader" || (typeof lag === "number" && lag < LAG_MAX));
  return (
    members.length === NAMES.length &&
    members.every(isRunning) &&
    members.filter(({ role }) => role === "leader").length === 1 &&
    members.some(({ role }) => role === "sync_standby") &&
    new Set(members.map(({ timeline }) => timeline)).size === 1
  );
}

/** Starts a command with its output in a file. */
function run([command = "", ...args]: readonly string[], log: string): ChildProcess {
  return spawn("sh", ["-c", 'log="$1"; shift; exec "$@" >>"$log" 2>&1', "sh", log, command, ...args], {
    stdio: "ignore",
  });
}

function send(pid: number, signal: Signal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
