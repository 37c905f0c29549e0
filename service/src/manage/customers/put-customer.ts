import { parseMetadata } from "../../entitlement/metadata.ts";
import type { Pool } from "../../postgres/pool.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { type CustomerProfile, updateCustomerProfile } from "../../store/cell/customers.ts";
import { openOrCreateWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { assert } from "../../words/assert.ts";
import type { CustomerId } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type PutCustomerInput = CustomerProfile & { readonly customerId: CustomerId };

/** Makes a customer, or gives one another name, email, billing reference and metadata. Safe to repeat. */
export function putCustomer(cell: Pool, context: Context, input: PutCustomerInput): Promise<void> {
  const { customerId, ...profile } = input;
  return walletTransaction(cell, context, customerId, async (tx) => {
    const open = await openOrCreateWallet(tx, context, customerId);
    const { environmentId, customerNumber } = open;
    const before = await findCustomerRecord(tx, { environmentId, customerId });
    assert(before !== null, "a customer whose wallet is open is there");
    const { name, email, billingReference, metadata } = before;
    if (isSame(profile, { name, email, billingReference, metadata })) {
      if (!open.isNew) return;
    } else await updateCustomerProfile(tx, { environmentId, customerNumber }, profile);
    // Which fields, not what they say: the audit outlives an erased person.
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

/** The database hands out the fields of an object in an order of its own. */
function canonical(metadata: CustomerProfile["metadata"]): string | null {
  const parsed = metadata === null ? null : parseMetadata(metadata);
  return parsed?.kind === "metadata" ? parsed.metadata.canonical : null;
}
