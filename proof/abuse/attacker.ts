import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export type Attack = {
  readonly url: string;
  readonly connections: number;
  /** From how many addresses of 127.0.0.0/8 they come. */
  readonly addresses: number;
  /** The bytes of the next request. Null: that was all. */
  readonly next: () => string | null;
};

export type Statuses = Record<string, number>;

/** Calls until there is nothing more to send, or until it is stopped; each connection as soon as it was answered. */
export function startAttack(attack: Attack): {
  readonly finished: Promise<Statuses>;
  stop(): Promise<Statuses>;
} {
  const statuses: Statuses = {};
  let isOver = false;
  const open: Set<Socket> = new Set();
  const rage = async (_: unknown, index: number): Promise<void> => {
    for (let life = 0; !isOver; life++) {
      const request = attack.next();
      if (request === null) return;
      const socket = connectFrom(attack.url, (index + life * attack.connections) % attack.addresses);
      open.add(socket);
      await useConnection(socket, request, attack.next, (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
      });
      open.delete(socket);
      // Who was thrown out does not come back in the same moment.
      await pause(5);
    }
  };
  const finished = Promise.all(Array.from({ length: attack.connections }, rage)).then(() => statuses);
  return {
    finished,
    stop: () => {
      isOver = true;
      for (const socket of open) socket.destroy();
      return finished;
    },
  };
}

/** Requests of one connection before it is opened anew, from the next address: few enough that none of them is held back. */
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
  socket.on("error", () => {});
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

/** Whatever closed it: a stranger expects no better. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.on("error", () => {}).once("close", () => resolve());
  });
}

export function connectFrom(url: string, index: number): Socket {
  const { hostname, port } = new URL(url);
  const localAddress = `127.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  return connect({ host: hostname, port: Number(port), noDelay: true, localAddress });
}

export function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ "content-type": "application/json", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `POST ${path} HTTP/1.1\r\nhost: purser\r\n${lines.join("")}content-length: ${body.length}\r\n\r\n${body}`;
}
