import fc from "fast-check";
import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { balanceOf, type Hold, heldIn } from "./wallet.ts";

const catalog = makeCatalog({
  pro: [{ allowances: [monthly(100)], features: { image: null } }],
  bare: [{ allowances: [], features: { image: null } }],
});

function customerOn(plan: string): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", plan);
  return customer;
}

/** A time on 2 January, in minutes after noon. */
const T = (minutes: number): string =>
  `2026-01-02T${String(12 + Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}:00`;

const totalOf = ({ wallet }: Timeline): number => balanceOf(wallet, CREDITS) + heldIn(wallet, CREDITS);

test("a move reports spent and held credits, and an allowance cannot be moved", () => {
  const [ada, bob] = [customerOn("pro"), customerOn("bare")];
  ada.topUp(T(0), 500);
  ada.consume(T(1), "image", 22);
  ada.hold(T(2), { image: 5 });
  expect(ada.move(T(3), 1, bob)).toEqual({ kind: "allowance" });
  expect(ada.move(T(3), 2, bob)).toMatchObject({ kind: "moved", credits: 330, spent: 120, held: 50 });
  expect([ada.balance, bob.balance]).toEqual([0, 330]);
  expect(ada.move(T(4), 2, bob)).toMatchObject({ kind: "nothing_left", why: "revoked" });
});

test("expired credits do not move, and moved credits keep their expiry", () => {
  const [ada, bob] = [customerOn("bare"), customerOn("bare")];
  ada.topUp(T(0), 50, { expiresAt: at(T(10)) });
  ada.topUp(T(0), 70, { expiresAt: at(T(20)) });
  expect(ada.move(T(10), 1, bob)).toEqual({ kind: "nothing_left", why: "expired" });
  expect(ada.move(T(10), 2, bob)).toMatchObject({ kind: "moved", credits: 70 });
  expect(bob.check(T(19), "image", 7).allowed).toBe(true);
  expect(bob.check(T(20), "image", 1).allowed).toBe(false);
});

type Step =
  | { readonly kind: "add"; readonly credits: number; readonly who: number }
  | { readonly kind: "use" | "hold"; readonly quantity: number; readonly who: number }
  | { readonly kind: "end" }
  | { readonly kind: "move"; readonly grant: number; readonly who: number };

const who = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), credits: fc.integer({ min: 1, max: 90 }), who }),
  fc.record({
    kind: fc.constantFrom("use" as const, "hold" as const),
    quantity: fc.integer({ min: 1, max: 6 }),
    who,
  }),
  fc.record({ kind: fc.constant("end" as const) }),
  fc.record({ kind: fc.constant("move" as const), grant: fc.nat({ max: 20 }), who }),
);

test("a move never changes the two customers' combined credits", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const customers = [customerOn("bare"), customerOn("bare")] as const;
      const holds: { customer: Timeline; hold: Hold }[] = [];
      for (const [minute, taken] of steps.entries()) {
        const customer = taken.kind === "end" ? null : customers[taken.who === 0 ? 0 : 1];
        if (customer === null) {
          const open = holds.shift();
          open?.customer.release(T(minute), open.hold);
        } else if (taken.kind === "add") customer.topUp(T(minute), taken.credits);
        else if (taken.kind === "use") customer.consume(T(minute), "image", taken.quantity);
        else if (taken.kind === "hold") {
          const held = customer.tryHold(
            T(minute),
            { image: taken.quantity },
            { seconds: 86_400, onExpiry: "release" },
          );
          if (held.kind === "decided" && held.hold !== null) holds.push({ customer, hold: held.hold });
        } else if (taken.kind === "move") moveOne(customers, customer, taken.grant, T(minute));
      }
    }),
    { numRuns: 300 },
  );
});

function moveOne(
  customers: readonly [Timeline, Timeline],
  from: Timeline,
  wanted: number,
  when: string,
): void {
  const { grantCount } = from.wallet;
  if (grantCount === 0) return;
  const to = customers[0] === from ? customers[1] : customers[0];
  const before = { both: totalOf(from) + totalOf(to), from: from.balance, to: to.balance };
  const outcome = from.move(when, 1 + (wanted % grantCount), to);
  const credits = outcome.kind === "moved" ? outcome.credits : 0;
  expect(totalOf(from) + totalOf(to)).toBe(before.both);
  expect([from.balance, to.balance]).toEqual([before.from - credits, before.to + credits]);
}
