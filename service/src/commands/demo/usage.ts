import { brandAs, type Instant } from "../../primitives/brand.ts";
import { type Act, DAY_MS, FIRST_DAY, timeOn } from "./act.ts";
import type { Chance } from "./chance.ts";
import type { Company } from "./companies.ts";

const HEX = "0123456789abcdef";
const MODELS = ["aurora-2", "aurora-2-mini", "aurora-3-preview"] as const;
const WEEKEND_SHARE = 0.3;

type Use = {
  readonly feature: string;
  /** Share of all uses. All shares add up to 1. */
  readonly share: number;
  readonly quantity: (chance: Chance) => number;
};

const USES: readonly Use[] = [
  { feature: "text.generate", share: 0.52, quantity: (chance) => Math.round(400 * 90 ** chance.fraction()) },
  { feature: "image.generate", share: 0.29, quantity: (chance) => chance.between(1, 4) },
  { feature: "video.render", share: 0.09, quantity: (chance) => (chance.fraction() < 0.8 ? 1 : 2) },
  { feature: "hd.export", share: 0.1, quantity: (chance) => chance.between(1, 2) },
];

/** Generates one day of usage: more on working days, and slowly growing over time. */
export function listUsage(company: Company, chance: Chance, daysAgo: number, now: Instant): Act[] {
  const midnight = timeOn(now, daysAgo, "00:00");
  const growth = 0.7 + (0.5 * (FIRST_DAY - daysAgo)) / FIRST_DAY;
  const expected = company.perDay * growth * (isWeekend(midnight) ? WEEKEND_SHARE : 1);
  // Random around the expected number, often 0 for small companies.
  const count = Math.floor(expected * 2 * chance.fraction() + chance.fraction());
  const acts: Act[] = [];
  for (let session = 0; session < count; session++) {
    const at = brandAs<Instant>(midnight + timeInDay(chance));
    acts.push(...useOnce(chance, at));
  }
  return acts;
}

/** A charge and its events: generated tokens, or an opened editor. */
function useOnce(chance: Chance, at: Instant): Act[] {
  const { feature, quantity: draw } = pickUse(chance);
  const quantity = draw(chance);
  const jobId = `job_${chance.word(HEX, 8)}`;
  const metadata = { jobId, model: chance.pick(MODELS) };
  const key = `${jobId}/attempt-1`;
  const member = memberOf(jobId);
  const charge: Act = { kind: "consume", at, feature, quantity, ...member, metadata, key };
  const afterward = brandAs<Instant>(at + chance.between(700, 9_000));
  if (feature === "text.generate") {
    const event = "tokens.generated";
    return [charge, { kind: "event", at: afterward, event, quantity, ...member, metadata, ifAllowed: key }];
  }
  const before = brandAs<Instant>(at - chance.between(20_000, 400_000));
  const opened: Act = {
    kind: "event",
    at: before,
    event: "editor.opened",
    quantity: 1,
    ...member,
    metadata: { jobId },
    ifAllowed: null,
  };
  return chance.fraction() < 0.5 ? [opened, charge] : [charge];
}

/** Chooses one of the company's four members. A few jobs have no member. */
function memberOf(jobId: string): { readonly memberId?: string } {
  const digit = HEX.indexOf(jobId.charAt(jobId.length - 1));
  return digit < 2 ? {} : { memberId: `user_${1 + (digit % 4)}` };
}

function pickUse(chance: Chance): Use {
  let rest = chance.fraction();
  for (const use of USES) {
    if (rest < use.share) return use;
    rest -= use.share;
  }
  return chance.pick(USES);
}

/** Chooses a time of day: mostly around 13:00 UTC, rarely at night. */
function timeInDay(chance: Chance): number {
  const shares = chance.fraction() + chance.fraction() + chance.fraction();
  return Math.floor((2 + shares * 7.3) * 3_600_000);
}

function isWeekend(midnight: Instant): boolean {
  // 1 January 1970 was a Thursday.
  const weekday = (Math.floor(midnight / DAY_MS) + 4) % 7;
  return weekday === 0 || weekday === 6;
}
