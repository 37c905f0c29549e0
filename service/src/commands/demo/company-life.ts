import { brandAs, type Instant } from "../../primitives/brand.ts";
import { type Act, DAY_MS, FIRST_DAY, LOG_DAYS, timeOn } from "./act.ts";
import { type Chance, openChance } from "./chance.ts";
import { listChats } from "./chats.ts";
import { CARELESS, type Company, EAGER, PAID_IN_VAIN } from "./companies.ts";
import { listSupportCases } from "./support-cases.ts";
import { listUsage } from "./usage.ts";

const LETTERS_AND_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MINUTE_MS = 60_000;

/** A company's history up to now, in order: sign-up, plans, purchases and usage. */
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
  acts.push(...listSupportCases(company.id, now), ...listChats(company.id, now));
  acts.push(...listHabits(company, acts, now));
  return acts.filter(({ at }) => at >= joinedAt && at < now - MINUTE_MS).sort((a, b) => a.at - b.at);
}

function listPlans({ joined, plans }: Company, chance: Chance, joinedAt: Instant, now: Instant): Act[] {
  return plans.map(({ plan, day, lastsDays }) => {
    const at = day === joined ? later(joinedAt, 11 * MINUTE_MS) : timeOn(now, day, timeOfDay(chance));
    return { kind: "assign", at, plan, endsAt: lastsDays === null ? null : later(at, lastsDays * DAY_MS) };
  });
}

/** Trial credits for some companies without a plan. */
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

type Consume = Extract<Act, { kind: "consume" }>;

/** Requests that appear only in the request log: checks before a charge, retries, and integration bugs. */
function listHabits(company: Company, acts: readonly Act[], now: Instant): Act[] {
  // Uses a separate seed, so that these requests do not change the rest of the demo.
  const chance = openChance(-company.seed * 7);
  const consumes = acts.filter((act) => act.kind === "consume");
  const lately = consumes.filter(({ at }) => at >= now - LOG_DAYS * DAY_MS);
  return [
    ...lately.flatMap((consume) => [...askBefore(chance, consume), ...tryAgain(chance, consume)]),
    ...(MISTAKES[company.id]?.(now, consumes) ?? []),
  ];
}

/** Checks while a user fills in a form. */
function askBefore(chance: Chance, { at, feature, quantity }: Consume): Act[] {
  return Array.from({ length: chance.between(2, 6) }, () => ({
    kind: "check",
    at: later(at, -chance.between(400, 3_000_000)),
    feature,
    quantity,
  }));
}

function tryAgain(chance: Chance, consume: Consume): Act[] {
  return chance.fraction() < 0.12
    ? [{ ...consume, at: later(consume.at, chance.between(1_000, 4_000)) }]
    : [];
}

type Mistakes = (now: Instant, consumes: readonly Consume[]) => Act[];

/** Generates integration mistakes by company. Times are relative to now, so that the last day always contains some mistakes. */
const MISTAKES: Readonly<Record<string, Mistakes>> = {
  // This company's software uses a feature that is not in the catalog.
  [EAGER]: (now) =>
    [0.4, 0.9, 2.3, 5.1, 5.2, 8.6, 13.4, 19.7, 26.2, 41.5, 66].map((hours) => ({
      kind: "check",
      at: hoursAgo(now, hours),
      feature: "image.upscale",
      quantity: 1,
    })),
  // This company paid and checks repeatedly whether its credits have arrived.
  [PAID_IN_VAIN]: (now) =>
    [0.2, 1.6, 1.7, 4.3, 7.8, 16.1, 20.5, 22.9, 31.4].map((hours) => ({
      kind: "check",
      at: hoursAgo(now, hours),
      feature: "image.generate",
      quantity: 5,
    })),
  // A loop reuses the previous item's key.
  [CARELESS]: (now, consumes) =>
    [3.1, 10.4, 29.3].flatMap((hours) => {
      const at = hoursAgo(now, hours);
      const last = consumes.filter((consume) => consume.at < at).toSorted((a, b) => b.at - a.at)[0];
      return last === undefined ? [] : [{ ...last, at, quantity: last.quantity + 1 }];
    }),
};

function hoursAgo(now: Instant, hours: number): Instant {
  return later(now, -Math.round(hours * 3_600_000));
}

function later(at: Instant, ms: number): Instant {
  return brandAs<Instant>(at + ms);
}
