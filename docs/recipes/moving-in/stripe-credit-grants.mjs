#!/usr/bin/env node
// Turns Stripe's billing credit grants into an import file for Purser. Node.js 24, no dependencies.
//
//   node stripe-credit-grants.mjs grants.json --transactions transactions.json --rate usd=10/100 > customers.csv
//
// See README.md for the files and options.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** `usd=10/100`: 10 credits for 100 of the currency's smallest unit. Repeat it for each currency. */
    rate: { type: "string", multiple: true, default: [] },
    /** A file with credit balance transactions, to subtract used credits. */
    transactions: { type: "string" },
    /** A file with a JSON object that maps Stripe's customer IDs to yours. */
    ids: { type: "string" },
    pool: { type: "string", default: "credits" },
  },
});
const [grantsFile] = positionals;
if (grantsFile === undefined || values.rate.length === 0)
  stop("usage: stripe-credit-grants.mjs GRANTS --rate usd=10/100");

const now = Date.now() / 1_000;
const rates = new Map(values.rate.map(readRate));
const ids = values.ids === undefined ? {} : readJson(values.ids);
const grants = readList(grantsFile, "billing.credit_grant");
const remaining = values.transactions === undefined ? null : sumTransactions(values.transactions);
if (remaining === null)
  warn("without --transactions, every grant is imported with its full amount, even if some of it is used");

const rows = grants.flatMap(toRow).sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
const header = ["customerId", "billingReference", "pool", "credits", "kind", "expiresAt", "reference"];
for (const row of [header, ...rows]) console.log(row.map(toCell).join(","));

function toRow(grant) {
  const {
    id,
    amount,
    category,
    expires_at: expiresAt,
    effective_at: effectiveAt,
    voided_at: voidedAt,
  } = grant;
  if (voidedAt != null || (expiresAt != null && expiresAt <= now)) return [];
  if (effectiveAt != null && effectiveAt > now) {
    warn(`${id} becomes effective later and is skipped: add it after it is effective`);
    return [];
  }
  const customer = customerOf(grant);
  if (customer == null) stop(`${id} has no customer`);
  if (amount?.type !== "monetary" || amount.monetary == null) stop(`${id} has no monetary amount`);
  const { currency, value } = amount.monetary;
  const rate = rates.get(currency);
  if (rate === undefined) stop(`${id} is in ${currency}: add --rate ${currency}=CREDITS/AMOUNT`);
  const left = remaining === null ? BigInt(value) : remaining.get(id);
  if (left === undefined)
    warn(
      `${id} has no transactions and is skipped: add the transactions of ${customer}, unless the grant is not funded yet`,
    );
  if (left === undefined || left <= 0n) return [];
  // Rounded up, so that no customer loses part of a credit.
  const credits = (left * rate.credits + rate.amount - 1n) / rate.amount;
  const kind = category === "promotional" ? "promotion" : "purchase";
  const expiry = expiresAt == null ? "" : new Date(expiresAt * 1_000).toISOString();
  const own = grant.metadata?.customerId ?? grant.customer.metadata?.customerId ?? ids[customer] ?? customer;
  return [[own, customer, values.pool, credits, kind, expiry, id]];
}

function customerOf({ customer }) {
  return typeof customer === "string" ? customer : customer?.id;
}

/** The remaining amount of each grant: its credits minus its debits. */
function sumTransactions(file) {
  refuseMissingPages(file);
  const sums = new Map();
  for (const { id, type, credit, debit, credit_grant: grant, effective_at: at } of readList(
    file,
    "billing.credit_balance_transaction",
  )) {
    if (at > now) continue;
    const name = typeof grant === "string" ? grant : grant?.id;
    const value = (type === "credit" ? credit : debit)?.amount?.monetary?.value;
    if (name === undefined || value === undefined) stop(`${id} has no grant or amount`);
    sums.set(name, (sums.get(name) ?? 0n) + (type === "credit" ? BigInt(value) : -BigInt(value)));
  }
  return sums;
}

/** If a page with debits were missing, used credits would be imported. Each customer has a separate list. */
function refuseMissingPages(file) {
  const customers = new Map(grants.map((grant) => [grant.id, customerOf(grant)]));
  const pages = [readJson(file)].flat().filter(({ object }) => object === "list");
  const byCustomer = Map.groupBy(pages, ({ data: [first] }) => {
    const grant = first?.credit_grant;
    return customers.get(typeof grant === "string" ? grant : grant?.id);
  });
  for (const [customer, own] of byCustomer)
    if (customer !== undefined && own.every((page) => page.has_more === true))
      stop(`${file} is not complete: add the last page of ${customer} (has_more is true)`);
}

/** A list as Stripe returns it, or an array of its pages or objects. */
function readList(file, object) {
  const pages = [readJson(file)].flat();
  if (pages.length > 0 && pages.every((page) => page.has_more === true))
    stop(`${file} is not complete: add the next page (has_more is true)`);
  const items = pages.flatMap((page) => (page.object === "list" ? page.data : [page]));
  const other = items.find((item) => item.object !== object);
  if (other !== undefined) stop(`${file} contains an object of type ${other.object}, not ${object}`);
  return items;
}

function readRate(text) {
  const [, currency, credits, amount] =
    /^([a-z]{3})=(\d+)\/([1-9]\d*)$/.exec(text) ?? stop(`not a rate: ${text}`);
  return [currency, { credits: BigInt(credits), amount: BigInt(amount) }];
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function toCell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function warn(text) {
  console.error(`stripe-credit-grants: ${text}`);
}

function stop(text) {
  warn(text);
  process.exit(1);
}
