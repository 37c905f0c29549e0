import type { Catalog } from "../../entitlement/catalog.ts";
import type { StoredAnswer } from "../../entitlement/stored-answer.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import type { MissingData } from "../../postgres/missing-data.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../primitives/brand.ts";
import {
  type Customer,
  type CustomerName,
  customerKey,
  type NewCustomer,
} from "../../store/cell/customers.ts";
import type { DenialRow } from "../../store/cell/denials.ts";
import type { EventName, EventRow } from "../../store/cell/events.ts";
import type { HoldName, LatestHold } from "../../store/cell/hold-list.ts";
import type { FoundKey, KeyedRequest, KeyName } from "../../store/cell/keyed-requests.ts";
import { WalletChanges } from "../../store/cell/wallet-changes.ts";
import type { FoundWallet, WalletName } from "../../store/cell/wallets.ts";
import type { ConsumeRequest, EventRequest, Outcome, Undecided } from "./request.ts";

/** Results of the first round trip, and each catalog at the returned revision. `MissingData` if a catalog is not in memory. */
export type BatchFacts = {
  readonly wallets: readonly FoundWallet[];
  readonly keyedRequests: readonly FoundKey[];
  readonly storedEvents: ReadonlySet<EventName>;
  /** The holds that the batch's requests refer to. */
  readonly holds: readonly LatestHold[];
  readonly customers: readonly Customer[];
  /** Numbers reserved for unknown customers, in case this batch creates them. */
  readonly reservedNumbers: ReadonlyMap<string, CustomerNumber>;
  readonly catalogs: ReadonlyMap<EnvironmentId, Catalog | MissingData>;
  readonly now: Instant;
  /** Whether responses may be stored in formats that releases before 0.2 cannot render. */
  readonly hasNewFormats: boolean;
};

/** Everything a batch writes in one transaction, and the outcome of each request. Outcomes are sent after the commit. */
export class BatchPlan {
  readonly outcomes: (Outcome | Undecided)[] = [];
  readonly changes = new WalletChanges();
  readonly denials: DenialRow[] = [];
  readonly events: EventRow[] = [];
  readonly keyedRequests: KeyedRequest[] = [];
  /** Expired keys to delete before they are inserted again. */
  endedKeys: readonly KeyName[] = [];
  /** New customers with a reserved number, which the ledger entry of a consume request needs. */
  readonly newCustomers = new Map<string, NewCustomer>();
  /**
   * New customers without a reserved number, created by events. Another process may create them first, so the insert looks up their
   * numbers.
   */
  readonly reporters = new Map<string, CustomerName>();
  /** New wallets for existing customers without one. */
  readonly newWallets: WalletName[] = [];
  readonly wallets: ReadonlyMap<string, FoundWallet>;
  /** The numbers of existing customers. */
  readonly numbers: ReadonlyMap<string, number>;

  readonly #holds: readonly LatestHold[];

  constructor({ wallets, customers, holds }: BatchFacts) {
    this.#holds = holds;
    this.wallets = new Map(wallets.map((wallet) => [customerKey(wallet), wallet]));
    this.numbers = new Map(customers.map((customer) => [customerKey(customer), customer.number]));
  }

  /** The wallet as earlier requests in the batch left it. Null if the customer has no wallet yet. */
  readWallet({ customerNumber, readWallet }: FoundWallet): Wallet | null {
    return this.changes.wallets.get(customerNumber)?.wallet ?? readWallet?.() ?? null;
  }

  /** The hold as earlier requests in the batch left it. Undefined if it does not exist. */
  findHold({ customerNumber, number }: HoldName): LatestHold | undefined {
    const isSame = (of: number, hold: Hold): boolean => of === customerNumber && hold.number === number;
    const row = this.changes.holds.findLast((other) => isSame(other.customerNumber, other.change.hold));
    if (row === undefined) return this.#holds.find((other) => isSame(other.customerNumber, other.hold));
    const { change, note } = row;
    return { customerNumber, kind: change.kind, hold: change.hold, closing: note?.closing ?? null };
  }

  /** Stores a response under the request's key, if it has a key. A later request in the batch with the same key gets this response. */
  remember(request: EventRequest | ConsumeRequest, answer: StoredAnswer): void {
    const { keyed, environmentId, endpoint } = request;
    if (keyed !== null) this.keyedRequests.push({ ...keyed, environmentId, endpoint, answer });
  }
}
