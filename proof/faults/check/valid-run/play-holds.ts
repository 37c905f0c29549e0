import { sumOf } from "../../../../service/src/entitlement/part-lists.ts";
import { brandAs, type Instant } from "../../../../service/src/primitives/brand.ts";
import { decodeHoldState } from "../../../../service/src/store/cell/hold-state.ts";
import type { Answer } from "../../../../service/test/model/request.ts";
import type { FeatureKey } from "../../catalog.ts";
import type { CallOutcome, HoldChangeRequest, HoldRequest, Item } from "../../history.ts";
import type { StoredHoldChange } from "../stored.ts";
import { ReferenceWallet } from "./reference-wallet.ts";
import { consume, consumeIdOf, holdIdOf, reverse } from "./requests.ts";
import { addCall, addReplay, entryOf, OUTCOME_UNKNOWN, RESET, type Run, reused } from "./run.ts";

type Terms = Partial<Pick<HoldRequest, "expiresInSeconds" | "onExpiry">>;

/** Plays holds that end in every possible way, on a plan with allowances in both pools. */
export function playHolds(run: Run): void {
  const wallet = new ReferenceWallet(run, "customer_7");
  const { customerId } = wallet;
  const request = (
    marker: string,
    feature: FeatureKey,
    quantity: number,
    terms: Terms = {},
  ): HoldRequest => ({
    ...{ endpoint: "holds", key: `key-${marker}`, marker, customerId, feature, quantity },
    ...{ expiresInSeconds: 900, onExpiry: "release", ...terms },
  });
  const open = (asked: HoldRequest): void => addCall(run, asked, consume(wallet, asked));
  const end = (asked: HoldChangeRequest): void => addCall(run, asked, endHold(wallet, asked));
  wallet.assign("studio");
  run.manageCalls.push({
    request: { operation: "assignPlan", customerId, plan: "studio", startsAtMs: null },
    ...{ startMs: 0, endMs: 5, outcome: { kind: "done" } },
  });

  open(request("hold-part", "images.render", 4));
  addReplay(run);
  addCall(run, { ...request("hold-rival", "images.render", 1), key: "key-hold-part" }, reused("payload"));
  end(settle(run, "hold-part", "settle-part", 3));
  addReplay(run);
  addCall(run, settle(run, "hold-part", "settle-rival", 2), rejected("hold_settled"));
  addCall(run, release(run, "hold-part", "release-rival"), rejected("hold_settled"));

  const several: HoldRequest = {
    ...request("hold-items", "images.render", 1),
    items: [
      { feature: "images.render", quantity: 2 },
      { feature: "video.encode", quantity: 5 },
      { feature: "tokens.generate", quantity: 1_001 },
    ],
  };
  open(several);
  end({
    ...settle(run, "hold-items", "settle-items", null),
    used: [
      { feature: "tokens.generate", quantity: 2_500 },
      { feature: "images.render", quantity: 1 },
    ],
  });

  const lost = request("hold-unknown-stored", "images.render", 1);
  consume(wallet, lost);
  addCall(run, lost, RESET);
  addCall(run, request("hold-unknown-lost", "images.render", 1), OUTCOME_UNKNOWN);

  open(request("hold-free", "reports.export", 3));
  end(settle(run, "hold-free", "settle-none", 0));
  open(request("hold-released", "audio.transcribe", 90));
  end(release(run, "hold-released", "release"));
  addReplay(run);
  addCall(run, settle(run, "hold-released", "settle-released", 1), rejected("hold_released"));

  open(request("hold-extended", "images.render", 1));
  extend(wallet, "hold-extended", "extend", 3);
  const unknown = settle(run, "hold-extended", "settle-unknown", 2);
  endHold(wallet, unknown);
  addCall(run, unknown, RESET);

  // The remaining credits do not cover 200 images.
  open(request("hold-dry", "images.render", 200));
  open(request("hold-open", "images.render", 2));
  open(request("hold-late", "images.render", 2, { expiresInSeconds: 60 }));
  open(request("hold-expired", "video.encode", 2, { expiresInSeconds: 60 }));
  open(request("hold-charged", "video.encode", 3, { expiresInSeconds: 60, onExpiry: "charge" }));
  wallet.passUntil(wallet.nowMs + 60_010);
  addCall(run, release(run, "hold-expired", "release-expired"), rejected("hold_expired"));
  addCall(run, settle(run, "hold-charged", "settle-charged", 1), rejected("hold_settled"));
  end(settle(run, "hold-late", "settle-late", 1));
  // Needs more than the hold and all other credits.
  open(request("hold-beyond", "images.render", 1));
  end(settle(run, "hold-beyond", "settle-beyond", 30));
  reverse(wallet, entryOf(run, "settle-beyond"), 29);
  wallet.close();
}

export function openingOf(run: Run, marker: string): StoredHoldChange {
  const row = run.holdChanges.find((other) => other.marker === marker);
  if (row === undefined) throw new Error(`${marker} opened no hold`);
  return row;
}

type Settle = Extract<HoldChangeRequest, { endpoint: "settle" }>;

export function settle(run: Run, opened: string, marker: string, used: Settle["used"]): Settle {
  return { ...changeOf(run, opened, marker), endpoint: "settle", used, atMostHeld: false };
}

export function release(run: Run, opened: string, marker: string): HoldChangeRequest {
  return { ...changeOf(run, opened, marker), endpoint: "release" };
}

function changeOf(run: Run, opened: string, marker: string) {
  const row = openingOf(run, opened);
  const customerId = run.customers.find(({ number }) => number === row.customer)?.customerId ?? "";
  return { key: null, marker, customerId, holdId: holdIdOf(row) };
}

function rejected(code: string): CallOutcome {
  return { kind: "fail", status: 409, code, conflict: null };
}

/** Ends the hold and stores the response with it. */
export function endHold(wallet: ReferenceWallet, request: HoldChangeRequest): CallOutcome {
  if (request.endpoint === "extend") throw new Error("an extension does not end a hold");
  const { run } = wallet;
  const { number, items, credits } = findHeld(run, request.holdId);
  const isSettled = request.endpoint === "settle";
  const marker = isSettled ? request.marker : null;
  const first = run.ledger.length;
  const answer = isSettled
    ? wallet.commit(
        {
          kind: "settle",
          hold: number - 1,
          quantities: usedOf(request, items),
          atMostHeld: request.atMostHeld,
        },
        { marker },
      )
    : wallet.commit({ kind: "release", hold: number - 1 });
  const charge = run.ledger.slice(first).find(({ kind }) => kind === "consume");
  const consumeId = charge === undefined ? null : consumeIdOf(charge);
  const text = JSON.stringify({ ...closingOf(wallet, { items, credits, answer }), consumeId });
  const row = run.holdChanges.pop();
  if (row === undefined) throw new Error("the end of the hold was not stored");
  run.holdChanges.push({ ...row, marker, answer: text });
  const { holdId, customerId } = request;
  const body = `${JSON.stringify({ holdId, customerId }).slice(0, -1)},${text.slice(1)}`;
  return { kind: "ok", body, isReplay: false };
}

/** The hold after its last change. */
function findHeld(
  run: Run,
  holdId: string,
): { number: number; items: Item[]; credits: number; overage: number } {
  const row = run.holdChanges.findLast((other) => holdIdOf(other) === holdId);
  if (row === undefined) throw new Error(`there is no hold ${holdId}`);
  const { items } = decodeHoldState(row.state);
  return {
    number: row.hold,
    items: items.map(({ feature, quantity }) => {
      return { feature: run.features.find(({ id }) => id === feature)?.key ?? "", quantity };
    }),
    credits: sumOf(items.flatMap((item) => item.parts)),
    overage: sumOf(items.flatMap((item) => item.overage)),
  };
}

function usedOf({ used }: Settle, items: readonly Item[]): number[] | null {
  if (used === null) return null;
  if (typeof used === "number") return [used];
  return items.map(({ feature }) => used.find((item) => item.feature === feature)?.quantity ?? 0);
}

/** Renders the response without the service's code, to check it. */
function closingOf(
  wallet: ReferenceWallet,
  { items, credits, answer }: { items: readonly Item[]; credits: number; answer: Answer },
): object {
  const late = answer.kind === "settled" && answer.isLate;
  const uses =
    answer.kind === "settled"
      ? answer.items
      : items.map(() => ({
          ...{
            quantity: 0,
            creditsRequired: 0,
            creditsCharged: 0,
            creditsFromHold: 0,
            overageCredits: 0,
            creditsBeyondHold: 0,
            creditsUncovered: 0,
          },
        }));
  const sum = (of: Exclude<keyof (typeof uses)[number], "quantity">): number =>
    uses.reduce((total, use) => total + use[of], 0);
  return {
    ...{ status: answer.kind, late, creditsCharged: sum("creditsCharged") },
    creditsReleased: (late ? 0 : credits) - sum("creditsFromHold"),
    overageCredits: sum("overageCredits"),
    ...{ creditsBeyondHold: sum("creditsBeyondHold"), creditsUncovered: sum("creditsUncovered") },
    items: uses.map(({ creditsFromHold: _, ...use }, index) => {
      const feature = items[index]?.feature ?? "";
      const [position] = wallet.check([{ feature, quantity: 1 }]).items;
      return { feature, ...use, pool: wallet.poolOf(feature), balance: position?.before?.balance };
    }),
  };
}

export function extend(wallet: ReferenceWallet, opened: string, marker: string, quantity: number): void {
  const { run } = wallet;
  const change = changeOf(run, opened, marker);
  const { number } = findHeld(run, change.holdId);
  const expiresAtMs = openingOf(run, opened).expiresAtMs + 30_000;
  wallet.commit({ kind: "extend", hold: number - 1, quantity, expiresAt: brandAs<Instant>(expiresAtMs) });
  const { credits: creditsHeld, overage: overageCredits } = findHeld(run, change.holdId);
  const expiresAt = new Date(expiresAtMs).toISOString();
  const { holdId, customerId } = change;
  const held = { quantity, creditsHeld, overageCredits, expiresAt };
  const body = { holdId, customerId, allowed: true, reason: null, ...held };
  addCall(
    run,
    { ...change, endpoint: "extend", quantity, expiresAt },
    {
      ...{ kind: "ok", body: JSON.stringify(body), isReplay: false },
    },
  );
}
