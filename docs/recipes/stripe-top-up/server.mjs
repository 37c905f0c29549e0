// Charges a saved card at Stripe when Purser requests a top-up, and adds the purchased credits.
// Node 24, no dependencies: `node server.mjs`. The README explains why no card is charged twice.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const STRIPE_URL = process.env.STRIPE_URL ?? "https://api.stripe.com";
const STRIPE_SECRET_KEY = setting("STRIPE_SECRET_KEY");
const WEBHOOK_SECRET = setting("WEBHOOK_SECRET"); // of the webhook in Purser
const PURSER_TOKEN = setting("PURSER_TOKEN");
const CUSTOMERS_URL = `${setting("PURSER_URL")}/manage/v1/projects/${setting("PURSER_PROJECT")}/${setting("PURSER_ENVIRONMENT")}/customers`;

/** The price of 1,000 credits, in the currency's smallest unit, such as cents. */
const PRICE_PER_1000 = Number(setting("PRICE_PER_1000"));
const CURRENCY = setting("CURRENCY").toLowerCase();
/** Further payments are not tried. Banks limit how often a declined card may be charged. */
const ATTEMPTS_MAX = Number(process.env.ATTEMPTS_MAX ?? 4);

const TOLERANCE_SECONDS = 300;
const BODY_BYTES_MAX = 1024 * 1024;
/** Purser waits 10 seconds for a response to a delivery. */
const CALL_MS_MAX = 4_000;

const server = createServer(async (request, response) => {
  const reply = (status, text) => response.writeHead(status).end(`${text}\n`);
  if (request.method !== "POST" || request.url !== "/purser") return reply(404, "POST /purser");
  try {
    const rawBody = await readBody(request);
    if (!isFromPurser(rawBody, request.headers)) return reply(400, "bad signature");
    const { type, data } = JSON.parse(rawBody);
    if (type === "topup.due") await topUp(data);
    reply(200, "done");
  } catch (error) {
    // Purser repeats the delivery for up to three days, with increasing delays.
    console.error(error);
    reply(500, "try again");
  }
});

server.listen(Number(process.env.PORT ?? 4243), () => console.log(`listening on ${server.address().port}`));

/**
 * Resolves when nothing is left to do for this attempt, and throws if Purser must repeat the delivery. Reads the earlier payments of the same
 * top-up first: Stripe may forget an idempotency key after 24 hours, but Purser repeats a delivery for three days.
 */
async function topUp(due) {
  const { customerId, pool, topUpId, attempt } = due;
  const { billingReference, alerts } = await purser("GET", customerId, "");
  const open = alerts.pools[pool]?.topUp?.open;
  if (billingReference === null) return console.log(`${topUpId}: ${customerId} has no billing reference`);
  const payments = await listPayments(billingReference, topUpId);
  const paid = payments.find(({ status }) => status === "succeeded");
  if (paid !== undefined) return addCredits(paid);
  // The customer bought credits, canceled or was blocked, or the rule was removed, since the delivery was made.
  if (open?.topUpId !== topUpId || !open.isNeeded) return console.log(`${topUpId}: no longer requested`);
  if (payments.some(({ status }) => status === "processing")) return console.log(`${topUpId}: processing`);
  const failed = payments.length;
  // The same attempt was delivered before and failed. The next attempt follows a day after it.
  if (failed >= Math.min(attempt, ATTEMPTS_MAX)) return console.log(`${topUpId}: ${failed} payments failed`);
  const card = await findCard(billingReference);
  if (card === null) return console.log(`${topUpId}: ${customerId} has no default card`);
  // The customer could still complete a failed payment, so it is canceled before another one is made.
  for (const { id, status } of payments)
    if (status !== "canceled") await stripe("POST", `/v1/payment_intents/${id}/cancel`, {});
  const payment = await charge({ customer: billingReference, card }, due, `${topUpId}-${failed + 1}`);
  if (payment?.status === "succeeded") await addCredits(payment);
}

/** The default card of a Stripe customer, who is the `billingReference` of the customer in Purser. Null without one. */
async function findCard(customer) {
  const { invoice_settings } = await stripe("GET", `/v1/customers/${encodeURIComponent(customer)}`);
  return invoice_settings?.default_payment_method ?? null;
}

/** All payments of a top-up. Stripe's search is not used, because it may miss a new payment. */
async function listPayments(customer, topUpId) {
  const found = [];
  for (let page = null; page === null || page.has_more; ) {
    const query = new URLSearchParams({ customer, limit: "100" });
    if (page !== null) query.set("starting_after", page.data.at(-1).id);
    page = await stripe("GET", `/v1/payment_intents?${query}`);
    found.push(...page.data.filter(({ metadata }) => metadata.topUpId === topUpId));
  }
  return found;
}

/**
 * Charges the saved card. The key counts the failed payments, so that concurrent deliveries make one payment, even for different attempts.
 * Null if the card was declined.
 */
async function charge({ customer, card }, { customerId, pool, credits, topUpId }, idempotencyKey) {
  const fields = {
    amount: String(Math.ceil((credits * PRICE_PER_1000) / 1000)),
    currency: CURRENCY,
    customer,
    payment_method: card,
    off_session: "true",
    confirm: "true",
    // A card succeeds or fails at once. Other methods need a handler of Stripe's events.
    "payment_method_types[0]": "card",
    "metadata[topUpId]": topUpId,
    "metadata[customerId]": customerId,
    "metadata[pool]": pool,
    "metadata[credits]": String(credits),
  };
  const payment = await stripe("POST", "/v1/payment_intents", fields, idempotencyKey);
  if (payment.error === undefined) return payment;
  console.log(`${topUpId}: ${payment.error.code}, ${payment.error.decline_code ?? "no reason"}`);
  return null;
}

/** Adds the credits in the payment's metadata, even if the rule has changed since. With the payment's ID as reference, they are added once. */
async function addCredits({ id, amount_received, currency, metadata }) {
  await purser("POST", metadata.customerId, "/credits", {
    credits: Number(metadata.credits),
    pool: metadata.pool,
    kind: "purchase",
    reference: id,
    price: { amount: amount_received, currency: currency.toUpperCase() },
  });
}

/** `webhook-signature` has signatures of the ID, the time and the raw body. During a secret's rotation, there are two. */
function isFromPurser(rawBody, headers) {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signatures = "" } = headers;
  // Negated, so that a time that is not a number is rejected too.
  if (!(Math.abs(Date.now() / 1000 - Number.parseInt(time, 10)) <= TOLERANCE_SECONDS)) return false;
  const key = Buffer.from(WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(rawBody).digest();
  return signatures
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => Buffer.from(signature.slice(3), "base64"))
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

/** Pins Stripe's API version, so that the account's default version can change. Also returns the error of a declined card, which is 402. */
async function stripe(method, path, fields, idempotencyKey) {
  const headers = { authorization: `Bearer ${STRIPE_SECRET_KEY}`, "stripe-version": "2025-03-31.basil" };
  if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey;
  const body = fields === undefined ? {} : { body: new URLSearchParams(fields) };
  return call(`${STRIPE_URL}${path}`, { method, headers, ...body }, [402]);
}

function purser(method, customerId, what, body) {
  const headers = { authorization: `Bearer ${PURSER_TOKEN}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const url = `${CUSTOMERS_URL}/${encodeURIComponent(customerId)}${what}`;
  return call(url, { method, headers, body: JSON.stringify(body) });
}

async function call(url, options, expectedStatuses = []) {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(CALL_MS_MAX) });
  const text = await response.text();
  if (response.ok || expectedStatuses.includes(response.status)) return JSON.parse(text);
  throw new Error(`${options.method} ${url}: ${response.status} ${text}`);
}

function setting(name) {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}
