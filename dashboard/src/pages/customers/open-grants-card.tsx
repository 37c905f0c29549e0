import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { GRANT_WORDS } from "../../words/ledger-words.ts";
import { formatCount } from "../../words/numbers.ts";
import { openInBurnOrder } from "./burn-order.ts";
import { creditsBesides } from "./credits-besides.ts";
import { givenReference } from "./credits-form.ts";
import type { Grant, KnownGrants } from "./ledger-queries.ts";
import type { Customer } from "./queries.ts";

/** What will be spent, in the order in which it will be. */
export function OpenGrantsCard({ customer, known }: { customer: Customer; known: KnownGrants }) {
  const place = usePlace();
  const open = openInBurnOrder(known.grants);
  const missing = creditsBesides(customer.balances, known);
  const isOnePool = customer.balances.length < 2;
  return (
    <Card
      title="Open credits, next spent first"
      note="What expires soonest goes first, and given before bought."
      flush
      actions={
        <TextLink
          to="/projects/$projectId/$environment/customers/$customerId/grants"
          params={{ ...place, customerId: customer.customerId }}
        >
          All grants
        </TextLink>
      }
    >
      {open.length === 0 ? (
        missing.length === 0 && <p className="px-4 py-6 text-center text-muted">No credits are left.</p>
      ) : (
        <Table
          label="Open credits"
          columns={columnsFor(isOnePool)}
          rows={open}
          keyOf={({ grant }) => grant}
        />
      )}
      {missing.map(({ pool, credits, why }) => (
        <p key={pool} className="border-t border-line px-4 py-2 text-caption text-muted">
          {open.length === 0 ? "There are" : "Besides,"} {formatCount(credits)}
          {isOnePool ? "" : ` of ${pool}`}: {why}
        </p>
      ))}
    </Card>
  );
}

function columnsFor(isOnePool: boolean): Column<Grant>[] {
  return [
    {
      name: "Credits",
      isWide: true,
      cell: ({ kind, reference, note }) => {
        const said = note ?? givenReference(reference);
        return (
          <>
            {GRANT_WORDS[kind]}
            {said !== null && <div className="text-caption text-muted wrap-anywhere">{said}</div>}
          </>
        );
      },
    },
    ...(isOnePool ? [] : [{ name: "Pool", cell: ({ pool }: Grant) => pool }]),
    {
      name: "Left",
      isNumber: true,
      cell: ({ remaining, credits }) => (
        <>
          {formatCount(remaining)} <span className="text-muted max-sm:hidden">of {formatCount(credits)}</span>
        </>
      ),
    },
    {
      name: "Expires",
      cell: ({ expiresAt }) =>
        expiresAt === null ? <span className="text-muted">Never</span> : <Time at={expiresAt} as="day" />,
    },
  ];
}
