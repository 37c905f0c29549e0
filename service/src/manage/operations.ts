import { auditOperations } from "./audit/operations.ts";
import { bulkOperations } from "./bulk/operations.ts";
import { catalogOperations } from "./catalog/operations.ts";
import { creditsOperations } from "./credits/operations.ts";
import { customerAlertsOperations } from "./customers/alerts-operations.ts";
import { forecastOperations } from "./customers/forecasts.ts";
import { customerOperations } from "./customers/operations.ts";
import { customerOverridesOperations } from "./customers/overrides-operations.ts";
import { customerPlanOperations } from "./customers/plan-operations.ts";
import { customerRecordOperations } from "./customers/record-operations.ts";
import { repeatedChargeOperations } from "./customers/repeated-charges.ts";
import { customerVerbOperations } from "./customers/verb-operations.ts";
import { eventKeyOperations } from "./event-keys/operations.ts";
import { eventOperations } from "./events/operations.ts";
import { explanationOperations } from "./explain/operations.ts";
import { exportOperations } from "./exports/operations.ts";
import { featureOperations } from "./features/operations.ts";
import { healthOperations } from "./health/operations.ts";
import { holdOperations } from "./holds/operations.ts";
import { importOperations } from "./imports/operations.ts";
import { apiKeyOperations } from "./keys/operations.ts";
import { monthOperations } from "./months/operations.ts";
import type { Operation } from "./operation.ts";
import type { ManageParts } from "./parts.ts";
import { memberOperations } from "./people/member-operations.ts";
import { ownSessionOperations } from "./people/own-session-operations.ts";
import { passkeyOperations } from "./people/passkey-operations.ts";
import { secondFactorResetOperation } from "./people/reset-second-factor.ts";
import { sessionOperations } from "./people/session-operations.ts";
import { tokenOperations } from "./people/token-operations.ts";
import { planDraftOperations } from "./plans/draft-operations.ts";
import { planOperations } from "./plans/operations.ts";
import { poolOperations } from "./pools/operations.ts";
import { projectOperations } from "./projects/operations.ts";
import { requestOperations } from "./requests/operations.ts";
import { sandboxRequestOperations } from "./sandbox-requests/operations.ts";
import { searchOperations } from "./search/operations.ts";
import { signOnOperations } from "./single-sign-on/operations.ts";
import { ownSignOnOperations } from "./single-sign-on/own-operations.ts";
import { signOnSettingsOperations } from "./single-sign-on/settings-operations.ts";
import { balanceOperation } from "./usage/balance-operation.ts";
import { usageOperations } from "./usage/operations.ts";
import { usageTotalOperations } from "./usage/total-operations.ts";
import { deliveryOperations } from "./webhooks/delivery-operations.ts";
import { noticeOperations } from "./webhooks/notice-operations.ts";
import { webhookOperations } from "./webhooks/operations.ts";
import { workspaceOperations } from "./workspace/operations.ts";

/** Every operation of the management API, grouped by noun. */
export function manageOperations(parts: ManageParts): Operation[] {
  return [
    ...sessionOperations(parts),
    ...ownSessionOperations(parts),
    ...passkeyOperations(parts),
    ...signOnOperations(parts),
    ...ownSignOnOperations(parts),
    ...signOnSettingsOperations(parts),
    ...controlOperations(parts),
    ...catalogNouns(parts),
    ...webhookOperations(parts),
    ...deliveryOperations(parts),
    ...noticeOperations(parts),
    ...customerOperations(parts),
    ...customerPlanOperations(parts),
    ...customerOverridesOperations(parts),
    ...customerAlertsOperations(parts),
    ...customerVerbOperations(parts),
    ...customerRecordOperations(parts),
    ...forecastOperations(parts),
    ...repeatedChargeOperations(parts),
    ...creditsOperations(parts),
    ...holdOperations(parts),
    ...eventOperations(parts),
    ...requestOperations(parts),
    ...usageOperations(parts),
    ...usageTotalOperations(parts),
    balanceOperation(parts),
    ...sandboxRequestOperations(parts),
    ...explanationOperations(parts),
    ...searchOperations(parts),
    ...exportOperations(parts),
    ...monthOperations(parts),
    ...importOperations(parts),
    ...bulkOperations(parts),
  ];
}

/** Operations on the catalog: pools, features, plans and event keys. */
function catalogNouns(parts: ManageParts): Operation[] {
  return [
    ...poolOperations(parts),
    ...featureOperations(parts),
    ...planOperations(parts),
    ...planDraftOperations(parts),
    ...eventKeyOperations(parts),
    ...catalogOperations(parts),
  ];
}

/** Operations on access, projects, API keys and the audit log. */
function controlOperations(parts: ManageParts): Operation[] {
  return [
    ...memberOperations(parts),
    secondFactorResetOperation(parts),
    ...tokenOperations(parts),
    ...workspaceOperations(parts),
    ...healthOperations(parts),
    ...projectOperations(parts),
    ...apiKeyOperations(parts),
    ...auditOperations(parts),
  ];
}
