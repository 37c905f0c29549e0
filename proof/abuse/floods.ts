import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { makeApiKey, makeManagementToken, makeSecret } from "../../service/src/primitives/secret.ts";
import { closed, connectFrom, post, type Statuses, startAttack } from "./attacker.ts";

const CONNECTIONS = 64;
/** Each comes back from another one, so that nobody is held back for what an address did before. */
const ADDRESSES = 4_096;
const CHECK = '{"customerId":"customer_1","feature":"image.render"}';

/** Well-formed secrets that nobody ever made: API keys, management tokens and sessions. */
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

/** Sockets that send a header a byte at a time. Resolves when the service has closed all of them. */
export async function floodWithSlowSockets(url: string, count: number): Promise<Statuses> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connectFrom(url, index % ADDRESSES);
    socket.on("error", () => {}).resume();
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

/** What is not even HTTP. Resolves when every connection was closed. */
export async function floodWithGarbage(url: string, count: number): Promise<Statuses> {
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < count) {
      const index = sent++;
      const socket = connectFrom(url, index % ADDRESSES);
      socket.on("error", () => {}).resume();
      socket.end(Buffer.from(GARBAGE[index % GARBAGE.length] ?? "", "latin1"));
      await closed(socket);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  return {};
}
