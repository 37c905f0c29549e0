import type { PlanKey } from "../../catalog.ts";
import type { ConsumeRequest, HoldRequest, Item } from "../../history.ts";
import { endHold, extend, release, settle } from "./play-holds.ts";
import { ReferenceWallet } from "./reference-wallet.ts";
import { consume, okCheck, reverse } from "./requests.ts";
import { addCall, addReplay, entryOf, RESET, type Run } from "./run.ts";

const images = (quantity: number): Item => ({ feature: "images.render", quantity });
const videos = (quantity: number): Item => ({ feature: "video.encode", quantity });

/** Charges, holds and reversals that use overage. The plan has 100 credits and 60 minutes, and an overage of 600 and 250. */
export function playOverage(run: Run): void {
  const { wallet, request, play } = openCustomer(run, "customer_8", "metered");
  play(request("within", images(4)));
  const check = { ...request("beyond", images(9)), endpoint: "check" as const, marker: "beyond-check" };
  addCall(run, check, okCheck(wallet, check));
  // 60 credits and 30 of overage.
  play(request("beyond", images(9)));
  addReplay(run);
  const both = { ...request("beyond-both", images(1)), items: [videos(25), images(2)] };
  play(both);
  // 10 minutes are left.
  play({ ...request("beyond-items", images(1)), items: [images(3), videos(12)] });
  const lost = request("beyond-unknown", images(1));
  consume(wallet, lost);
  addCall(run, lost, RESET);
  play(request("beyond-denied", images(60)));
  reverse(wallet, entryOf(run, "beyond"), 4);

  const hold = (marker: string, item: Item, terms: Partial<HoldRequest> = {}): void => {
    const asked: HoldRequest = {
      ...{ endpoint: "holds", key: `key-${marker}`, marker, customerId: wallet.customerId, ...item },
      ...{ expiresInSeconds: 900, onExpiry: "release", ...terms },
    };
    addCall(run, asked, consume(wallet, asked));
  };
  hold("hold-over", images(6));
  addReplay(run);
  const over = settle(run, "hold-over", "settle-over", 8);
  addCall(run, over, endHold(wallet, over));
  hold("hold-over-extended", images(2));
  extend(wallet, "hold-over-extended", "extend-over", 4);
  hold("hold-over-released", videos(4));
  const free = release(run, "hold-over-released", "release-over");
  addCall(run, free, endHold(wallet, free));
  hold("hold-over-charged", images(2), { expiresInSeconds: 60, onExpiry: "charge" });
  wallet.passUntil(wallet.nowMs + 60_010);
  // Needs more than the remaining overage.
  hold("hold-over-beyond", images(1));
  const uncovered = settle(run, "hold-over-beyond", "settle-over-beyond", 60);
  addCall(run, uncovered, endHold(wallet, uncovered));
  reverse(wallet, entryOf(run, "settle-over-beyond"), 10);
  wallet.close();

  const other = openCustomer(run, "customer_9", "postpaid");
  other.play(other.request("unlimited", images(500)));
  other.wallet.close();
}

/** Creates a customer on this plan. Returns a function that sends consume requests for the customer. */
export function openCustomer(run: Run, customerId: string, plan: PlanKey) {
  const wallet = new ReferenceWallet(run, customerId);
  wallet.assign(plan);
  run.manageCalls.push({
    request: { operation: "assignPlan", customerId, plan, startsAtMs: null },
    ...{ startMs: 0, endMs: 5, outcome: { kind: "done" } },
  });
  const request = (marker: string, item: Item): ConsumeRequest & Item => ({
    ...{ endpoint: "consume", key: `key-${marker}`, marker, customerId, ...item },
  });
  const play = (asked: ConsumeRequest): void => addCall(run, asked, consume(wallet, asked));
  return { wallet, request, play };
}
