import type { Instant } from "../../src/primitives/brand.ts";
import { burn, charge, giveBack, setAside, takeHeld, usesOf } from "./credits.ts";
import { balanceIn, type Consume, type Customer, type HoldTaken, isOver, type Paid } from "./customer.ts";
import { overageOf, spareIn, spendableIn } from "./overage.ts";
import { usedOfHeldLimit } from "./own-limits.ts";
import type { Answer, Asked, SettledUse } from "./request.ts";

// A hold is a charge that is not final: its items are counted like charges, and settling or releasing changes their quantities.

export const OPEN_HOLDS_MAX = 1_000;
const DAY = 86_400_000;

export function openHolds({ holds }: Customer): HoldTaken[] {
  return holds.filter(({ state }) => state === "open");
}

/** Ends expired holds, earliest first. */
export function endHolds(customer: Customer): void {
  const over = openHolds(customer)
    .filter(({ expiresAt }) => isOver(expiresAt, customer.now))
    .sort((a, b) => a.expiresAt - b.expiresAt);
  for (const hold of over) {
    const isCharge = hold.onExpiry === "charge";
    const quantities = usesOf(customer, hold).map(({ quantity }) => (isCharge ? quantity : 0));
    close(customer, hold, quantities, true);
    hold.state = isCharge ? "charged" : "freed";
  }
}

export function settleHold(customer: Customer, request: Asked<"settle">): Answer {
  const hold = getHold(customer, request.hold);
  if (hold.state === "charged") return { kind: "charged_on_expiry" };
  const isLate = hold.state === "freed";
  if (isLate && customer.now > hold.expiresAt + 35 * DAY) return { kind: "settled_too_late" };
  const quantities = hold.uses.map(({ held }, index) => request.quantities?.[index] ?? held);
  const items = close(customer, hold, quantities, request.atMostHeld || customer.isBlocked);
  hold.state = "closed";
  return { kind: "settled", isLate, items };
}

export function release(customer: Customer, request: Asked<"release">): Answer {
  const hold = getHold(customer, request.hold);
  if (hold.state !== "open") return { kind: "hold_expired" };
  close(
    customer,
    hold,
    hold.uses.map(() => 0),
    true,
  );
  hold.state = "closed";
  return { kind: "released" };
}

export function extend(customer: Customer, { hold: index, ...request }: Asked<"extend">): Answer {
  const hold = getHold(customer, index);
  const end = endOf(customer, request.expiresAt);
  if (hold.state !== "open") return { kind: "hold_expired" };
  if (end > hold.openedAt + 7 * DAY) return { kind: "expires_too_late" };
  const [use] = usesOf(customer, hold);
  const [held] = hold.uses;
  if (use === undefined || held === undefined) throw new Error("a hold has an item");
  const { cost } = use.terms;
  const total = Math.max(request.quantity ?? 0, use.quantity);
  const reason = (quantity: number): string | null => {
    if (quantity <= use.quantity && !customer.isBlocked) return null;
    if (customer.isBlocked) return "customer_blocked";
    const used = usedOfHeldLimit(customer, hold, held);
    // After the limit's period, no limit counts the hold, so the hold must not grow.
    const isOverLimit =
      held.limit !== null && (used === null || used - use.quantity + quantity > held.limit.quantity);
    if (isOverLimit) return "limit_reached";
    const more = charge(cost, quantity) - charge(cost, use.quantity);
    return more > spendableIn(customer, use.pool) ? "insufficient_credits" : null;
  };
  const denied = total > use.quantity ? reason(total) : null;
  if (denied !== null) return { kind: "denied", reason: denied, affordableQuantity: most(total, reason) };
  const price = charge(cost, total) - charge(cost, use.quantity);
  const beyond = overageOf(customer, use.pool, Math.max(0, price - balanceIn(customer, use.pool)));
  const more = burn(customer, use.pool, price);
  use.overage = join(use.overage, beyond);
  for (const part of more) setAside(customer, part);
  use.parts = join(use.parts, more);
  use.quantity = total;
  hold.uses = [{ ...held, held: total }];
  hold.expiresAt = Math.max(hold.expiresAt, end);
  return { kind: "extended" };
}

function endOf({ now }: Customer, expiresAt: Instant | { inMs: number } | null): number {
  if (expiresAt === null) return 0;
  return typeof expiresAt === "object" ? now + expiresAt.inMs : expiresAt;
}

/** The largest quantity that would be allowed instead of the denied quantity. */
function most(denied: number, reason: (quantity: number) => string | null): number {
  let [low, high] = [0, denied];
  while (high - low > 1) {
    const tried = Math.floor((low + high) / 2);
    if (reason(tried) === null) low = tried;
    else high = tried;
  }
  return low;
}

function getHold(customer: Customer, index: number): HoldTaken {
  const hold = customer.holds[index];
  if (hold === undefined || hold.state === "closed") throw new Error("the hold does not exist");
  return hold;
}

/** Charges these quantities and returns the rest. A freed hold has no credits left to spend or return. */
function close(
  customer: Customer,
  hold: HoldTaken,
  quantities: readonly number[],
  atMostHeld: boolean,
): SettledUse[] {
  const uses = usesOf(customer, hold);
  const prices = uses.map(({ terms }, index) => charge(terms.cost, quantities[index] ?? 0));
  // Draws part by part, because single credits are too slow for large prices. Each item draws from its own parts first, then from the parts
  // of other items.
  const pots = uses.map(({ parts }) => parts.map((part) => ({ ...part })));
  const paid: Paid[][] = uses.map((_, index) => drawFrom(pots[index] ?? [], prices[index] ?? 0));
  for (const [index, { pool }] of uses.entries()) {
    for (const [other, pot] of pots.entries()) {
      if (uses[other]?.pool !== pool) continue;
      const open = (prices[index] ?? 0) - sum(paid[index] ?? []);
      paid[index] = join(paid[index] ?? [], drawFrom(pot, open));
    }
  }
  const promised = promisedTo(uses, prices);
  const reserves = uses.map(({ overage }) => overage.map((part) => ({ ...part })));
  const spares = new Map(uses.map(({ pool }) => [pool, spareIn(customer, pool)]));
  for (const use of uses) use.overage = [];
  const furthers = uses.map(({ pool }, index) => {
    for (const part of paid[index] ?? []) {
      const grant = customer.grants.find((it) => it.id === part.grant);
      if (grant !== undefined) takeHeld(grant, part);
    }
    return atMostHeld ? [] : burn(customer, pool, (prices[index] ?? 0) - sum(paid[index] ?? []));
  });
  const missing = uses.map(
    (_, index) => (prices[index] ?? 0) - sum(paid[index] ?? []) - sum(furthers[index] ?? []),
  );
  const reserved = uses.map((_, index) => drawFrom(reserves[index] ?? [], missing[index] ?? 0));
  for (const [index, { pool }] of uses.entries())
    for (const [other, reserve] of reserves.entries())
      if (uses[other]?.pool === pool) {
        const open = (missing[index] ?? 0) - sum(reserved[index] ?? []);
        reserved[index] = join(reserved[index] ?? [], drawFrom(reserve, open));
      }
  const items: SettledUse[] = [];
  const first = customer.charges.length;
  for (const [index, use] of uses.entries()) {
    const quantity = quantities[index] ?? 0;
    const price = prices[index] ?? 0;
    const held = paid[index] ?? [];
    const open = (missing[index] ?? 0) - sum(reserved[index] ?? []);
    const spare = spares.get(use.pool) ?? 0;
    const fresh = atMostHeld ? 0 : Math.min(open, spare);
    spares.set(use.pool, spare - fresh);
    const overage = join(reserved[index] ?? [], overageOf(customer, use.pool, fresh));
    const uncovered = open - fresh;
    const parts = withoutMarks([...held, ...(furthers[index] ?? [])]);
    Object.assign(use, { quantity, uncovered, parts, overage, request: first });
    const consume = hold.uses[index]?.consume ?? -1;
    if (quantity > 0) customer.charges.push(consume);
    items.push({
      quantity,
      creditsRequired: price,
      creditsCharged: sum(parts),
      creditsFromHold: sum(held),
      overageCredits: sum(overage),
      creditsBeyondHold: price - (promised[index] ?? 0),
      creditsUncovered: uncovered,
    });
  }
  for (const part of pots.reduce((all, pot) => join(all, pot), [])) giveBack(customer, part, "hold");
  return items;
}

/** How much of each price the hold covers. Uses the item's own credits and overage first, then what other items leave. */
function promisedTo(uses: readonly Consume[], prices: readonly number[]): number[] {
  const rooms = uses.map(({ parts, overage }) => sum(parts) + sum(overage));
  const covered = prices.map((price, index) => Math.min(price, rooms[index] ?? 0));
  const left = rooms.map((room, index) => room - (covered[index] ?? 0));
  for (const [index, { pool }] of uses.entries())
    for (const [other, use] of uses.entries()) {
      if (use.pool !== pool) continue;
      const more = Math.min((prices[index] ?? 0) - (covered[index] ?? 0), left[other] ?? 0);
      covered[index] = (covered[index] ?? 0) + more;
      left[other] = (left[other] ?? 0) - more;
    }
  return covered;
}

/** Takes up to this many credits from a pot, in order of its parts. */
function drawFrom(pot: Paid[], credits: number): Paid[] {
  const drawn: Paid[] = [];
  let open = credits;
  while (open > 0 && pot.length > 0) {
    const [part] = pot;
    if (part === undefined) break;
    const taken = Math.min(open, part.credits);
    drawn.push({ ...part, credits: taken });
    part.credits -= taken;
    open -= taken;
    if (part.credits === 0) pot.shift();
  }
  return drawn;
}

function join(parts: readonly Paid[], more: readonly Paid[]): Paid[] {
  const all = parts.map((part) => ({ ...part }));
  for (const part of more) {
    const same = all.find((it) => it.grant === part.grant && it.isRevoked === part.isRevoked);
    if (same === undefined) all.push({ ...part });
    else same.credits += part.credits;
  }
  return all;
}

/** The parts of a charge: one for each grant, with revoked and other credits combined. */
function withoutMarks(parts: readonly Paid[]): Paid[] {
  return join(
    [],
    parts.map(({ grant, credits }) => ({ grant, credits })),
  );
}

function sum(parts: readonly Paid[]): number {
  return parts.reduce((total, part) => total + part.credits, 0);
}
