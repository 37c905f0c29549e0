import type { StoredAnswer } from "../../entitlement/answer.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Lacking } from "../../postgres/lacking.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../primitives/brand.ts";
import {
  type Customer,
  type CustomerName,
  customerKey,
  type NewCustomer,
} from "../../store/cell/customers.ts";
import type { DenialRow } from "../../store/cell/denials.ts";
import type { EventName, EventRow } from "../../store/cell/events.ts";
import type { FoundKey, KeyedRequest, KeyName } from "../../store/cell/keyed-requests.ts";
import { WalletChanges } from "../../store/cell/wallet-changes.ts";
import type { FoundWallet, WalletName } from "../../store/cell/wallets.ts";
import type { Outcome, RuntimeRequest, Undecided } from "./request.ts";

/** What the database said in the first trip, and the catalogs of the revisions it named, or that they are not in memory. */
export type BatchFacts = {
  readonly wallets: readonly FoundWallet[];
  readonly keyedRequests: readonly FoundKey[];
  readonly storedEvents: ReadonlySet<EventName>;
  readonly customers: readonly Customer[];
  /** Numbers for customers nobody knows, in case this batch makes them known. */
  readonly newcomers: ReadonlyMap<string, CustomerNumber>;
  readonly catalogs: ReadonlyMap<EnvironmentId, Catalog | Lacking>;
  readonly now: Instant;
};

/** What is to be written, all at once, and what each caller hears once it is. */
export class BatchPlan {
  readonly outcomes: (Outcome | Undecided)[] = [];
  readonly changes = new WalletChanges();
  readonly denials: DenialRow[] = [];
  readonly events: EventRow[] = [];
  readonly keyedRequests: KeyedRequest[] = [];
  /** Expired keys to delete before they are inserted again. */
  endedKeys: readonly KeyName[] = [];
  /** Made known by a consume, under a number that its ledger needs at once. */
  readonly newCustomers = new Map<string, NewCustomer>();
  /** Made known by events alone: whoever makes them first, the number is looked up. */
  readonly reporters = new Map<string, CustomerName>();
  /** Of customers who were known and had none. */
  readonly newWallets: WalletName[] = [];
  readonly wallets: ReadonlyMap<string, FoundWallet>;
  /** Of the customers that exist. */
  readonly numbers: ReadonlyMap<string, number>;

  constructor({ wallets, customers }: BatchFacts) {
    this.wallets = new Map(wallets.map((wallet) => [customerKey(wallet), wallet]));
    this.numbers = new Map(customers.map((customer) => [customerKey(customer), customer.number]));
  }

  /** Under its key, if it has one: a copy later in the batch meets it there. */
  remember(request: RuntimeRequest, answer: StoredAnswer): void {
    const { keyed, environmentId, endpoint } = request;
    if (keyed !== null) this.keyedRequests.push({ ...keyed, environmentId, endpoint, answer });
  }
}
