import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { parseMetadata } from "../../entitlement/metadata.ts";
import type { Pool } from "../../postgres/pool.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import {
  COMPARED_MAX,
  CUSTOMER_ORDERS,
  type CustomerOrder,
  type Position,
} from "../../store/cell/customer-numbers.ts";
import { type CustomerProfile, updateCustomerProfile } from "../../store/cell/customers.ts";
import { openOrCreateWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { afterCommit } from "../database-trouble.ts";
import { invalidField, nullable, strictObject } from "../fields.ts";
import {
  type Call,
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { decodeCursor, encodeCursor, pageOf, pageQuery, readIdCursor, readLimit, toPage } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { walletTransaction } from "../wallet-transaction.ts";
import { Customer } from "./describe-customer.ts";
import { listCustomers, listLowest, readCustomer } from "./list-customers.ts";

const NOUN = "Customers";
export const CUSTOMER_PATH = `${ENVIRONMENT_PATH}/customers/:customerId`;
export const customerParams = Type.Object({
  ...environmentParams,
  customerId: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "Your customer ID, percent-encoded.",
    examples: ["customer_42"],
  }),
});

/** Lists, reads, creates and edits customer profiles. */
export function customerOperations({ cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/customers`,
      access: { role: "viewer", in: "environment" },
      id: "listCustomers",
      noun: NOUN,
      summary: "List and search customers",
      description:
        "`search` looks in the ID, name, email and billing reference, and ignores case. Text of three or more characters matches any " +
        "part of a field. Shorter text matches only the beginning.\n\n" +
        "If you filter by plan, balance or blocked status, a page can contain fewer than `limit` items, or none. Continue with the same " +
        "`sort` as long as the response has a `nextCursor`.",
      params: Type.Object(environmentParams),
      query: strictObject({
        ...pageQuery,
        search: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ["acme"] })),
        plan: Type.Optional(
          Type.String({
            maxLength: 120,
            description: "Only customers on the plan with this key.",
            examples: ["pro"],
          }),
        ),
        blocked: Type.Optional(Type.Enum(["true", "false"])),
        balanceBelow: Type.Optional(
          Type.String({
            pattern: "^\\d{1,15}$",
            description: "Only customers whose balance is below this value in at least one pool.",
            examples: ["100"],
          }),
        ),
        sort: Type.Optional(
          Type.Enum([...CUSTOMER_ORDERS, "balance"], {
            description:
              "Default: `newest`.\n\n" +
              "- `name_asc` and `name_desc` sort customers without a name by ID.\n" +
              "- `balance_asc` and `balance_desc` sort by stored balance, which is the total of all pools after the last change to the " +
              `wallet. Later renewals are not included. Only the newest ${COMPARED_MAX} customers are listed.\n` +
              "- `balance` returns one page of customers, sorted by the lowest current balance in any of their pools. Requires " +
              "`balanceBelow`, and cannot be combined with `search` or `cursor`.\n\n" +
              "`balance` considers up to 1,000 customers with open holds, and:\n\n" +
              `- With one pool: the 5,000 customers with the lowest stored balances among the newest ${COMPARED_MAX}.\n` +
              `- With several pools: among the newest ${COMPARED_MAX}, the 1,000 customers with the lowest totals of all pools and the 1,000 most recently active customers.`,
          }),
        ),
      }),
      answer: pageOf(Customer),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const { search, plan, blocked, balanceBelow, cursor, limit, sort } = call.query;
        const filter = {
          search: search ?? null,
          plan: plan ?? null,
          isBlocked: blocked === undefined ? null : blocked === "true",
          balanceBelow: balanceBelow === undefined ? null : Number(balanceBelow),
        };
        if (sort === "balance") {
          if (filter.balanceBelow === null || search !== undefined || cursor !== undefined)
            throw invalidField({
              field: "sort",
              code: "wrong_form",
              message:
                "is `balance`, which requires `balanceBelow` and cannot be combined with `search` or `cursor`",
            });
          const lowest = { ...filter, balanceBelow: filter.balanceBelow };
          return toPage(
            await listLowest(cellOf(scopeOf(call)), environmentId, lowest, readLimit(limit)),
            null,
          );
        }
        const order = sort ?? "newest";
        const page = { environmentId, order, after: readPosition(cursor, order), limit: readLimit(limit) };
        const { customers, next } = await listCustomers(cellOf(scopeOf(call)), filter, page);
        return { items: [...customers], nextCursor: encodePosition(next, order) };
      },
    }),
    operation({
      method: "GET",
      path: CUSTOMER_PATH,
      access: { role: "viewer", in: "environment" },
      id: "readCustomer",
      noun: NOUN,
      summary: "Read a customer",
      description: "Returns the profile, plan and balances, with due renewals and expiries applied.",
      params: customerParams,
      answer: Customer,
      handle: async (call) => readOrNotFound(cellOf, call),
    }),
    operation({
      method: "PUT",
      path: CUSTOMER_PATH,
      access: { role: "operator", in: "environment" },
      id: "putCustomer",
      noun: NOUN,
      summary: "Create or edit a customer",
      description:
        "Omitted fields are cleared. Safe to repeat. Creating customers first is optional. Assigning a plan, adding credits or recording " +
        "a usage event also creates the customer. A charge creates the customer if the environment has a default plan.",
      params: customerParams,
      body: strictObject({
        name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 255, examples: ["Acme GmbH"] }))),
        email: Type.Optional(
          nullable(Type.String({ minLength: 1, maxLength: 254, examples: ["billing@acme.example"] })),
        ),
        billingReference: Type.Optional(
          nullable(Type.String({ minLength: 1, maxLength: 255, examples: ["cus_NffrFeUfNV2Hib"] })),
        ),
        metadata: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
      }),
      answer: Customer,
      codes: ["metadata_limit_exceeded"],
      handle: async (call) => {
        const { name, email, billingReference, metadata } = call.body;
        await putCustomer(cellOf(scopeOf(call)), contextOf(call), {
          customerId: customerIdOf(call),
          name: name ?? null,
          email: email ?? null,
          billingReference: billingReference ?? null,
          metadata: readMetadata(metadata ?? null),
        });
        return readChanged(cellOf, call);
      },
    }),
  ];
}

const KEY_KINDS = {
  newest: null,
  oldest: null,
  name_asc: "string",
  name_desc: "string",
  balance_asc: "number",
  balance_desc: "number",
} as const satisfies Record<CustomerOrder, "string" | "number" | null>;

function readPosition(cursor: string | undefined, order: CustomerOrder): Position | null {
  const kind = KEY_KINDS[order];
  if (kind === null) {
    const number = readIdCursor(cursor);
    return number === null ? null : { key: number, number };
  }
  const [key = null, number = 0] = decodeCursor(cursor, [kind, "number"]) ?? [];
  return key === null ? null : { key, number };
}

/** Encodes a cursor. If the sort key is the customer number, the cursor contains only the number. */
function encodePosition(position: Position | null, order: CustomerOrder): string | null {
  if (position === null) return null;
  const { key, number } = position;
  return encodeCursor(KEY_KINDS[order] === null ? [number] : [key, number]);
}

const METADATA_BYTES_MAX = 8_192;

/** Checks the metadata and its size. Returns null for an empty object. */
function readMetadata(metadata: Record<string, unknown> | null): Record<string, unknown> | null {
  if (metadata === null) return null;
  const parsed = parseMetadata(metadata);
  if (parsed.kind === "none") return null;
  if (parsed.kind === "unusable") {
    throw invalidField({ field: "metadata", code: "wrong_form", message: parsed.problem });
  }
  const { bytes: actual } = parsed.metadata;
  if (actual <= METADATA_BYTES_MAX) return metadata;
  throw new Problem("metadata_limit_exceeded", {
    detail: `\`metadata\` has ${actual} bytes. The limit for a customer is ${METADATA_BYTES_MAX}.`,
    extra: { limit: "bytes", max: METADATA_BYTES_MAX, actual },
  });
}

type CustomerCall = Call<{ customerId: string }>;

export function customerIdOf({ params }: CustomerCall): CustomerId {
  return brandAs<CustomerId>(params.customerId);
}

/** Returns the same error for missing customers, erased customers and customers in another environment. */
export function customerNotFound(): Problem {
  return new Problem("not_found", { detail: "There is no such customer in this environment." });
}

export async function readOrNotFound(cellOf: ManageParts["cellOf"], call: CustomerCall): Promise<Customer> {
  const { environmentId } = scopeOf(call);
  const customer = await readCustomer(cellOf(scopeOf(call)), environmentId, customerIdOf(call));
  if (customer === null) throw customerNotFound();
  return customer;
}

/** Returns the customer after a change that is already committed. */
export function readChanged(cellOf: ManageParts["cellOf"], call: CustomerCall): Promise<Customer> {
  return afterCommit(() => readOrNotFound(cellOf, call));
}

type PutCustomerInput = CustomerProfile & { readonly customerId: CustomerId };

/** Creates a customer or replaces its profile. Safe to repeat. */
export function putCustomer(cell: Pool, context: Context, input: PutCustomerInput): Promise<void> {
  const { customerId, ...profile } = input;
  return walletTransaction(cell, context, customerId, async (tx) => {
    const open = await openOrCreateWallet(tx, context, customerId);
    const { environmentId, customerNumber } = open;
    const before = await findCustomerRecord(tx, { environmentId, customerId });
    assert(before !== null, "a customer with an open wallet exists");
    const { name, email, billingReference, metadata } = before;
    if (isSame(profile, { name, email, billingReference, metadata })) {
      if (!open.isNew) return;
    } else await updateCustomerProfile(tx, { environmentId, customerNumber }, profile);
    // Records only field names, because audit entries are kept after the customer is erased.
    const audit = {
      action: open.isNew ? "customer.created" : "customer.changed",
      subject: "profile",
      before: null,
      after: {
        fields: Object.keys(profile).filter((field) => profile[field as keyof CustomerProfile] !== null),
      },
    };
    await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change: null, audits: [audit] }]);
  });
}

function isSame(a: CustomerProfile, b: CustomerProfile): boolean {
  return (
    a.name === b.name &&
    a.email === b.email &&
    a.billingReference === b.billingReference &&
    canonical(a.metadata) === canonical(b.metadata)
  );
}

/** Converts metadata to canonical text, because PostgreSQL does not keep the field order of JSON objects. */
function canonical(metadata: CustomerProfile["metadata"]): string | null {
  const parsed = metadata === null ? null : parseMetadata(metadata);
  return parsed?.kind === "metadata" ? parsed.metadata.canonical : null;
}
