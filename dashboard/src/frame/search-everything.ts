import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import type { Answer, Environment, Place } from "../api/answer.ts";
import { queryOf } from "../api/client.ts";
import { countOf } from "../format/numbers.ts";
import { PLACE_SECTIONS, WORKSPACE_SECTIONS } from "./sections.ts";

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
    meta: { tellsFailures: true },
  });
}

type Findings = Answer<"search">;

/** What was found, as lines that lead somewhere. Whose customer was erased since leads nowhere, and is left out. */
export function findingsOf(found: Findings): FoundGroup[] {
  const groups: FoundGroup[] = [
    { value: "Customers", items: found.customers.map(toCustomer) },
    { value: "Top-ups by reference", items: found.grants.flatMap(toGrant) },
    { value: "Idempotency keys", items: found.keys.map(toKey) },
    { value: "Charges", items: found.charges.flatMap(toCharge) },
    { value: "Denials", items: found.denials.map(toDenial) },
    { value: "Plans", items: found.plans.map(toPlan) },
    { value: "Features", items: found.features.map(toFeature) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

type Line<Name extends keyof Findings> = Findings[Name][number];

function toCustomer(customer: Line<"customers">): Found {
  const { projectId, projectName, environment, customerId, name, email, billingReference } = customer;
  return {
    id: `customer ${projectId} ${environment} ${customerId}`,
    title: name ?? customerId,
    note: [name === null ? null : customerId, email, billingReference, projectName]
      .filter(Boolean)
      .join(" · "),
    environment,
    link: {
      to: "/projects/$projectId/$environment/customers/$customerId",
      params: { projectId, environment, customerId },
    },
  };
}

function toGrant(grant: Line<"grants">): Found[] {
  const { projectId, projectName, environment, customerId, credits, reference } = grant;
  if (customerId === null) return [];
  return [
    {
      id: `grant ${projectId} ${environment} ${customerId} ${grant.grant}`,
      title: `${countOf(credits, "credit")} for ${customerId}`,
      note: `${reference} · ${projectName}`,
      environment,
      link: {
        to: "/projects/$projectId/$environment/customers/$customerId/grants",
        params: { projectId, environment, customerId },
        search: { grant: grant.grant },
      },
    },
  ];
}

function toKey({ projectId, projectName, environment, idempotencyKey, endpoint }: Line<"keys">): Found {
  return {
    id: `key ${projectId} ${environment} ${idempotencyKey}`,
    title: idempotencyKey,
    note: `${endpoint} · ${projectName}`,
    environment,
    link: {
      to: "/projects/$projectId/$environment/keys/$idempotencyKey",
      params: { projectId, environment, idempotencyKey },
    },
  };
}

function toCharge(charge: Line<"charges">): Found[] {
  const { projectId, projectName, environment, customerId, consumeId, feature } = charge;
  if (customerId === null) return [];
  return [
    {
      id: `charge ${consumeId}`,
      title: `${feature} charged to ${customerId}`,
      note: `${consumeId} · ${projectName}`,
      environment,
      link: {
        to: "/projects/$projectId/$environment/customers/$customerId/ledger",
        params: { projectId, environment, customerId },
        search: { charge: consumeId },
      },
    },
  ];
}

function toDenial(denial: Line<"denials">): Found {
  const { projectId, projectName, environment, customerId, denialId, feature, reason } = denial;
  return {
    id: `denial ${denialId}`,
    title: `${feature} denied to ${customerId ?? "an erased customer"}`,
    note: `${reason} · ${projectName}`,
    environment,
    link: {
      to: "/projects/$projectId/$environment/denials/$denialId",
      params: { projectId, environment, denialId },
    },
  };
}

function toPlan({ projectId, projectName, environment, key, name }: Line<"plans">): Found {
  return {
    id: `plan ${projectId} ${environment} ${key}`,
    title: name,
    note: `${key} · ${projectName}`,
    environment,
    link: { to: "/projects/$projectId/$environment/plans/$key", params: { projectId, environment, key } },
  };
}

function toFeature({ projectId, projectName, environment, key, name }: Line<"features">): Found {
  return {
    id: `feature ${projectId} ${environment} ${key}`,
    title: name,
    note: `${key} · ${projectName}`,
    environment,
    link: {
      to: "/projects/$projectId/$environment/features",
      params: { projectId, environment },
      search: { key },
    },
  };
}

/** The pages themselves, by name. */
export function sectionsAsFound(text: string, place: Place | null): FoundGroup[] {
  const isWanted = ({ name }: { name: string }): boolean => name.toLowerCase().includes(text.toLowerCase());
  const items = [
    ...(place === null
      ? []
      : PLACE_SECTIONS.filter(isWanted).map(({ name, to }) => ({
          id: to,
          title: name,
          note: null,
          environment: place.environment,
          link: { to, params: place },
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
