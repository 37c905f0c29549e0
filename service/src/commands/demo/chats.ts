import { brandAs, type Instant } from "../../primitives/brand.ts";
import type { Act } from "./act.ts";
import { RICH_COMPANY } from "./companies.ts";

const FEATURE = "chat.reply";
const SECOND_MS = 1_000;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** A chat reply whose token count is known only at its end. Times are relative to now, so some replies are always in progress. */
type Chat = {
  readonly message: string;
  readonly secondsAgo: number;
  /** Maximum tokens of the reply, and quantity of the hold. */
  readonly held: number;
  /** The tokens used and the duration. Null if the hold was not settled. */
  readonly settled: { readonly tokens: number; readonly afterSeconds: number } | null;
  readonly expiresInSeconds?: number;
};

const CHATS: Readonly<Record<string, readonly Chat[]>> = {
  [RICH_COMPANY]: [
    { message: "msg_1e07", secondsAgo: 76_400, held: 8_000, settled: { tokens: 2_914, afterSeconds: 21 } },
    { message: "msg_58c2", secondsAgo: 30_950, held: 8_000, settled: { tokens: 7_246, afterSeconds: 48 } },
    // The process crashed, so the hold expired and released its credits.
    { message: "msg_93ad", secondsAgo: 20_300, held: 8_000, settled: null },
    { message: "msg_b641", secondsAgo: 12_120, held: 8_000, settled: { tokens: 1_385, afterSeconds: 12 } },
    // An agent that works for hours.
    {
      message: "agent_27f0",
      secondsAgo: 9_700,
      held: 120_000,
      settled: null,
      expiresInSeconds: DAY_SECONDS,
    },
    { message: "msg_c8f3", secondsAgo: 1_460, held: 8_000, settled: { tokens: 5_030, afterSeconds: 33 } },
    { message: "msg_f29b", secondsAgo: 95, held: 8_000, settled: null },
  ],
  org_1002: [
    { message: "msg_0d44", secondsAgo: 52_300, held: 4_000, settled: { tokens: 3_120, afterSeconds: 25 } },
    { message: "msg_7a90", secondsAgo: 150, held: 4_000, settled: null, expiresInSeconds: HOUR_SECONDS },
  ],
};

/** Opens a hold for each chat reply, and settles it with the tokens that were used. */
export function listChats(companyId: string, now: Instant): readonly Act[] {
  return (CHATS[companyId] ?? []).flatMap(
    ({ message, secondsAgo, held, settled, expiresInSeconds = 900 }) => {
      const at = brandAs<Instant>(now - secondsAgo * SECOND_MS);
      const key = `chat/${message}`;
      const opened: Act = {
        kind: "hold",
        at,
        feature: FEATURE,
        quantity: held,
        memberId: "user_2",
        metadata: { message, model: "aurora-3-preview" },
        key,
        expiresInSeconds,
      };
      if (settled === null) return [opened];
      const { tokens, afterSeconds } = settled;
      const settledAt = brandAs<Instant>(at + afterSeconds * SECOND_MS);
      return [opened, { kind: "settle", at: settledAt, key, quantity: tokens }];
    },
  );
}
