import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { noteField } from "../../edge/request-fields.ts";
import type { Change } from "../../entitlement/entry.ts";
import { revokeGrant as decideRevocation, type GrantFacts } from "../../entitlement/revoke-grant.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { mapCustomers, NO_CUSTOMER, type ShownCustomer } from "../../store/cell/customers.ts";
import { findGrantMove } from "../../store/cell/grant-moves.ts";
import { findGrant, listGrantsOfSlots, markGrantRevoked } from "../../store/cell/grants.ts";
import { addOpenHolds } from "../../store/cell/holds.ts";
import { type OpenWallet, openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { Customer } from "../customers/describe-customer.ts";
import { movedField } from "../customers/list-grants.ts";
import {
  CUSTOMER_PATH,
  customerIdOf,
  customerNotFound,
  customerParams,
  readChanged,
} from "../customers/operations.ts";
import { nullable, strictObject } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export function revokeOperation({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/grants/:grant/revoke`,
    access: { role: "operator", in: "environment" },
    id: "revokeGrant",
    noun: "Credits",
    summary: "Revoke a grant",
    description:
      "Removes the unspent credits of a grant. Spent credits are not affected. If several grants with the same kind and expiry are open, " +
      "the oldest is spent first. The `note` is stored with the ledger entry, as `metadata`. Safe to repeat.",
    params: Type.Object({
      ...customerParams.properties,
      grant: Type.String({ pattern: "^\\d{1,9}$", description: "The grant's number.", examples: ["7"] }),
    }),
    body: nullable(strictObject({ note: Type.Optional(nullable(noteField)) })),
    answer: Type.Object({
      outcome: Type.Enum(["revoked", "already_revoked"]),
      credits: Type.Integer({ description: "Credits removed by this call.", examples: [120] }),
      movedTo: movedField("The customer and grant that received the credits, if the grant was moved."),
      customer: Customer,
    }),
    handle: async (call) => {
      const outcome = await revokeGrant(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
        grant: Number(call.params.grant),
        note: call.body?.note ?? null,
      });
      if (outcome.kind === "customer_not_found") throw customerNotFound();
      if (outcome.kind === "grant_not_found") {
        throw new Problem("not_found", { detail: "This customer has no such grant." });
      }
      const [credits, movedTo] = outcome.kind === "revoked" ? [outcome.credits, null] : [0, outcome.movedTo];
      return { outcome: outcome.kind, credits, movedTo, customer: await readChanged(cellOf, call) };
    },
  });
}

/** The customer and grant that received the credits of a moved grant. */
type MovedTo = ShownCustomer & { readonly grant: number };

export type Revocation =
  | {
      kind: "revoked";
      grant: GrantFacts;
      credits: number;
      /** Credits that open holds set aside. When the holds end, these credits are spent or revoked. */
      held: number;
      change: Change | null;
    }
  /** `movedTo` is null if the grant was revoked, not moved. */
  | { kind: "already_revoked"; movedTo: MovedTo | null }
  | { kind: "grant_not_found" };

export type RevokeInput = {
  readonly customerId: CustomerId;
  readonly grant: number;
  readonly note: string | null;
};

/** Revokes the unspent credits of a grant. */
export function revokeGrant(
  cell: Pool,
  context: Context,
  { customerId, grant, note }: RevokeInput,
): Promise<Revocation | { kind: "customer_not_found" }> {
  return walletTransaction<Revocation | { kind: "customer_not_found" }>(
    cell,
    context,
    customerId,
    async (tx) => {
      const open = await openWallet(tx, context, customerId);
      if (open === null) return { kind: "customer_not_found" };
      const revocation = await readRevocation(tx, open, grant);
      if (revocation.kind === "revoked") await saveRevocation(tx, context, open, { ...revocation, note });
      return revocation;
    },
  );
}

/** Returns what a revocation would do. Writes nothing. */
export async function readRevocation(tx: Tx, open: OpenWallet, number: number): Promise<Revocation> {
  const { catalog, clock } = open;
  const grant = await findGrant(tx, open, number);
  if (grant === null) return { kind: "grant_not_found" };
  if (grant.isRevoked) return { kind: "already_revoked", movedTo: await findMovedTo(tx, open, number) };
  const { wallet } = await addOpenHolds(tx, open);
  const slot = await listGrantsOfSlots(tx, open, [grant.slot]);
  const outcome = decideRevocation(catalog, wallet, { grant, slot }, clock);
  return outcome.kind === "revoked" ? { ...outcome, grant } : { kind: outcome.kind, movedTo: null };
}

async function findMovedTo(tx: Tx, open: OpenWallet, grant: number): Promise<MovedTo | null> {
  const move = await findGrantMove(tx, open, grant);
  if (move === null) return null;
  const customers = await mapCustomers(tx, open.environmentId, [move.toCustomer]);
  return { ...(customers.get(move.toCustomer) ?? NO_CUSTOMER), grant: move.toGrant };
}

/** Stores the note with the ledger entry, where it can be erased. If there are no credits to revoke, there is no entry and no note. */
export async function saveRevocation(
  tx: Tx,
  context: Context,
  open: OpenWallet,
  {
    grant,
    credits,
    change,
    note,
  }: Extract<Revocation, { kind: "revoked" }> & { readonly note: string | null },
): Promise<void> {
  const { before, after } = compareWallets(open, change?.wallet ?? open.wallet);
  const subject = `grant ${grant.number}`;
  const written = change?.entries.find(({ kind, hold }) => kind === "revoke" && hold === null);
  // Lets the audit log find the note.
  const ledgerEntry = written === undefined || note === null ? {} : { ledgerEntry: written.sequence };
  const audits = [{ action: "grant.revoked", subject, before, after: { ...after, credits, ...ledgerEntry } }];
  const entry = {
    kind: "revoke" as const,
    keyHash: null,
    memberId: null,
    metadata: JSON.stringify({ note }),
  };
  const annotation = written === undefined || note === null ? {} : { annotation: { entry } };
  await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change, audits, ...annotation }]);
  await markGrantRevoked(tx, open, grant.number);
}
