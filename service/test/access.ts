import type { Access } from "../src/edge/admit-managers.ts";
import type { Role } from "../src/primitives/role.ts";

const workspace = (role: Role): Access => ({ role, in: "workspace" });
const access: Access = { role: "admin", in: "workspace", managesAccess: true };
const project = (role: Role): Access => ({ role, in: "project" });
const environment = (role: Role): Access => ({ role, in: "environment" });

const E = "/manage/v1/projects/:projectId/:environment";
const CUSTOMER = `${E}/customers/:customerId`;

/**
 * The access that each operation of the management API requires. Written a second time by hand, so that no edit widens access
 * unnoticed.
 */
export const ACCESS: Readonly<Record<string, Access>> = {
  "GET /manage/v1/setup": "anyone",
  "POST /manage/v1/setup": "anyone",
  "POST /manage/v1/session": "anyone",
  "POST /manage/v1/links": "anyone",
  "GET /manage/v1/session": "signed_in",
  "DELETE /manage/v1/session": "signed_in",
  "POST /manage/v1/session/password": "signed_in",
  "GET /manage/v1/sessions": "signed_in",
  "DELETE /manage/v1/sessions": "signed_in",
  "DELETE /manage/v1/sessions/:id": "signed_in",

  "GET /manage/v1/workspace": workspace("viewer"),
  "PATCH /manage/v1/workspace": workspace("owner"),
  "GET /manage/v1/health": workspace("viewer"),
  "GET /manage/v1/members": workspace("viewer"),
  "POST /manage/v1/members": access,
  "PATCH /manage/v1/members/:id": access,
  "DELETE /manage/v1/members/:id": access,
  "GET /manage/v1/members/:id/access": access,
  "POST /manage/v1/members/:id/link": access,
  "GET /manage/v1/tokens": workspace("viewer"),
  "POST /manage/v1/tokens": access,
  "POST /manage/v1/tokens/:id/revoke": access,
  "GET /manage/v1/audit": workspace("viewer"),
  "GET /manage/v1/audit/export": workspace("admin"),
  "GET /manage/v1/search": workspace("viewer"),
  "GET /manage/v1/projects": workspace("viewer"),
  "POST /manage/v1/projects": workspace("admin"),

  "GET /manage/v1/projects/:projectId": project("viewer"),
  "PATCH /manage/v1/projects/:projectId": project("admin"),
  "POST /manage/v1/projects/:projectId/promote/diff": project("viewer"),
  "POST /manage/v1/projects/:projectId/promote": project("admin"),

  [`GET ${E}/api-keys`]: environment("viewer"),
  [`POST ${E}/api-keys`]: environment("admin"),
  [`POST ${E}/api-keys/:id/rotate`]: environment("admin"),
  [`POST ${E}/api-keys/:id/revoke`]: environment("admin"),
  [`GET ${E}/audit`]: environment("viewer"),

  [`GET ${E}/pools`]: environment("viewer"),
  [`PUT ${E}/pools/:key`]: environment("admin"),
  [`GET ${E}/features`]: environment("viewer"),
  [`GET ${E}/features/:key`]: environment("viewer"),
  [`PUT ${E}/features/:key`]: environment("admin"),
  [`POST ${E}/features/:key/archive`]: environment("admin"),
  [`GET ${E}/event-keys`]: environment("viewer"),
  [`PUT ${E}/event-keys/:key`]: environment("admin"),
  [`GET ${E}/plans`]: environment("viewer"),
  [`GET ${E}/plans/:key`]: environment("viewer"),
  [`GET ${E}/plans/:key/diff`]: environment("viewer"),
  [`PUT ${E}/plans/:key/draft`]: environment("admin"),
  [`DELETE ${E}/plans/:key/draft`]: environment("admin"),
  [`POST ${E}/plans/:key/publish`]: environment("admin"),
  [`POST ${E}/plans/:key/archive`]: environment("admin"),
  [`PUT ${E}/default-plan`]: environment("admin"),
  [`GET ${E}/catalog`]: environment("viewer"),
  [`POST ${E}/catalog/diff`]: environment("viewer"),
  [`POST ${E}/catalog/apply`]: environment("admin"),

  [`GET ${E}/customers`]: environment("viewer"),
  [`GET ${CUSTOMER}`]: environment("viewer"),
  [`PUT ${CUSTOMER}`]: environment("operator"),
  [`DELETE ${CUSTOMER}`]: environment("admin"),
  [`PUT ${CUSTOMER}/block`]: environment("operator"),
  [`POST ${CUSTOMER}/plan`]: environment("operator"),
  [`DELETE ${CUSTOMER}/plan`]: environment("operator"),
  [`DELETE ${CUSTOMER}/plan/next`]: environment("operator"),
  [`PUT ${CUSTOMER}/overrides`]: environment("operator"),
  [`GET ${CUSTOMER}/overrides`]: environment("viewer"),
  [`POST ${CUSTOMER}/credits`]: environment("operator"),
  [`POST ${CUSTOMER}/credits/preview`]: environment("operator"),
  [`POST ${CUSTOMER}/grants/:grant/revoke`]: environment("operator"),
  [`POST ${CUSTOMER}/consumes/:consumeId/reverse`]: environment("operator"),
  [`POST ${CUSTOMER}/consumes/:consumeId/reverse/preview`]: environment("operator"),
  [`GET ${CUSTOMER}/ledger`]: environment("viewer"),
  [`GET ${CUSTOMER}/proof`]: environment("viewer"),
  [`GET ${CUSTOMER}/grants`]: environment("viewer"),
  [`GET ${CUSTOMER}/holds`]: environment("viewer"),
  [`POST ${CUSTOMER}/holds/:holdId/release`]: environment("operator"),
  [`GET ${CUSTOMER}/plans`]: environment("viewer"),
  [`GET ${CUSTOMER}/denials`]: environment("viewer"),
  [`GET ${CUSTOMER}/requests`]: environment("viewer"),

  [`GET ${CUSTOMER}/balance-history`]: environment("viewer"),
  [`GET ${E}/usage`]: environment("viewer"),
  [`GET ${E}/usage/totals`]: environment("viewer"),
  [`GET ${E}/usage/decisions`]: environment("viewer"),
  [`GET ${E}/usage/customers`]: environment("viewer"),
  [`GET ${E}/events`]: environment("viewer"),
  [`GET ${E}/events/:eventId`]: environment("viewer"),
  [`GET ${CUSTOMER}/events`]: environment("viewer"),
  [`GET ${E}/requests`]: environment("viewer"),
  [`GET ${E}/requests/summary`]: environment("viewer"),
  [`POST ${E}/tries`]: environment("operator"),
  [`GET ${E}/keys/:idempotencyKey`]: environment("viewer"),
  [`GET ${E}/denials/:denialId`]: environment("viewer"),
  [`GET ${E}/search`]: environment("viewer"),

  [`GET ${E}/months/:month`]: environment("viewer"),
  [`GET ${E}/exports/events`]: environment("viewer"),
  [`GET ${E}/exports/charges`]: environment("viewer"),
  [`GET ${E}/exports/ledger`]: environment("viewer"),
  [`GET ${E}/exports/grants`]: environment("viewer"),
  [`POST ${E}/imports`]: environment("operator"),
  [`POST ${E}/bulk-assignments/preview`]: environment("operator"),
  [`POST ${E}/bulk-assignments`]: environment("operator"),
};
