import type { PoolId } from "../../../service/src/primitives/brand.ts";
import { balanceIn, type Customer } from "../../../service/test/model/customer.ts";
import type { Answer, Request } from "../../../service/test/model/request.ts";
import type { Overage } from "./answers.ts";
import type { Facts } from "./violation.ts";

/** A decision at its position in the ledger, with the stored facts and the facts that the model expects. */
export type Act = {
  readonly name: string;
  /** The sequence. A decision without an entry comes after the last entry that existed when it was made. */
  readonly position: number;
  readonly atMs: number;
  readonly request: Request;
  /** The plan version of the row, if it has one. */
  readonly planVersion: number | null;
  readonly isDenial: boolean;
  readonly stored: Facts;
  readonly expect: (answer: Answer, customer: Customer) => Facts;
};

/** The overage that a response shows. Undefined if the response is not known. */
export function describeOverage(overage: Overage | null | undefined): string | undefined {
  if (overage === undefined) return;
  return overage === null ? "none" : `${overage.used} of ${overage.credits}, ${overage.remaining} left`;
}

/** The balance in the ledger, which includes held credits. */
export function ledgerBalance(customer: Customer, pool: PoolId): number {
  return customer.grants.reduce(
    (sum, grant) => sum + (grant.pool === pool ? grant.held : 0),
    balanceIn(customer, pool),
  );
}
