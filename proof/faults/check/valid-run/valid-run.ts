import { brandAs, type Instant, type PoolId } from "../../../../service/src/primitives/brand.ts";
import { type PlanKey, UNKNOWN_FEATURE } from "../../catalog.ts";
import type { CallOutcome, ClientRequest, ConsumeRequest } from "../../history/call.ts";
import type { ManageRequest } from "../../history/manage-call.ts";
import type { StoredEntry } from "../stored.ts";
import { again, callOf, OUTCOME_UNKNOWN, RESET, reused, UNAVAILABLE } from "./calls.ts";
import { consume, consumeOf, okCheck, reverse } from "./decisions.ts";
import { addEvents, eventOf } from "./events.ts";
import { ReferenceWallet } from "./reference-wallet.ts";
import { emptyRun, type Run } from "./run.ts";

/** A run in which all went as promised: every kind of request, with every outcome that is valid for it. */
export function validRun(): Run {
  const run = emptyRun();
  addEvents(run);
  playRich(run);
  playDry(run);
  // Known from an event alone.
  new ReferenceWallet(run, "customer_3").close();
  return run;
}

function playRich(run: Run): void {
  const wallet = new ReferenceWallet(run, "customer_1");
  const request = consumeOf.bind(null, wallet);
  const play = (asked: ConsumeRequest): void => say(run, asked, consume(wallet, asked));
  assign(wallet, "starter");
  addCredits(wallet, "pay-1", 2_350);
  addCredits(wallet, "pay-2", 300);
  const image = request("image", "images.render", 3);
  const check = { ...image, endpoint: "check" as const, marker: "check" };
  say(run, check, okCheck(wallet, check));
  play(image);
  sayAgain(run);
  say(run, { ...request("image-rival", "images.render", 1), key: image.key }, reused("payload"));
  say(run, eventOf("image-counterpart", image.key), reused("endpoint"));
  say(run, { ...request("keyed-counterpart", "images.render", 1), key: "key-1" }, reused("endpoint"));
  play(request("tokens", "tokens.generate", 1_001));
  const stored = request("unknown-stored", "images.render", 1);
  consume(wallet, stored);
  say(run, stored, RESET);
  say(run, request("unknown-lost", "images.render", 1), OUTCOME_UNKNOWN);
  say(run, request("refused", "images.render", 1), UNAVAILABLE);
  say(run, request("nobody", "images.render", 1), { kind: "info", status: null, reason: "ECONNREFUSED" });
  const doomed: ConsumeRequest = { ...request("doomed", "images.render", 1), feature: UNKNOWN_FEATURE };
  say(run, doomed, { kind: "fail", status: 404, code: "feature_not_found", conflict: null });
  play(request("export", "reports.export", 2));
  reverse(wallet, entryOf(run, "tokens"), 500);
  assign(wallet, "growth");
  play(request("growth", "images.render", 1));
  assign(wallet, "starter");
  play(request("big", "images.render", 250));
  reverse(wallet, entryOf(run, "big"), null);
  play(request("limited", "reports.export", 39));
  wallet.close();
}

/** Has the default plan, and what little it gives. */
function playDry(run: Run): void {
  const wallet = new ReferenceWallet(run, "customer_2");
  const request = consumeOf.bind(null, wallet);
  const play = (asked: ConsumeRequest): void => say(run, asked, consume(wallet, asked));
  play(request("last", "images.render", 5));
  play(request("dry", "tokens.generate", 1));
  sayAgain(run);
  const lost = request("dry-unknown", "images.render", 1);
  consume(wallet, lost);
  say(run, lost, RESET);
  play(request("missing", "reports.export", 1));
  const expiresAtMs = wallet.nowMs + 10;
  addCredits(wallet, "promo-1", 100, { kind: "promotion", expiresAtMs });
  wallet.passUntil(expiresAtMs);
  wallet.close();
}

/** Each call begins when the one before has ended. */
function say(run: Run, request: ClientRequest, outcome: CallOutcome): void {
  run.calls.push(callOf(request, outcome, run.calls.length * 10));
}

function sayAgain(run: Run): void {
  const { request, outcome } = run.calls.at(-1) ?? {};
  if (request !== undefined && outcome !== undefined) say(run, request, again(outcome));
}

function assign(wallet: ReferenceWallet, plan: PlanKey): void {
  wallet.assign(plan);
  done(wallet.run, { operation: "assignPlan", customerId: wallet.customerId, plan });
}

function addCredits(
  wallet: ReferenceWallet,
  reference: string,
  credits: number,
  more: { kind: "purchase" | "promotion"; expiresAtMs: number | null } = {
    kind: "purchase",
    expiresAtMs: null,
  },
): void {
  const { run, customerId } = wallet;
  const { kind: source, expiresAtMs } = more;
  const pool = brandAs<PoolId>(run.pools[0]?.id ?? 0);
  const expiresAt = expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs);
  done(run, { operation: "addCredits", customerId, reference, credits, ...more });
  wallet.commit({ kind: "add", pool, source, credits, expiresAt }, { reference });
}

function done(run: Run, request: ManageRequest): void {
  run.manageCalls.push({ request, startMs: 0, endMs: 5, outcome: { kind: "done" } });
}

export function entryOf(run: Run, marker: string): StoredEntry {
  const entry = run.ledger.find((other) => other.marker === marker);
  if (entry === undefined) throw new Error(`${marker} is not in the ledger`);
  return entry;
}
