import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import { type Answer, type Environment, type Scope, scopeOf } from "../api/answer.ts";
import { queryOf } from "../api/client.ts";
import type { Roles } from "../api/session.ts";
import { countOf } from "../format/numbers.ts";
import { describeReason } from "../format/request-sentences.ts";
import { ENVIRONMENT_SECTIONS, workspaceSections } from "./sections.ts";

export type Found = {
  readonly id: string;
  readonly title: string;
  readonly note: string | null;
  readonly environment: Environment | null;
  readonly link: LinkProps;
  /** Asks for a customer first, and then opens this dialog for that customer. */
  readonly action?: CustomerAction;
};

/** A dialog of the customer page, and the question that asks for the customer. */
export type CustomerAction = { readonly dialog: "add-credits" | "assign-plan"; readonly question: string };

export type FoundGroup = { readonly value: string; readonly items: Found[] };

export function searchQuery(text: string) {
  return queryOptions({
    ...queryOf("get", "/manage/v1/search", { params: { query: { q: text } } }),
    placeholderData: keepPreviousData,
    meta: { showsOwnErrors: true },
  });
}

/** Searches only one environment. */
export function environmentSearchQuery(text: string, scope: Scope) {
  return queryOptions({
    ...queryOf("get", "/manage/v1/projects/{projectId}/{environment}/search", {
      params: { path: scopeOf(scope), query: { q: text } },
    }),
    placeholderData: keepPreviousData,
    meta: { showsOwnErrors: true },
  });
}

type Findings = Answer<"search">;

const CUSTOMER_PATH = "/projects/$projectId/$environment/customers/$customerId";

/** Search results as links. Grants and charges of erased customers have no page and are dropped. */
export function findingsOf(found: Findings): FoundGroup[] {
  const groups: FoundGroup[] = [
    { value: "Customers", items: found.customers.map(toCustomer) },
    { value: "Top-ups by reference", items: found.grants.flatMap(toGrant) },
    { value: "Idempotency keys", items: found.keys.map(toKey) },
    { value: "Charges", items: found.charges.flatMap(toCharge) },
    { value: "Denials", items: found.denials.map(toDenial) },
    { value: "Holds", items: found.holds.flatMap(toHold) },
    { value: "Plans", items: found.plans.map(toPlan) },
    { value: "Features", items: found.features.map(toFeature) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

type Line<Name extends keyof Findings> = Findings[Name][number];
type Scoped = { projectId: string; projectName: string; environment: Environment };

/** One result; `key` is unique within its kind. */
function toFound(
  { projectId, projectName, environment }: Scoped,
  [kind, key]: readonly [kind: string, key: string],
  { title, notes, link }: { title: string; notes: readonly (string | null)[]; link: LinkProps },
): Found {
  return {
    id: `${kind} ${projectId} ${environment} ${key}`,
    title,
    note: [...notes, projectName].filter(Boolean).join(" · "),
    environment,
    link,
  };
}

export type FoundCustomer = Line<"customers">;

/** The ID, if the title is the name; otherwise null. */
function idIfNamed({ customerId, customerName }: { customerId: string | null; customerName: string | null }) {
  return customerName === null ? null : customerId;
}

function toCustomer(customer: FoundCustomer): Found {
  const { projectId, environment, customerId, name, email, billingReference } = customer;
  return toFound(customer, ["customer", customerId], {
    title: name ?? customerId,
    notes: [name === null ? null : customerId, email, billingReference],
    link: { to: CUSTOMER_PATH, params: { projectId, environment, customerId } },
  });
}

function toGrant(grant: Line<"grants">): Found[] {
  const { projectId, environment, customerId, customerName, credits, reference, movedTo } = grant;
  const receiver = movedTo?.customerName ?? movedTo?.customerId ?? "an erased customer";
  if (customerId === null) return [];
  const found = toFound(grant, ["grant", `${customerId} ${grant.grant}`], {
    title: `${countOf(credits, "credit")} for ${customerName ?? customerId}`,
    notes: [reference, idIfNamed(grant), movedTo === null ? null : `moved to ${receiver}`],
    link: {
      to: "/projects/$projectId/$environment/customers/$customerId/grants",
      params: { projectId, environment, customerId },
      search: { grant: grant.grant },
    },
  });
  return [found];
}

function toKey(key: Line<"keys">): Found {
  const { projectId, environment, idempotencyKey, endpoint } = key;
  return toFound(key, ["key", idempotencyKey], {
    title: idempotencyKey,
    notes: [endpoint],
    link: {
      to: "/projects/$projectId/$environment/keys/$idempotencyKey",
      params: { projectId, environment, idempotencyKey },
    },
  });
}

function toCharge(charge: Line<"charges">): Found[] {
  const { projectId, environment, customerId, customerName, consumeId, featureName } = charge;
  if (customerId === null) return [];
  const found = toFound(charge, ["charge", consumeId], {
    title: `${featureName} charged to ${customerName ?? customerId}`,
    notes: [consumeId, idIfNamed(charge)],
    link: {
      to: "/projects/$projectId/$environment/customers/$customerId/ledger",
      params: { projectId, environment, customerId },
      search: { charge: consumeId },
    },
  });
  return [found];
}

function toHold(hold: Line<"holds">): Found[] {
  const { projectId, environment, customerId, customerName, holdId } = hold;
  if (customerId === null) return [];
  const found = toFound(hold, ["hold", holdId], {
    title: `Hold for ${customerName ?? customerId}`,
    notes: [holdId, idIfNamed(hold)],
    link: {
      to: "/projects/$projectId/$environment/customers/$customerId/holds",
      params: { projectId, environment, customerId },
      search: { hold: holdId },
    },
  });
  return [found];
}

function toDenial(denial: Line<"denials">): Found {
  const { projectId, environment, customerId, customerName, denialId, featureName, reason } = denial;
  return toFound(denial, ["denial", denialId], {
    title: `${featureName} denied for ${customerName ?? customerId ?? "an erased customer"}`,
    notes: [reason === null ? null : describeReason(reason), idIfNamed(denial)],
    link: {
      to: "/projects/$projectId/$environment/denials/$denialId",
      params: { projectId, environment, denialId },
    },
  });
}

function toPlan(plan: Line<"plans">): Found {
  const { projectId, environment, key, name } = plan;
  return toFound(plan, ["plan", key], {
    title: name,
    notes: [key],
    link: { to: "/projects/$projectId/$environment/plans/$key", params: { projectId, environment, key } },
  });
}

function toFeature(feature: Line<"features">): Found {
  const { projectId, environment, key, name } = feature;
  return toFound(feature, ["feature", key], {
    title: name,
    notes: [key],
    link: {
      to: "/projects/$projectId/$environment/features",
      params: { projectId, environment },
      search: { key },
    },
  });
}

/** Customers of this environment, with links that open the action's dialog. */
export function customersFor(
  { dialog }: CustomerAction,
  { customers }: Findings,
  scope: Scope,
): FoundGroup[] {
  const items = customers.map(
    (customer): Found => ({
      ...toCustomer(customer),
      link: {
        to: CUSTOMER_PATH,
        params: { ...scope, customerId: customer.customerId },
        search: { do: dialog },
      },
    }),
  );
  return items.length === 0 ? [] : [{ value: "Customers", items }];
}

/** Actions that match the text and that the role allows. */
export function actionsAsFound(
  text: string,
  scope: Scope | null,
  may: { readonly operate: boolean; readonly administer: boolean },
): FoundGroup[] {
  if (scope === null) return [];
  const shared = { note: null, environment: scope.environment } as const;
  const link = { to: "/projects/$projectId/$environment/customers", params: scope } as const;
  const known: (Found & { readonly isAllowed: boolean })[] = [
    {
      ...shared,
      id: "action add-credits",
      title: "Add credits to…",
      link,
      action: { dialog: "add-credits", question: "Add credits to which customer?" },
      isAllowed: may.operate,
    },
    {
      ...shared,
      id: "action assign-plan",
      title: "Assign plan to…",
      link,
      action: { dialog: "assign-plan", question: "Assign a plan to which customer?" },
      isAllowed: may.operate,
    },
    {
      ...shared,
      id: "action create-customer",
      title: "Create customer",
      link: { ...link, search: { do: "create" } },
      isAllowed: may.operate,
    },
    {
      ...shared,
      id: "action create-key",
      title: "Create API key",
      link: { to: "/projects/$projectId/$environment/api-keys", params: scope, search: { do: "create" } },
      isAllowed: may.administer,
    },
    {
      ...shared,
      id: "action create-webhook",
      title: "Create webhook",
      link: { to: "/projects/$projectId/$environment/webhooks", params: scope, search: { do: "create" } },
      isAllowed: may.administer,
    },
  ];
  const items = known.filter(
    ({ title, isAllowed }) => isAllowed && title.toLowerCase().includes(text.toLowerCase()),
  );
  return items.length === 0 ? [] : [{ value: "Actions", items }];
}

/** Pages whose name matches. */
export function sectionsAsFound(text: string, scope: Scope | null, roles: Roles): FoundGroup[] {
  const isWanted = ({ name }: { name: string }): boolean => name.toLowerCase().includes(text.toLowerCase());
  const items = [
    ...(scope === null
      ? []
      : ENVIRONMENT_SECTIONS.filter(isWanted).map(({ name, to }) => ({
          id: to,
          title: name,
          note: null,
          environment: scope.environment,
          link: { to, params: scope },
        }))),
    ...workspaceSections(roles)
      .filter(isWanted)
      .map(({ name, to }) => ({
        id: to,
        title: name,
        note: null,
        environment: null,
        link: { to },
      })),
  ];
  return items.length === 0 ? [] : [{ value: "Go to", items }];
}
