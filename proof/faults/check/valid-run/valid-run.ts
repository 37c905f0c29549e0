import { brandAs, type Instant, type PoolId } from "../../../../service/src/primitives/brand.ts";
import { POOL } from "../../../harness/project.ts";
import { type FeatureKey, MINUTES, type PlanKey, type PoolKey, UNKNOWN_FEATURE } from "../../catalog.ts";
import type { ConsumeRequest, ManageRequest } from "../../history.ts";
import { playHolds } from "./play-holds.ts";
import { playOverage } from "./play-overage.ts";
import { playReversals } from "./play-reversals.ts";
import { ReferenceWallet } from "./reference-wallet.ts";
import { consume, okCheck, reverse } from "./requests.ts";
import {
  addCall,
  addEvents,
  addReplay,
  emptyRun,
  entryOf,
  eventOf,
  OUTCOME_UNKNOWN,
  RESET,
  type Run,
  reused,
  UNAVAILABLE,
} from "./run.ts";

let played: Run | null = null;

/** A run without violations: every kind of request with every valid outcome. Tests may change its lists, but not its rows. */
export function validRun(): Run {
  played ??= playAll();
  const { calls, manageCalls, ...stored } = played;
  return {
    ...{ calls: [...calls], manageCalls: [...manageCalls] },
    ...{ events: [...stored.events], keys: [...stored.keys], customers: [...stored.customers] },
    ...{ wallets: [...stored.wallets], grants: [...stored.grants], ledger: [...stored.ledger] },
    ...{ denials: [...stored.denials], holdChanges: [...stored.holdChanges] },
    ...{ assignments: [...stored.assignments], pools: [...stored.pools], features: [...stored.features] },
    ...{ plans: [...stored.plans], planVersions: [...stored.planVersions] },
  };
}

function playAll(): Run {
  const run = emptyRun();
  addEvents(run);
  playRich(run);
  playDry(run);
  // Created by an event, without any decision.
  new ReferenceWallet(run, "customer_3").close();
  playExpired(run);
  playItems(run);
  playHolds(run);
  playOverage(run);
  playReversals(run);
  return run;
}

/** Sends consume requests for this customer. The marker determines the key. */
const consumeBy =
  ({ customerId }: ReferenceWallet) =>
  (marker: string, feature: FeatureKey, quantity: number): ConsumeRequest => ({
    ...{ endpoint: "consume", key: `key-${marker}`, marker, customerId, feature, quantity },
  });

function playRich(run: Run): void {
  const wallet = new ReferenceWallet(run, "customer_1");
  const request = consumeBy(wallet);
  const play = (asked: ConsumeRequest): void => addCall(run, asked, consume(wallet, asked));
  assign(wallet, "starter");
  addCredits(wallet, "pay-1", 2_350);
  addCredits(wallet, "pay-2", 300);
  const image = request("image", "images.render", 3);
  const check = { ...image, endpoint: "check" as const, marker: "check" };
  addCall(run, check, okCheck(wallet, check));
  play(image);
  addReplay(run);
  addCall(run, { ...request("image-rival", "images.render", 1), key: image.key }, reused("payload"));
  addCall(run, eventOf("image-counterpart", image.key), reused("endpoint"));
  addCall(run, { ...request("keyed-counterpart", "images.render", 1), key: "key-1" }, reused("endpoint"));
  play(request("tokens", "tokens.generate", 1_001));
  const stored = request("unknown-stored", "images.render", 1);
  consume(wallet, stored);
  addCall(run, stored, RESET);
  addCall(run, request("unknown-lost", "images.render", 1), OUTCOME_UNKNOWN);
  addCall(run, request("refused", "images.render", 1), UNAVAILABLE);
  addCall(run, request("nobody", "images.render", 1), { kind: "info", status: null, reason: "ECONNREFUSED" });
  const invalid: ConsumeRequest = { ...request("invalid", "images.render", 1), feature: UNKNOWN_FEATURE };
  addCall(run, invalid, { kind: "fail", status: 404, code: "feature_not_found", conflict: null });
  play(request("export", "reports.export", 2));
  reverse(wallet, entryOf(run, "tokens"), 500);
  const startsAtMs = wallet.nowMs + 10;
  assign(wallet, "growth", startsAtMs);
  wallet.passUntil(startsAtMs);
  play(request("growth", "images.render", 1));
  assign(wallet, "starter");
  assign(wallet, "studio", wallet.nowMs + 1_000);
  // The customer already has this plan, so the pending change is dropped.
  assign(wallet, "starter", wallet.nowMs + 2_000);
  play(request("big", "images.render", 250));
  reverse(wallet, entryOf(run, "big"), null);
  play(request("limited", "reports.export", 39));
  wallet.close();
}

/** Uses up the small allowance of the default plan. */
function playDry(run: Run): void {
  const wallet = new ReferenceWallet(run, "customer_2");
  const request = consumeBy(wallet);
  const play = (asked: ConsumeRequest): void => addCall(run, asked, consume(wallet, asked));
  play(request("last", "images.render", 5));
  play(request("dry", "tokens.generate", 1));
  addReplay(run);
  const lost = request("dry-unknown", "images.render", 1);
  consume(wallet, lost);
  addCall(run, lost, RESET);
  play(request("missing", "reports.export", 1));
  const expiresAtMs = wallet.nowMs + 10;
  addCredits(wallet, "promo-1", 100, { kind: "promotion", expiresAtMs });
  wallet.passUntil(expiresAtMs);
  assign(wallet, "growth", wallet.nowMs + 1_000);
  wallet.close();
}

/** A charge to two grants is reversed after both have expired. */
function playExpired(run: Run): void {
  const wallet = new ReferenceWallet(run, "customer_4");
  const expiresAtMs = wallet.nowMs + 20;
  addCredits(wallet, "promo-2", 10, { kind: "promotion", expiresAtMs });
  addCredits(wallet, "promo-3", 10, { kind: "promotion", expiresAtMs: expiresAtMs + 1 });
  const asked = consumeBy(wallet)("both", "images.render", 2);
  addCall(run, asked, consume(wallet, asked));
  wallet.passUntil(expiresAtMs + 5);
  reverse(wallet, entryOf(run, "both"), null);
  wallet.close();
}

/** Requests with items of both pools, on a plan with allowances in both. */
function playItems(run: Run): void {
  const wallet = new ReferenceWallet(run, "customer_5");
  const { customerId } = wallet;
  const request = (marker: string, items: Partial<Record<FeatureKey, number>>): ConsumeRequest => ({
    ...{ endpoint: "consume", key: `key-${marker}`, marker, customerId },
    items: Object.entries(items).map(([feature, quantity]) => ({ feature, quantity })),
  });
  const play = (asked: ConsumeRequest): void => addCall(run, asked, consume(wallet, asked));
  const check = (asked: ConsumeRequest): void => {
    const sent = { ...asked, endpoint: "check" as const, marker: `${asked.marker}-check` };
    addCall(run, sent, okCheck(wallet, sent));
  };
  assign(wallet, "studio");
  addCredits(wallet, "pay-3", 40, { pool: MINUTES });
  const three = request("three", { "images.render": 2, "audio.transcribe": 90, "tokens.generate": 1_001 });
  check(three);
  play(three);
  addReplay(run);
  addCall(run, { ...request("three-rival", { "images.render": 2 }), key: three.key }, reused("payload"));
  play(request("one", { "video.encode": 5 }));
  const stored = request("items-unknown-stored", { "video.encode": 30, "reports.export": 4 });
  consume(wallet, stored);
  addCall(run, stored, RESET);
  addCall(run, request("items-unknown-lost", { "images.render": 1, "video.encode": 1 }), OUTCOME_UNKNOWN);
  addCall(run, request("items-refused", { "images.render": 1, "video.encode": 1 }), UNAVAILABLE);
  const invalid = {
    ...request("items-invalid", {}),
    items: [
      { feature: "images.render", quantity: 1 },
      { feature: UNKNOWN_FEATURE, quantity: 1 },
    ],
  };
  addCall(run, invalid, { kind: "fail", status: 404, code: "feature_not_found", conflict: null });
  // 58 minutes are left, which is not enough for the second item in this pool.
  const dry = request("items-dry", { "audio.transcribe": 600, "images.render": 1, "video.encode": 25 });
  check(dry);
  play(dry);
  addReplay(run);
  const lost = request("items-dry-unknown", { "images.render": 5, "tokens.generate": 60_000 });
  consume(wallet, lost);
  addCall(run, lost, RESET);
  play(request("items-limited", { "images.render": 1, "reports.export": 47, "video.encode": 1 }));
  play(request("one-dry", { "video.encode": 100 }));
  const charges = run.ledger.filter(({ marker }) => marker === "three");
  const [image, audio] = charges;
  if (image === undefined || audio === undefined) throw new Error("three has no charges");
  reverse(wallet, audio, 30, 1);
  reverse(wallet, image, null);
  play(request("two", { "images.render": 1, "video.encode": 2 }));
  wallet.close();
  const other = new ReferenceWallet(run, "customer_6");
  const missing = {
    ...request("items-missing", { "tokens.generate": 1, "video.encode": 1 }),
    customerId: other.customerId,
  };
  addCall(run, missing, consume(other, missing));
  other.close();
}

function assign(wallet: ReferenceWallet, plan: PlanKey, startsAtMs: number | null = null): void {
  wallet.assign(plan, startsAtMs);
  done(wallet.run, { operation: "assignPlan", customerId: wallet.customerId, plan, startsAtMs });
}

function addCredits(
  wallet: ReferenceWallet,
  reference: string,
  credits: number,
  more: { pool?: PoolKey; kind?: "purchase" | "promotion"; expiresAtMs?: number | null } = {},
): void {
  const { run, customerId } = wallet;
  const { pool: key = POOL, kind = "purchase", expiresAtMs = null } = more;
  const pool = brandAs<PoolId>(run.pools.find((other) => other.key === key)?.id ?? 0);
  const expiresAt = expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs);
  done(run, { operation: "addCredits", customerId, pool: key, reference, credits, kind, expiresAtMs });
  wallet.commit({ kind: "add", pool, source: kind, credits, expiresAt }, { reference });
}

function done(run: Run, request: ManageRequest): void {
  run.manageCalls.push({ request, startMs: 0, endMs: 5, outcome: { kind: "done" } });
}
