import { type PlanKey, UNKNOWN_FEATURE } from "../../catalog.ts";
import type { CallOutcome, ClientRequest, ConsumeRequest } from "../../history/call.ts";
import type { ManageRequest } from "../../history/manage-call.ts";
import type { StoredEntry } from "../stored.ts";
import { again, callOf, OUTCOME_UNKNOWN, RESET, reused, UNAVAILABLE } from "./calls.ts";
import { charge, consumeOf, deny, okCheck, reverse } from "./consumes.ts";
import { addEvents, eventOf } from "./events.ts";
import { Purse, RUN_BEGAN_MS } from "./purse.ts";
import { emptyRun, type Run } from "./run.ts";

/** A run in which all went as promised: every kind of request, with every kind of outcome it may honestly have. */
export function honestRun(): Run {
  const run = emptyRun();
  addEvents(run);
  playRich(run);
  playDry(run);
  // Known from an event alone.
  new Purse(run, "customer_3").close();
  return run;
}

function playRich(run: Run): void {
  const purse = new Purse(run, "customer_1");
  const consume = consumeOf.bind(null, purse);
  assign(purse, "starter");
  addCredits(purse, "pay-1", 2_350);
  addCredits(purse, "pay-2", 300);
  const image = consume("image", "images.render", 3);
  const tokens = consume("tokens", "tokens.generate", 1_001);
  const check = { ...image, endpoint: "check" as const, marker: "check" };
  say(run, check, okCheck(purse, check));
  say(run, image, charge(purse, image));
  sayAgain(run);
  say(run, { ...consume("image-rival", "images.render", 1), key: image.key }, reused("payload"));
  say(run, eventOf("image-counterpart", image.key), reused("endpoint"));
  say(run, { ...consume("keyed-counterpart", "images.render", 1), key: "key-1" }, reused("endpoint"));
  say(run, tokens, charge(purse, tokens));
  const stored = consume("unknown-stored", "images.render", 1);
  charge(purse, stored);
  say(run, stored, RESET);
  say(run, consume("unknown-lost", "images.render", 1), OUTCOME_UNKNOWN);
  say(run, consume("refused", "images.render", 1), UNAVAILABLE);
  say(run, consume("nobody", "images.render", 1), { kind: "info", status: null, reason: "ECONNREFUSED" });
  const doomed: ConsumeRequest = { ...consume("doomed", "images.render", 1), feature: UNKNOWN_FEATURE };
  say(run, doomed, { kind: "fail", status: 404, code: "feature_not_found", conflict: null });
  const exported = consume("export", "reports.export", 2);
  say(run, exported, charge(purse, exported));
  reverse(purse, entryOf(run, "tokens"), 500);
  assign(purse, "growth");
  const grown = consume("growth", "images.render", 1);
  say(run, grown, charge(purse, grown));
  assign(purse, "starter");
  const big = consume("big", "images.render", 250);
  say(run, big, charge(purse, big));
  reverse(purse, entryOf(run, "big"), null);
  const limited = consume("limited", "reports.export", 39);
  say(run, limited, deny(purse, limited, "limit_reached"));
  purse.close();
}

/** Has the default plan, and what little it gives. */
function playDry(run: Run): void {
  const purse = new Purse(run, "customer_2");
  const consume = consumeOf.bind(null, purse);
  purse.assign("free");
  const last = consume("last", "images.render", 5);
  say(run, last, charge(purse, last));
  const dry = consume("dry", "tokens.generate", 1);
  say(run, dry, deny(purse, dry, "insufficient_credits"));
  sayAgain(run);
  const lost = consume("dry-unknown", "images.render", 1);
  deny(purse, lost, "insufficient_credits");
  say(run, lost, RESET);
  const missing = consume("missing", "reports.export", 1);
  say(run, missing, deny(purse, missing, "feature_not_in_plan"));
  const expiresAtMs = RUN_BEGAN_MS + purse.sequence + 2;
  const grant = addCredits(purse, "promo-1", 100, { kind: "promotion", expiresAtMs });
  purse.move("expire", [{ grant, amount: -100 }]);
  purse.grants = purse.grants.filter(({ number }) => number !== grant);
  purse.close();
}

/** Each call begins when the one before has ended. */
function say(run: Run, request: ClientRequest, outcome: CallOutcome): void {
  run.calls.push(callOf(request, outcome, run.calls.length * 10));
}

function sayAgain(run: Run): void {
  const { request, outcome } = run.calls.at(-1) ?? {};
  if (request !== undefined && outcome !== undefined) say(run, request, again(outcome));
}

function assign(purse: Purse, plan: PlanKey): void {
  purse.assign(plan);
  done(purse.run, { operation: "assignPlan", customerId: purse.customerId, plan });
}

function addCredits(
  purse: Purse,
  reference: string,
  credits: number,
  more: { kind: "purchase" | "promotion"; expiresAtMs: number | null } = {
    kind: "purchase",
    expiresAtMs: null,
  },
): number {
  const { customerId } = purse;
  done(purse.run, { operation: "addCredits", customerId, reference, credits, ...more });
  return purse.grant({ credits, reference, ...more });
}

function done(run: Run, request: ManageRequest): void {
  run.manageCalls.push({ request, startMs: 0, endMs: 5, outcome: { kind: "done" } });
}

export function entryOf(run: Run, marker: string): StoredEntry {
  const entry = run.ledger.find((other) => other.marker === marker);
  if (entry === undefined) throw new Error(`${marker} is not in the ledger`);
  return entry;
}
