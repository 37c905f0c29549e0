import type { Caller } from "../harness/caller.ts";
import { POOL } from "../harness/project.ts";
import type { Receiver } from "./receivers.ts";

/** Creates a webhook for each receiver, and sets when a balance is low. */
export async function listenAll(
  caller: Caller,
  receivers: readonly Receiver[],
  lowBalances: readonly number[],
): Promise<void> {
  await caller.call("PUT", `pools/${POOL}`, { body: { name: "Credits", lowBalances } });
  for (const receiver of receivers) {
    const { text } = await caller.call("POST", "webhooks", { body: { url: receiver.url } });
    receiver.secret = JSON.parse(text).secret;
  }
}
