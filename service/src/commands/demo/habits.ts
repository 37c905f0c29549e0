import { brandAs, type Instant } from "../../words/brand.ts";
import { type Act, DAY_MS, LOG_DAYS } from "./act.ts";
import { type Chance, openChance } from "./chance.ts";
import { CARELESS, type Company, EAGER, PAID_IN_VAIN } from "./companies.ts";

type Consume = Extract<Act, { kind: "consume" }>;

/**
 * What leaves no trace but in the log, and so matters only as long as the log remembers: the product asks before it
 * offers something, tries again when an answer was late, and has its bugs.
 */
export function listHabits(company: Company, acts: readonly Act[], now: Instant): Act[] {
  // Of its own chances, so that the rest of the demo is what it is without them.
  const chance = openChance(-company.seed * 7);
  const consumes = acts.filter((act) => act.kind === "consume");
  const lately = consumes.filter(({ at }) => at >= now - LOG_DAYS * DAY_MS);
  return [
    ...lately.flatMap((consume) => [...askBefore(chance, consume), ...tryAgain(chance, consume)]),
    ...(MISTAKES[company.id]?.(now, consumes) ?? []),
  ];
}

/** While somebody fills in the form, so that its button is grey when it would be denied. */
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

/** By hours before now, so that the last day has some of each whenever somebody looks. */
const MISTAKES: Readonly<Record<string, Mistakes>> = {
  // Their release is ahead of our catalog.
  [EAGER]: (now) =>
    [0.4, 0.9, 2.3, 5.1, 5.2, 8.6, 13.4, 19.7, 26.2, 41.5, 66].map((hours) => ({
      kind: "check",
      at: hoursAgo(now, hours),
      feature: "image.upscale",
      quantity: 1,
    })),
  // They have paid, and look again and again whether it helped.
  [PAID_IN_VAIN]: (now) =>
    [0.2, 1.6, 1.7, 4.3, 7.8, 16.1, 20.5, 22.9, 31.4].map((hours) => ({
      kind: "check",
      at: hoursAgo(now, hours),
      feature: "image.generate",
      quantity: 5,
    })),
  // A loop takes the next item, and the key of the one before.
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
