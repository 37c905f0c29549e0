import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "../history/call.ts";
import type { History } from "../history/history.ts";
import { Client } from "./client.ts";
import { isKeyed, type KeyedRequest } from "./make-request.ts";
import type { Target } from "./post.ts";

const CLIENTS = 8;
const TIME_MAX_MS = 60_000;
const ATTEMPT_PAUSE_MS = 100;

/**
 * After healing: retries half of the keyed requests that met an indefinite outcome, until it is definite. The other
 * half is left as it is, to be judged from the database alone. Returns how many were retried, and how many in vain.
 */
export async function settleUnknown(
  target: Target,
  history: History,
): Promise<{ retried: number; unsettled: number }> {
  const giveUpAtMs = performance.now() + TIME_MAX_MS;
  const retries = half(indefinite(history.calls));
  const waiting = [...retries];
  let unsettled = 0;
  const work = async (client: Client): Promise<void> => {
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
      if (!(await isSettled(client, request, giveUpAtMs))) unsettled += 1;
    }
    client.close();
  };
  const clients = Array.from(
    { length: CLIENTS },
    (_, index) => new Client(`retry-${index}`, target, history),
  );
  await Promise.all(clients.map(work));
  return { retried: retries.length, unsettled };
}

async function isSettled(client: Client, request: KeyedRequest, giveUpAtMs: number): Promise<boolean> {
  while (performance.now() < giveUpAtMs) {
    const { outcome } = await client.send(request);
    if (outcome.kind !== "info") return true;
    await pause(ATTEMPT_PAUSE_MS);
  }
  return false;
}

/** Each request once, however many of its calls went wrong. */
function indefinite(calls: readonly Call[]): KeyedRequest[] {
  const byMarker = new Map<string, KeyedRequest>();
  for (const { request, outcome } of calls) {
    if (isKeyed(request) && outcome.kind === "info") byMarker.set(request.marker, request);
  }
  return [...byMarker.values()];
}

function half(requests: readonly KeyedRequest[]): KeyedRequest[] {
  return requests.filter((_, index) => index % 2 === 0);
}
