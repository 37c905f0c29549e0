import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import type { Answer, Environment, Scope } from "../api/answer.ts";
import { queryOf } from "../api/client.ts";
import { countOf } from "../format/numbers.ts";
import { ENVIRONMENT_SECTIONS, WORKSPACE_SECTIONS } from "./sections.ts";

export type Found = {
  readonly id: string;
  readonly title: string;
  readonly note: string | null;
  readonly environment: Environment | null;
  readonly link: LinkProps;
};

export type FoundGroup = { readonly value: string; readonly items: Found[] };

export function searchQuery(text: string) {
  return queryOptions({
    ...queryOf("get", "/manage/v1/search", { params: { query: { q: text } } }),
    placeholderData: keepPreviousData,
    meta: { showsOwnErrors: true },
  });
}

type Findings = Answer<"search">;

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

function toCustomer(customer: Line<"customers">): Found {
  const { projectId, environment, customerId, name, email, billingReference } = customer;
  return toFound(customer, ["customer", customerId], {
    title: name ?? customerId,
    notes: [name === null ? null : customerId, email, billingReference],
    link: {
      to: "/projects/$projectId/$environment/customers/$customerId",
      params: { projectId, environment, customerId },
    },
  });
}

function toGrant(grant: Line<"grants">): Found[] {
  const { projectId, environment, customerId, credits, reference } = grant;
  if (customerId === null) return [];
  const found = toFound(grant, ["grant", `${customerId} ${grant.grant}`], {
    title: `${countOf(credits, "credit")} for ${customerId}`,
    notes: [reference],
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
  const { projectId, environment, customerId, consumeId, feature } = charge;
  if (customerId === null) return [];
  const found = toFound(charge, ["charge", consumeId], {
    title: `${feature} charged to ${customerId}`,
    notes: [consumeId],
    link: {
      to: "/projects/$projectId/$environment/customers/$customerId/ledger",
      params: { projectId, environment, customerId },
      search: { charge: consumeId },
    },
  });
  return [found];
}

function toHold(hold: Line<"holds">): Found[] {
  const { projectId, environment, customerId, holdId } = hold;
  if (customerId === null) return [];
  const found = toFound(hold, ["hold", holdId], {
    title: `Hold for ${customerId}`,
    notes: [holdId],
    link: {
      to: "/projects/$projectId/$environment/customers/$customerId/holds",
      params: { projectId, environment, customerId },
      search: { hold: holdId },
    },
  });
  return [found];
}

function toDenial(denial: Line<"denials">): Found {
  const { projectId, environment, customerId, denialId, feature, reason } = denial;
  return toFound(denial, ["denial", denialId], {
    title: `${feature} denied for ${customerId ?? "an erased customer"}`,
    notes: [reason],
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

/** Pages whose name matches. */
export function sectionsAsFound(text: string, scope: Scope | null): FoundGroup[] {
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
    ...WORKSPACE_SECTIONS.filter(isWanted).map(({ name, to }) => ({
      id: to,
      title: name,
      note: null,
      environment: null,
      link: { to },
    })),
  ];
  return items.length === 0 ? [] : [{ value: "Go to", items }];
}
