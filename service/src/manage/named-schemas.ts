import { HoldView as Hold } from "../edge/hold-fields.ts";
import { Entry as AuditEntry } from "./audit/operations.ts";
import { BulkResult } from "./bulk/each-customer-operations.ts";
import { CatalogDocument as Catalog, PlanDocument as CatalogPlan } from "./catalog/document.ts";
import { Allowance, CatalogApplied, Change as CatalogChange, CatalogDiff, Cost } from "./catalog/schema.ts";
import { CreditsBody as CreditsInput } from "./credits/add-credits.ts";
import { MovePreview } from "./credits/move-operations.ts";
import { CreditsPreview } from "./credits/preview-credits.ts";
import { ReversalPreview } from "./credits/preview-reversal.ts";
import { Alerts } from "./customers/alerts.ts";
import { PlanName } from "./customers/catalog-names.ts";
import { Customer } from "./customers/describe-customer.ts";
import { CustomerForecast } from "./customers/forecast-customers.ts";
import { Denial } from "./customers/list-denials.ts";
import { Grant, priceField as Price } from "./customers/list-grants.ts";
import { BroughtForward, LedgerEntry } from "./customers/list-ledger.ts";
import { Overrides } from "./customers/overrides.ts";
import { Proof } from "./customers/prove-wallet.ts";
import { PlanChange } from "./customers/record-operations.ts";
import { RepeatedCharge } from "./customers/repeated-charges.ts";
import { EventKey } from "./event-keys/operations.ts";
import { UsageEvent } from "./events/list-events.ts";
import { DenialExplanation } from "./explain/denial-explanation.ts";
import { ChargeDetails, KeyStory } from "./explain/key-story.ts";
import { Feature } from "./features/operations.ts";
import { actorField as Actor } from "./fields.ts";
import { Installation } from "./health/operations.ts";
import { OpeningBalances } from "./imports/list-opening-balances.ts";
import { ImportAnswer as ImportReport } from "./imports/operations.ts";
import { ApiKey } from "./keys/describe-api-key.ts";
import { Month } from "./months/operations.ts";
import { Session } from "./people/own-session-operations.ts";
import {
  OwnPasskeys,
  Passkey,
  Assertion as PasskeyAssertion,
  Attestation as PasskeyAttestation,
  CreationOptions as PasskeyOptions,
} from "./people/passkey-schema.ts";
import { Link, ListedMember, Me, Member, MemberAccess, ProjectRole, Token } from "./people/schema.ts";
import { PinnedFeature, Plan, Draft as PlanDraft, PlanSummary, PlanVersion } from "./plans/describe-plan.ts";
import { PlanDiff } from "./plans/diff-plan.ts";
import { CreditPool as Pool } from "./pools/operations.ts";
import { Project } from "./projects/operations.ts";
import { CustomerRequest, LoggedRequest } from "./requests/describe-request.ts";
import { CatalogItem, Found } from "./search/found.ts";
import { OwnSignOn } from "./single-sign-on/own-operations.ts";
import { SignOnFinding, SignOnSettings } from "./single-sign-on/settings-operations.ts";
import { Undo } from "./undo/operations.ts";
import { UsageLine } from "./usage/chart-usage.ts";
import { UsedSum } from "./usage/range.ts";
import { Delivery, Notice, NoticeData } from "./webhooks/describe-notice.ts";
import { Webhook } from "./webhooks/describe-webhook.ts";
import { Workspace } from "./workspace/operations.ts";

/** Names of schemas in the OpenAPI document. Generated clients use these names, so renaming a schema breaks them. */
export const NAMED_SCHEMAS = {
  ...{
    Actor,
    Alerts,
    Allowance,
    ApiKey,
    AuditEntry,
    BroughtForward,
    BulkResult,
    Catalog,
    CatalogApplied,
    CatalogChange,
    CatalogDiff,
  },
  ...{
    CatalogItem,
    CatalogPlan,
    ChargeDetails,
    Cost,
    CreditsInput,
    CreditsPreview,
    Customer,
    CustomerForecast,
    CustomerRequest,
  },
  ...{
    Delivery,
    Denial,
    DenialExplanation,
    EventKey,
    Feature,
    Found,
    Grant,
    Hold,
    ImportReport,
    Installation,
    KeyStory,
  },
  ...{ LedgerEntry, Link, ListedMember, LoggedRequest, Me, Member, MemberAccess, Month, MovePreview },
  ...{ Notice, NoticeData, OpeningBalances, Overrides, OwnPasskeys, OwnSignOn },
  ...{ Passkey, PasskeyAssertion, PasskeyAttestation, PasskeyOptions },
  ...{ PinnedFeature, Plan },
  ...{
    PlanChange,
    PlanDiff,
    PlanDraft,
    PlanName,
    PlanSummary,
    PlanVersion,
    Pool,
    Price,
    Project,
    ProjectRole,
    Proof,
  },
  ...{
    RepeatedCharge,
    ReversalPreview,
    Session,
    SignOnFinding,
    SignOnSettings,
    Token,
    Undo,
    UsageEvent,
    UsageLine,
    UsedSum,
  },
  ...{ Webhook, Workspace },
} as const;
