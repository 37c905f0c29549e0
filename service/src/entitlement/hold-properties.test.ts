import { expect, test } from "vitest";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import type { Book } from "../../test/model/book.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { histories } from "../../test/model/history.ts";
import { openGrants } from "../../test/model/looking.ts";
import { play } from "../../test/model/play.ts";
import type { Answer } from "../../test/model/request.ts";
import type { Script } from "../../test/model/script.ts";
import { brandAs, type PlanVersionId } from "../primitives/brand.ts";
import { overagePosition } from "./overage.ts";
import type { GrantedAllowance } from "./wallet.ts";

const RUNS = Math.ceil(HISTORIES / 5);

function always(name: string, check: (script: Script) => void): void {
  test(name, { timeout: HISTORIES_TIMEOUT_MS }, () => forEveryHistory(RUNS, check, histories));
}

always("a hold that is settled in full charges exactly like a consume request", (script) => {
  play(script, {
    before: (book, { catalog, clock, act }) => {
      if (act.kind !== "ask" || act.request.kind !== "decide") return;
      const { items } = act.request;
      const [held, charged] = [book.copy(), book.copy()];
      const terms = { expiresInMs: 60_000, onExpiry: "release", memberId: null } as const;
      const { answer } = held.commit(catalog, { kind: "hold", items, terms }, clock);
      expect(withoutUse(answer)).toEqual(withoutUse(charged.commit(catalog, act.request, clock).answer));
      if (answer.kind !== "decided" || !answer.allowed) return;
      const hold = held.holds.length - 1;
      held.commit(catalog, { kind: "settle", hold, quantities: null, atMostHeld: false }, clock);
      const entries = ({ entries }: Book) => entries.map((entry) => ({ ...entry, hold: null }));
      expect(entries(held)).toEqual(entries(charged));
      expect(openGrants(held)).toEqual(openGrants(charged));
    },
  });
});

/** Clears the overage counts, because a hold sets overage aside whereas a charge uses it. */
function withoutUse(answer: Answer): Answer {
  if (answer.kind !== "decided") return answer;
  const items = answer.items.map(({ after, ...item }) => ({
    ...item,
    after: after && { ...after, overage: after.overage && { ...after.overage, used: 0, held: 0 } },
  }));
  return { ...answer, items };
}

always("overage grows only up to what the plan or the overrides allow", (script) => {
  const countsOf = (book: Book): ReadonlyMap<number, GrantedAllowance> => {
    const { assignment, paused } = book.wallet ?? { assignment: null, paused: [] };
    const plans = [...(assignment === null ? [] : [assignment]), ...paused.map((plan) => plan.assignment)];
    return new Map(plans.flatMap(({ allowances }) => allowances.map((one) => [one.grant, one])));
  };
  let before: ReadonlyMap<number, GrantedAllowance> = new Map();
  play(script, {
    before: (book) => {
      before = countsOf(book);
    },
    after: (book, { catalog }) => {
      const { wallet } = book;
      for (const [grant, { pool, overageUsed, overageHeld }] of countsOf(book)) {
        const was = before.get(grant) ?? { overageUsed: 0, overageHeld: 0 };
        if (overageUsed + overageHeld <= was.overageUsed + was.overageHeld) continue;
        const version = catalog.versions.get(wallet?.assignment?.version ?? brandAs<PlanVersionId>(0));
        const position = wallet === null ? null : overagePosition(wallet, version ?? null, pool);
        expect(position).not.toBeNull();
        expect(overageUsed + overageHeld).toBeLessThanOrEqual(position?.credits ?? Number.POSITIVE_INFINITY);
      }
    },
  });
});
