import type { CallOutcome, HoldRequest, ReverseRequest } from "../../history.ts";
import { endHold, settle } from "./play-holds.ts";
import { openCustomer } from "./play-overage.ts";
import { consume, consumeIdOf, reverseByKey } from "./requests.ts";
import { addCall, addReplay, entryOf, OUTCOME_UNKNOWN, RESET, type Run, reused } from "./run.ts";

const NOTHING_LEFT: CallOutcome = { kind: "fail", status: 409, code: "nothing_to_reverse", conflict: null };

/** Reversals by API key, of whole charges and of parts, on a plan with overage. */
export function playReversals(run: Run): void {
  const { wallet, request, play } = openCustomer(run, "customer_10", "metered");
  const { customerId } = wallet;
  const images = (quantity: number) => ({ feature: "images.render", quantity });
  const about = (charged: string) => {
    return { endpoint: "reverse", customerId, consumeId: consumeIdOf(entryOf(run, charged)) } as const;
  };
  const part = (charged: string, marker: string, quantity: number, feature: string | null = null) => ({
    ...about(charged),
    key: `key-${marker}`,
    marker,
    quantity,
    feature,
  });
  const whole = (charged: string): ReverseRequest => {
    return { ...about(charged), key: null, marker: `reverse-${charged}`, quantity: null };
  };
  const entryFor = (charged: string, asked: ReverseRequest) => {
    const feature = asked.quantity === null ? null : asked.feature;
    const own = run.ledger.filter((entry) => entry.kind === "consume" && entry.marker === charged);
    return own.find((entry) => entry.feature === (feature ?? entry.feature)) ?? entryOf(run, charged);
  };
  const reverse = (charged: string, asked: ReverseRequest): CallOutcome =>
    reverseByKey(wallet, entryFor(charged, asked), asked);
  const ok = (charged: string, asked: ReverseRequest): void => addCall(run, asked, reverse(charged, asked));

  // 100 credits and 30 of overage.
  play(request("undone", images(13)));
  ok("undone", part("undone", "undo-2", 2));
  addReplay(run);
  addCall(run, { ...part("undone", "undo-rival", 3), key: "key-undo-2" }, reused("payload"));
  addCall(run, { ...request("undo-counterpart", images(1)), key: "key-undo-2" }, reused("endpoint"));
  addCall(run, part("undone", "undo-too-much", 12), NOTHING_LEFT);
  ok("undone", whole("undone"));
  addReplay(run);
  addCall(run, part("undone", "undo-late", 1), NOTHING_LEFT);

  const items = [
    images(9),
    { feature: "video.encode", quantity: 40 },
    { feature: "tokens.generate", quantity: 9_000 },
  ];
  play({ ...request("undone-items", images(1)), items });
  ok("undone-items", part("undone-items", "undo-item", 4_000, "tokens.generate"));
  ok("undone-items", whole("undone-items"));

  play(request("undone-unknown", images(2)));
  const lost = part("undone-unknown", "undo-unknown", 1);
  reverse("undone-unknown", lost);
  addCall(run, lost, RESET);
  addCall(run, part("undone-unknown", "undo-lost", 1), OUTCOME_UNKNOWN);
  const lostWhole = whole("undone-unknown");
  reverse("undone-unknown", lostWhole);
  addCall(run, lostWhole, RESET);

  const hold: HoldRequest = {
    ...{ endpoint: "holds", key: "key-hold-undone", marker: "hold-undone", customerId, ...images(2) },
    ...{ expiresInSeconds: 900, onExpiry: "release" },
  };
  addCall(run, hold, consume(wallet, hold));
  const settlement = settle(run, "hold-undone", "settle-undone", 15);
  addCall(run, settlement, endHold(wallet, settlement));
  ok("settle-undone", part("settle-undone", "undo-settled", 6));
  play(request("kept", images(1)));
  addCall(run, part("kept", "undo-refused", 1), { kind: "info", status: 503, reason: "unavailable" });
  wallet.close();
}
