import { brandAs, type Instant } from "../../words/brand.ts";
import { type Act, DAY_MS, FIRST_DAY, timeOn } from "./act.ts";
import { type Chance, openChance } from "./chance.ts";
import type { Company } from "./companies.ts";
import { listHabits } from "./habits.ts";
import { listSupportCases } from "./support-cases.ts";
import { listUsage } from "./usage.ts";

const LETTERS_AND_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MINUTE_MS = 60_000;

/** All that happens to a company up to now, in the order of time: it joins, gets plans, buys credits, uses the product. */
export function liveCompany(company: Company, now: Instant): readonly Act[] {
  const chance = openChance(company.seed);
  const joinedAt = timeOn(now, company.joined, company.joinedTime ?? timeOfDay(chance));
  const joined: Act = {
    kind: "event",
    at: joinedAt,
    event: "signup.completed",
    quantity: 1,
    metadata: { source: "web" },
    ifAllowed: null,
  };
  const acts: Act[] = [
    joined,
    ...listPlans(company, chance, joinedAt, now),
    ...listGifts(company, chance, joinedAt),
  ];
  for (const day of company.packs) acts.push(buyPack(chance, timeOn(now, day, timeOfDay(chance))));
  for (let day = company.joined; day >= 0; day--) acts.push(...listUsage(company, chance, day, now));
  acts.push(...listSupportCases(company.id, now));
  acts.push(...listHabits(company, acts, now));
  return acts.filter(({ at }) => at >= joinedAt && at < now - MINUTE_MS).sort((a, b) => a.at - b.at);
}

function listPlans({ joined, plans }: Company, chance: Chance, joinedAt: Instant, now: Instant): Act[] {
  return plans.map(({ plan, day, lastsDays }) => {
    const at = day === joined ? later(joinedAt, 11 * MINUTE_MS) : timeOn(now, day, timeOfDay(chance));
    return { kind: "assign", at, plan, endsAt: lastsDays === null ? null : later(at, lastsDays * DAY_MS) };
  });
}

/** Whoever began without a plan got some credits to try it with, for a while. */
function listGifts({ joined, plans }: Company, chance: Chance, joinedAt: Instant): Act[] {
  if (plans.length > 0 || joined > FIRST_DAY - 15 || chance.fraction() < 0.4) return [];
  return [
    {
      kind: "add_credits",
      by: "billing",
      at: later(joinedAt, 2 * MINUTE_MS),
      grant: "promotion",
      credits: 100,
      expiresAt: later(joinedAt, 14 * DAY_MS),
      reference: null,
      price: null,
      note: "Welcome credits",
    },
  ];
}

function buyPack(chance: Chance, at: Instant): Act {
  const packs = chance.between(1, 2);
  return {
    kind: "add_credits",
    by: "billing",
    at,
    grant: "purchase",
    credits: packs * 1_000,
    expiresAt: null,
    reference: `pi_3S${chance.word(LETTERS_AND_DIGITS, 22)}`,
    price: { amount: packs * 1_950, currency: "USD" },
    note: null,
  };
}

function timeOfDay(chance: Chance): string {
  return `${chance.between(7, 18)}:${chance.between(0, 59)}:${chance.between(0, 59_999) / 1000}`;
}

function later(at: Instant, ms: number): Instant {
  return brandAs<Instant>(at + ms);
}
