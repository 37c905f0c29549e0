import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { GRANT_WORDS } from "../../words/ledger-words.ts";
import { formatCount } from "../../words/numbers.ts";
import type { Denial } from "./queries.ts";

type Grant = NonNullable<Denial["openGrants"]>[number];

/** What held credits at that moment. */
export function DenialGrants({ denial: { openGrants, customerId, pool, balance } }: { denial: Denial }) {
  if (openGrants === null) {
    return (
      <Card title="Credits at that moment">
        <p className="text-muted">
          They cannot be added up again: too many entries lie before and after it, or some of them are
          detached.
        </p>
      </Card>
    );
  }
  if (openGrants.length === 0) {
    return (
      <Card title="Credits at that moment">
        <p className="text-muted">
          There were none: everything given before was spent, expired or taken back.
        </p>
      </Card>
    );
  }
  const sum = openGrants
    .filter((grant) => grant.pool === pool)
    .reduce((total, { remaining }) => total + remaining, 0);
  return (
    <Card
      flush
      title="Credits at that moment"
      note={
        sum === balance
          ? `They add up to the ${formatCount(balance)} that were left.`
          : `${formatCount(balance)} of them could be spent.`
      }
    >
      <Table
        label="Credits at that moment"
        columns={columnsOf(customerId, new Set(openGrants.map((grant) => grant.pool)).size > 1)}
        rows={openGrants}
        keyOf={({ grant }) => grant}
      />
    </Card>
  );
}

function columnsOf(customerId: string | null, hasPools: boolean): Column<Grant>[] {
  const pools: Column<Grant>[] = hasPools ? [{ name: "Pool", cell: ({ pool }) => pool }] : [];
  return [
    { name: "Credits", isWide: true, cell: (grant) => <Name grant={grant} customerId={customerId} /> },
    ...pools,
    {
      name: "Expires",
      hidesWhenNarrow: true,
      cell: ({ expiresAt }) =>
        expiresAt === null ? <span className="text-muted">Never</span> : <Time at={expiresAt} />,
    },
    { name: "Left", isNumber: true, cell: ({ remaining }) => formatCount(remaining) },
  ];
}

function Name({
  grant: { grant, kind, reference, expiresAt },
  customerId,
}: {
  grant: Grant;
  customerId: string | null;
}) {
  const place = usePlace();
  return (
    <>
      {customerId === null ? (
        GRANT_WORDS[kind]
      ) : (
        <TextLink
          to="/projects/$projectId/$environment/customers/$customerId/grants"
          params={{ ...place, customerId }}
          search={{ grant }}
        >
          {GRANT_WORDS[kind]}
        </TextLink>
      )}
      {reference !== null && (
        <div className="font-mono text-caption wrap-anywhere text-muted">{reference}</div>
      )}
      <div className="text-caption text-muted md:hidden">
        {expiresAt === null ? (
          "Never expires"
        ) : (
          <>
            Expires <Time at={expiresAt} />
          </>
        )}
      </div>
    </>
  );
}
