import type { ReactNode } from "react";
import { TextLink } from "../../ui/text-link.tsx";
import type { Whose } from "./audit-actors.ts";
import type { Entry } from "./ledger-queries.ts";

/** To what an idempotency key did. */
export function KeyLink({ whose, idempotencyKey }: { whose: Whose; idempotencyKey: string }) {
  const { projectId, environment } = whose;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey"
      params={{ projectId, environment, idempotencyKey }}
      title={idempotencyKey}
    >
      <span className="block max-w-44 truncate font-mono text-caption">{idempotencyKey}</span>
    </TextLink>
  );
}

/** To a charge and its reversals in the ledger, both marked; to the very entry where that is shown already. */
export function ChargeLink({
  whose,
  charge,
  to,
  children,
}: {
  whose: Whose;
  charge: string;
  to: Entry | null;
  children: ReactNode;
}) {
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/ledger"
      params={whose}
      search={{ charge }}
      {...(to === null ? {} : { hash: `entry-${to.sequence}` })}
    >
      {children}
    </TextLink>
  );
}

export function GrantLink({ whose, grant, children }: { whose: Whose; grant: number; children: ReactNode }) {
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/grants"
      params={whose}
      search={{ grant }}
    >
      {children}
    </TextLink>
  );
}
