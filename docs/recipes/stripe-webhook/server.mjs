// Updates Purser from Stripe webhooks: subscriptions become plans, one-time payments become credits.
// Node 24, no dependencies: `node server.mjs`. The README explains why every step is safe to repeat.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { isDeepStrictEqual } from "node:util";

const STRIPE_URL = process.env.STRIPE_URL ?? "https://api.stripe.com";
const STRIPE_SECRET_KEY = setting("STRIPE_SECRET_KEY");
const STRIPE_WEBHOOK_SECRET = setting("STRIPE_WEBHOOK_SECRET");
const PURSER_TOKEN = setting("PURSER_TOKEN");
const PURSER_ENVIRONMENT = setting("PURSER_ENVIRONMENT"); // test or live
const CUSTOMERS_URL = `${setting("PURSER_URL")}/manage/v1/projects/${setting("PURSER_PROJECT")}/${PURSER_ENVIRONMENT}/customers`;

/** Plan for each Stripe price: `{"price_1Qx…": "pro", "price_1Qy…": "pro"}`. */
const PLANS = JSON.parse(setting("PLANS"));
/** A plan stays active this long after the paid period, while Stripe collects the renewal. */
const GRACE_SECONDS = Number(process.env.GRACE_HOURS ?? 72) * 3600;

const TOLERANCE_SECONDS = 300;
/** If a change starts a new period, its invoice is created within this time after the start. */
const PERIOD_START_SECONDS = 60;
const BODY_BYTES_MAX = 1024 * 1024;
const CALL_MS_MAX = 5_000;

const server = createServer(async (request, response) => {
  const reply = (status, text) => response.writeHead(status).end(`${text}\n`);
  if (request.method !== "POST" || request.url !== "/stripe") return reply(404, "POST /stripe");
  try {
    const rawBody = await readBody(request);
    if (!isFromStripe(rawBody, request.headers["stripe-signature"])) return reply(400, "bad signature");
    await handle(JSON.parse(rawBody));
    reply(200, "done");
  } catch (error) {
    // Stripe retries the event for up to three days, with increasing delays.
    console.error(error);
    reply(500, "try again");
  }
});

server.listen(Number(process.env.PORT ?? 4242), () => console.log(`listening on ${server.address().port}`));

/** Resolves when Purser has stored everything about the event, and throws otherwise. */
async function handle({ type, livemode, data: { object } }) {
  // Test payments must never change live customers, and live payments never test customers.
  if (livemode !== (PURSER_ENVIRONMENT === "live")) throw new Error(`livemode is ${livemode}`);
  switch (type) {
    case "customer.subscription.created":
    case "customer.subscription.updated":
    case "invoice.paid":
    case "subscription_schedule.created":
    case "subscription_schedule.updated":
    case "subscription_schedule.released":
    case "subscription_schedule.canceled":
      return settlePlans(object.customer);
    case "customer.subscription.deleted":
      return settlePlans(object.customer, [object.metadata.customerId]);
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return addCredits(object);
  }
}

/**
 * Events arrive late, twice and in any order, so only their customer is used. The current subscriptions are read from Stripe,
 * written to Purser, and read again until nothing has changed. With two concurrent handlers, the last to write is also the last
 * to read, so outdated data is always replaced.
 */
async function settlePlans(stripeCustomer, ended = []) {
  // Ends only plans that this event ended or this call assigned. A plan that was assigned manually is kept.
  const mayEnd = new Set(ended);
  for (let written = null; ; ) {
    const wanted = await readWantedPlans(stripeCustomer);
    if (isDeepStrictEqual(wanted, written)) return;
    for (const [customerId, assignment] of wanted) {
      if (assignment !== null) {
        await assignPlan(customerId, assignment);
        mayEnd.add(customerId);
      } else if (mayEnd.has(customerId)) {
        await purser("DELETE", customerId, "/plan");
      }
    }
    written = wanted;
  }
}

/** Allows an earlier end, because Stripe's state is current: a cancellation, or a change from yearly to monthly. */
async function assignPlan(customerId, { anchor, next, ...assignment }) {
  // Repeating the current plan keeps the pending change. A new end drops it, and the last call sets it again.
  await assign(customerId, { ...assignment, shorten: true }, anchor);
  if (next === null) return purser("DELETE", customerId, "/plan/next");
  // Checked last, so that a misconfigured later phase does not block the renewal of the current plan.
  if (next.plan === undefined) throw new Error(`the phase at ${next.startsAt} has no price that is in PLANS`);
  return assign(customerId, next, anchor);
}

async function assign(customerId, body, anchor) {
  const reply = await purser("POST", customerId, "/plan", { ...body, anchor }, ["anchor_fixed"]);
  // The end of a trial or a second subscription moves Stripe's anchor. Purser's is fixed during a period.
  if (reply.code === "anchor_fixed") await purser("POST", customerId, "/plan", body);
}

/** The plan that each customer should have: that of the newest subscription that is paid for, or null. */
async function readWantedPlans(stripeCustomer) {
  const query = new URLSearchParams({ customer: stripeCustomer, status: "all", limit: "100" });
  query.append("expand[]", "data.latest_invoice");
  query.append("expand[]", "data.schedule");
  const { data } = await stripe(`/v1/subscriptions?${query}`);
  const ours = data.filter(({ metadata }) => metadata.customerId !== undefined);
  const byCustomer = Map.groupBy(ours, ({ metadata }) => metadata.customerId);
  return new Map(
    [...byCustomer].map(([customerId, subscriptions]) => {
      const assignments = subscriptions.map(toAssignment).filter((assignment) => assignment !== null);
      return [customerId, assignments[0] ?? null];
    }),
  );
}

/** Null if the subscription is not paid for. The plan in Purser then keeps its `endsAt`. */
function toAssignment({
  id,
  status,
  items,
  latest_invoice: invoice,
  billing_cycle_anchor: anchor,
  cancel_at,
  schedule,
}) {
  if (!["active", "trialing", "past_due"].includes(status)) return null;
  const item = items.data.find(({ price }) => price.id in PLANS);
  if (item === undefined) throw new Error(`${id} has no price that is in PLANS`);
  const owed = whatIsOwed(invoice, item);
  // The change is not paid yet: Purser keeps the current plan until `invoice.paid`.
  if (owed === "change") return null;
  const paidUntil = owed === "period" ? item.current_period_start : item.current_period_end;
  // Stripe also sets cancel_at if cancel_at_period_end is set. No payment follows, so there is no grace period.
  const endsAt = Math.min(paidUntil + GRACE_SECONDS, cancel_at ?? Number.POSITIVE_INFINITY);
  if (endsAt * 1000 <= Date.now()) return null;
  const plan = startedPlan(schedule, item) ?? PLANS[item.price.id];
  // A later plan is only scheduled once the current period is paid for.
  const next = owed === null ? toNextPlan(plan, schedule, { paidUntil, cancel_at }) : null;
  return { plan, anchor: toTime(anchor), endsAt: toTime(endsAt), next };
}

/** The plan of a phase that has started, while Stripe still shows the price of the phase before it. */
function startedPlan(schedule, { current_period_start: since }) {
  const started = (schedule?.phases ?? []).filter(
    ({ start_date: start }) => start > since && start * 1000 <= Date.now(),
  );
  const newest = started.sort((a, b) => b.start_date - a.start_date)[0];
  return newest === undefined ? undefined : planOf(newest);
}

/**
 * The plan of the schedule's next phase, such as a downgrade at the end of the period. It is not paid for yet, so it ends with the
 * grace period; without a grace period, it starts with `invoice.paid`. A phase that starts within the paid period is skipped. `plan` is
 * undefined if the price is not in PLANS.
 */
function toNextPlan(current, schedule, { paidUntil, cancel_at }) {
  const canceled = cancel_at ?? Number.POSITIVE_INFINITY;
  for (const phase of schedule?.phases ?? []) {
    const { start_date: start } = phase;
    const end = Math.min(start + GRACE_SECONDS, canceled);
    if (start < paidUntil || start * 1000 <= Date.now() || start >= end) continue;
    const plan = planOf(phase);
    if (plan !== current) return { plan, startsAt: toTime(start), endsAt: toTime(end) };
  }
  return null;
}

function planOf({ items }) {
  const item = items.find(({ price }) => price in PLANS);
  return item === undefined ? undefined : PLANS[item.price];
}

/**
 * Stripe starts a new period before it collects the payment: until then, only the previous period is paid. An invoice for a
 * change pays for the period only if the change started it, for example with another interval. The invoice is then as old as the period.
 */
function whatIsOwed(invoice, { current_period_start: start }) {
  if (!["draft", "open", "uncollectible"].includes(invoice?.status)) return null;
  const { billing_reason: reason, created } = invoice;
  if (reason === "subscription_update") return created - start < PERIOD_START_SECONDS ? "period" : "change";
  return ["subscription_cycle", "subscription_create"].includes(reason) ? "period" : null;
}

/** The payment's ID is the reference: Purser adds credits once for each reference. */
async function addCredits({ id, mode, payment_status, payment_intent, amount_total, currency, ...session }) {
  const { credits, customerId = session.client_reference_id } = session.metadata ?? {};
  if (mode !== "payment" || credits === undefined) return;
  // With a bank debit, the session completes first; async_payment_succeeded follows days later.
  if (payment_status === "unpaid") return;
  await purser("POST", customerId, "/credits", {
    credits: Number(credits),
    kind: "purchase",
    reference: payment_intent ?? id, // a free order has no payment
    price: { amount: amount_total, currency: currency.toUpperCase() },
  });
}

/** The header is `t=1700000000,v1=…`. `v1` is an HMAC of the time and the raw body. During a secret's rotation, there are several. */
function isFromStripe(rawBody, header = "") {
  const pairs = header.split(",").map((pair) => pair.trim().split("=", 2));
  const time = pairs.find(([name]) => name === "t")?.[1] ?? "";
  // Negated, so that a time that is not a number is rejected too.
  if (!(Math.abs(Date.now() / 1000 - Number.parseInt(time, 10)) <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac("sha256", STRIPE_WEBHOOK_SECRET).update(`${time}.`).update(rawBody).digest();
  return pairs
    .filter(([name]) => name === "v1")
    .map(([, signature = ""]) => Buffer.from(signature, "hex"))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}

/** Returns raw bytes, because the signature does not match a body that was parsed and serialized again. */
async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error("the body is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Pins Stripe's API version, so that the account's default version can change. */
function stripe(path) {
  const headers = { authorization: `Bearer ${STRIPE_SECRET_KEY}`, "stripe-version": "2025-03-31.basil" };
  return call(`${STRIPE_URL}${path}`, { method: "GET", headers });
}

function purser(method, customerId, what, body, expectedCodes = []) {
  if (!customerId) throw new Error("the object has neither metadata.customerId nor client_reference_id");
  const headers = { authorization: `Bearer ${PURSER_TOKEN}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const url = `${CUSTOMERS_URL}/${encodeURIComponent(customerId)}${what}`;
  return call(url, { method, headers, body: JSON.stringify(body) }, expectedCodes);
}

async function call(url, options, expectedCodes = []) {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(CALL_MS_MAX) });
  const text = await response.text();
  // A customer that Purser does not know has no plan to end.
  if (response.ok || (options.method === "DELETE" && response.status === 404)) return JSON.parse(text);
  if (expectedCodes.some((code) => text.includes(`"code":"${code}"`))) return JSON.parse(text);
  throw new Error(`${options.method} ${url}: ${response.status} ${text}`);
}

function toTime(seconds) {
  return new Date(seconds * 1000).toISOString();
}

function setting(name) {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}
