import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { makeApiKey, makeManagementToken, makeSecret } from "../../service/src/primitives/secret.ts";
import { hostileBodies } from "../../service/test/hostile-bodies.ts";

export type Attack = {
  readonly url: string;
  readonly connections: number;
  /** Number of source addresses in 127.0.0.0/8 that the connections use. */
  readonly addresses: number;
  /** The bytes of the next request. Null after the last request. */
  readonly next: () => string | null;
};

export type Statuses = Record<string, number>;

/** Each connection sends its next request as soon as it has a response, until there are no more requests or `stop` is called. */
export function startAttack(attack: Attack): {
  readonly finished: Promise<Statuses>;
  stop(): Promise<Statuses>;
} {
  const statuses: Statuses = {};
  let isOver = false;
  const open: Set<Socket> = new Set();
  const attackOn = async (_: unknown, index: number): Promise<void> => {
    for (let reconnects = 0; !isOver; reconnects++) {
      const request = attack.next();
      if (request === null) return;
      const socket = connectFrom(attack.url, (index + reconnects * attack.connections) % attack.addresses);
      open.add(socket);
      await useConnection(socket, request, attack.next, (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
      });
      open.delete(socket);
      await pause(5);
    }
  };
  const finished = Promise.all(Array.from({ length: attack.connections }, attackOn)).then(() => statuses);
  return {
    finished,
    stop: () => {
      isOver = true;
      for (const socket of open) socket.destroy();
      return finished;
    },
  };
}

/** Requests per connection. The attacker then reconnects from the next address, before the service throttles the current address. */
const REQUESTS_MAX = 150;

async function useConnection(
  socket: Socket,
  first: string,
  next: () => string | null,
  onStatus: (status: string) => void,
): Promise<void> {
  let requests = 1;
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < headEnd + 4 + length) return;
    onStatus(received.slice("HTTP/1.1 ".length, "HTTP/1.1 ".length + 3));
    received = "";
    const request = requests < REQUESTS_MAX ? next() : null;
    if (request === null) return void socket.destroy();
    requests += 1;
    socket.write(request);
  });
  socket.write(first);
  await closed(socket);
}

/** Resolves when the connection is closed, with or without an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.on("error", () => {}).once("close", () => resolve());
  });
}

function connectFrom(url: string, index: number): Socket {
  const { hostname, port } = new URL(url);
  const localAddress = `127.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, localAddress });
  return socket.on("error", () => {});
}

function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ "content-type": "application/json", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `POST ${path} HTTP/1.1\r\nhost: purser\r\n${lines.join("")}content-length: ${body.length}\r\n\r\n${body}`;
}

const ANONYMOUS = [
  { path: "/manage/v1/session", fields: ["email", "password"] },
  { path: "/manage/v1/links", fields: ["token", "password", "name"] },
  { path: "/manage/v1/setup", fields: ["token", "email", "name", "password"] },
  { path: "/no/such/path", fields: ["a"] },
];

/** The most expensive request bodies, for paths that read the body and for paths that must not read it. */
export function worstRequests(): readonly string[] {
  const anonymous = ANONYMOUS.flatMap(({ path, fields }) =>
    [4_096, 63_000].flatMap((bytes) => hostileBodies(fields, bytes).map(({ text }) => post(path, text))),
  );
  const authorization = `Bearer ${makeApiKey("live")}`;
  const forged = hostileBodies(["customerId"], 63_000).map(({ text }) =>
    post("/v1/consume", text, { authorization }),
  );
  return [...anonymous, ...forged];
}

const CONNECTIONS = 64;
/** Each connection uses a different address, so that no connection is throttled because of earlier requests. */
const ADDRESSES = 4_096;
const CHECK = '{"customerId":"customer_1","feature":"image.render"}';

/** Well-formed API keys, management tokens and sessions that do not exist. */
export function floodWithForgedSecrets(url: string, count: number): Promise<Statuses> {
  let made = 0;
  const next = (): string | null => {
    made += 1;
    if (made > count) return null;
    if (made % 3 === 1)
      return post("/manage/v1/members", "{}", { authorization: `Bearer ${makeManagementToken()}` });
    if (made % 3 === 2)
      return post("/manage/v1/members", "{}", {
        cookie: `__Host-purser_session=${makeSecret("pur_session_")}`,
      });
    return post("/v1/check", CHECK, { authorization: `Bearer ${makeApiKey("live")}` });
  };
  return startAttack({ url, connections: CONNECTIONS, addresses: ADDRESSES, next }).finished;
}

/** Sockets that send a header one byte per second. Resolves when the service has closed all of them. */
export async function floodWithSlowSockets(url: string, count: number): Promise<Statuses> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connectFrom(url, index % ADDRESSES).resume();
    socket.write("POST /manage/v1/session HTTP/1.1\r\nhost: purser\r\nx-slow: ");
    sockets.push(socket);
    if (index % 50 === 49) await pause(10);
  }
  const timer = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write("a");
  }, 1_000);
  await Promise.all(sockets.map(closed));
  clearInterval(timer);
  return {};
}

const GARBAGE = [
  "\0\0\0\0\r\n\r\n",
  "GET\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\n\r\n`,
  "POST /v1/check HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
  "POST /v1/check HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  "GET /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
  `GET / HTTP/1.1\r\n${"a: b\r\n".repeat(3_000)}\r\n`,
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

/** Bytes that are not HTTP. Resolves when every connection is closed. */
export async function floodWithGarbage(url: string, count: number): Promise<Statuses> {
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < count) {
      const index = sent++;
      const socket = connectFrom(url, index % ADDRESSES).resume();
      socket.end(Buffer.from(GARBAGE[index % GARBAGE.length] ?? "", "latin1"));
      await closed(socket);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  return {};
}
