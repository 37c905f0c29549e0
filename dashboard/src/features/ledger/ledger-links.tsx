import { type ReactNode, useEffect } from "react";
import { TextLink } from "../../ui/button.tsx";
import type { CustomerScope } from "../customers/queries.ts";
import type { Actor, Entry, Grant } from "./queries.ts";

/**
 * Link to a charge and its reversals in the ledger. `to` is the entry, if it is already loaded. `item` is the index of the charge in its
 * request; null links to all charges of the request.
 */
export function ChargeLink({
  customerScope,
  charge,
  item,
  to,
  children,
}: {
  customerScope: CustomerScope;
  charge: string;
  item: number | null;
  to: Entry | null;
  children: ReactNode;
}) {
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/ledger"
      params={customerScope}
      search={item === null ? { charge } : { charge, item }}
      {...(to === null ? {} : { hash: `entry-${to.sequence}` })}
    >
      {children}
    </TextLink>
  );
}

export function GrantLink({
  customerScope,
  grant,
  children,
}: {
  customerScope: CustomerScope;
  grant: number;
  children: ReactNode;
}) {
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/grants"
      params={customerScope}
      search={{ grant }}
    >
      {children}
    </TextLink>
  );
}

/** Link to the other customer's grant, for credits that were moved. */
export function MovedLink({
  other: { customerId, customerName, grant },
  customerScope,
}: {
  other: NonNullable<Grant["movedTo"]>;
  customerScope: CustomerScope;
}) {
  if (customerId === null) return "a customer who was erased";
  return (
    <GrantLink customerScope={{ ...customerScope, customerId }} grant={grant}>
      {customerName ?? customerId}
    </GrantLink>
  );
}

const KINDS = {
  member: "A member",
  token: "A management token",
  api_key: "An API key",
  command: "A server command",
  system: "Purser",
} as const satisfies Record<Actor["kind"], string>;

export function ActorName({ actor: { kind, id, name } }: { actor: Actor }) {
  const what = KINDS[kind];
  const known = name ?? id ?? what;
  const title = known === what ? known : `${known}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  return <span title={title}>{known}</span>;
}

/** Scrolls to the linked row and focuses it. */
export function useShowRow(id: string | null): void {
  useEffect(() => {
    if (id === null) return;
    // After the router has scrolled to the top.
    const timer = setTimeout(() => {
      const row = document.getElementById(id);
      row?.scrollIntoView({ block: "center" });
      row?.querySelector("button")?.focus({ preventScroll: true });
    }, 50);
    return () => clearTimeout(timer);
  }, [id]);
}
