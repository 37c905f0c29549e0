import { newWallet } from "../../entitlement/wallet.ts";
import type { Act } from "./act.ts";
import { ask, askOnly } from "./ask.ts";
import { type Customer, findCharge, type Moment, type World } from "./moment.ts";
import { operate } from "./operate.ts";

/** Replays a customer's acts with the service's own decisions, so that wallets and ledgers are consistent. */
export function simulate(world: World, customer: Customer, acts: readonly Act[]): readonly Moment[] {
  const past: Moment[] = [];
  for (const act of acts) {
    const known = { ...customer, wallet: past.at(-1)?.wallet ?? newWallet(act.at) };
    if (act.kind === "check") past.push(askOnly(world, known, act));
    else if (act.kind === "assign" || act.kind === "add_credits" || act.kind === "reverse")
      past.push(operate(world, known, act, past));
    else if (isDone(act, past)) past.push(ask(world, known, act, past));
  }
  return past;
}

function isDone(act: Act, past: readonly Moment[]): boolean {
  return act.kind !== "event" || act.ifAllowed === null || findCharge(past, act.ifAllowed) !== null;
}
