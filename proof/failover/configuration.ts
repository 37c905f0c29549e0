import { execFileSync } from "node:child_process";
import { join } from "node:path";

export const REST_PORT = 8008;
const POSTGRES_PORT = 5432;
export const ETCD_PORT = 2379;

/** A bridge with a network namespace for each node, so that a node can be disconnected like a separate machine. */
export class Network {
  /** The address of this machine, with etcd and the proxy. */
  readonly host: string;
  readonly #names: readonly string[];
  readonly #bridge = `pf${process.pid}`;
  readonly #prefix: string;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#prefix = `10.77.${process.pid % 250}`;
    this.host = `${this.#prefix}.1`;
  }

  get range(): string {
    return `${this.#prefix}.0/24`;
  }

  addressOf(name: string): string {
    return `${this.#prefix}.${11 + this.#names.indexOf(name)}`;
  }

  create(): void {
    ip("link", "add", this.#bridge, "type", "bridge");
    ip("addr", "add", `${this.host}/24`, "dev", this.#bridge);
    ip("link", "set", this.#bridge, "up");
    for (const name of this.#names) {
      const space = this.#spaceOf(name);
      ip("netns", "add", space);
      ip("link", "add", this.#linkOf(name), "type", "veth", "peer", "name", "eth0", "netns", space);
      ip("link", "set", this.#linkOf(name), "master", this.#bridge, "up");
      ip("-n", space, "addr", "add", `${this.addressOf(name)}/24`, "dev", "eth0");
      ip("-n", space, "link", "set", "eth0", "up");
      ip("-n", space, "link", "set", "lo", "up");
    }
  }

  /** Returns the command prefix that runs a program in the node's namespace. */
  enter(name: string): readonly string[] {
    return ["ip", "netns", "exec", this.#spaceOf(name)];
  }

  disconnect(name: string): void {
    ip("link", "set", this.#linkOf(name), "down");
  }

  connect(name: string): void {
    ip("link", "set", this.#linkOf(name), "up");
  }

  remove(): void {
    for (const name of this.#names) {
      ignoreErrors(() => ip("link", "delete", this.#linkOf(name)));
      ignoreErrors(() => ip("netns", "delete", this.#spaceOf(name)));
    }
    ignoreErrors(() => ip("link", "delete", this.#bridge));
  }

  #spaceOf(name: string): string {
    return `purser-${process.pid}-${name}`;
  }

  #linkOf(name: string): string {
    return `${this.#bridge}${name}`;
  }
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", [...args], { stdio: ["ignore", "ignore", "pipe"] });
}

/** Used to remove resources that may never have been created. */
function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {}
}

/**
 * With etcd's version 3 protocol, Patroni 3.0 overwrites the leader key without checking it first. A leader that was paused can then
 * overwrite its successor's key. This configuration uses version 2. Later releases are safe with both versions.
 */
export function patroniConfiguration(name: string, directory: string, network: Network): string {
  const address = network.addressOf(name);
  return `
scope: purser
name: ${name}
restapi:
  listen: ${address}:${REST_PORT}
  connect_address: ${address}:${REST_PORT}
etcd:
  host: ${network.host}:${ETCD_PORT}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    synchronous_mode_strict: true
    failsafe_mode: true
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        max_connections: 100
        wal_log_hints: "on"
        wal_keep_size: 256MB
        wal_receiver_status_interval: 1s
        wal_sender_timeout: 5s
        wal_receiver_timeout: 5s
        # A standby that finds no replication slot on the new leader tries again after this time. The default is 5 s.
        wal_retrieve_retry_interval: 500ms
        tcp_keepalives_idle: 5
        tcp_keepalives_interval: 2
        tcp_keepalives_count: 3
        shared_buffers: 128MB
  initdb:
    - encoding: UTF8
    - data-checksums
  pg_hba:
    - host replication all ${network.range} trust
    - host all all ${network.range} trust
postgresql:
  listen: ${address}:${POSTGRES_PORT}
  connect_address: ${address}:${POSTGRES_PORT}
  data_dir: ${join(directory, name)}
  bin_dir: /usr/lib/postgresql/15/bin
  pgpass: ${join(directory, `pgpass-${name}`)}
  authentication:
    superuser: {username: postgres}
    replication: {username: replicator}
    rewind: {username: rewinder}
  parameters:
    unix_socket_directories: ${socketsOf(name, directory)}
`;
}

/** All nodes use the same port, so each needs its own directory. */
export function socketsOf(name: string, directory: string): string {
  return join(directory, `sockets-${name}`);
}

/** Closes the sessions of a leader that is down, so that no client waits for it. */
export function haproxyConfiguration(port: number, names: readonly string[], network: Network): string {
  const servers = names.map(
    (name) => `  server ${name} ${network.addressOf(name)}:${POSTGRES_PORT} check port ${REST_PORT}`,
  );
  return `
defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout check 2s
  option clitcpka
  option srvtcpka
listen purser
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join("\n")}
`;
}
