import { GRANT_NAMES } from "../../format/ledger.ts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { FeatureName, PoolName } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { OverageNote } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import type { Denial } from "./queries.ts";

type Grant = NonNullable<Denial["openGrants"]>[number];

/** Open grants at the time of the denial. */
export function DenialGrants({ denial: { openGrants, customerId, pool, balance } }: { denial: Denial }) {
  if (openGrants === null) {
    return (
      <Card title="Credits when the request was denied">
        <p className="text-muted">
          Not available: this customer's ledger is too long, or an old month of the ledger has been taken
          offline (detached).
        </p>
      </Card>
    );
  }
  if (openGrants.length === 0) {
    return (
      <Card title="Credits when the request was denied">
        <p className="text-muted">None. All credits were spent, held, expired or revoked.</p>
      </Card>
    );
  }
  const sum = openGrants
    .filter((grant) => grant.pool === pool)
    .reduce((total, { remaining }) => total + remaining, 0);
  return (
    <Card
      flush
      title="Credits when the request was denied"
      note={sum === balance ? `Total ${formatCount(balance)}` : `${formatCount(balance)} spendable`}
    >
      <Table
        label="Credits when the request was denied"
        columns={grantColumns(customerId, new Set(openGrants.map((grant) => grant.pool)).size > 1)}
        rows={openGrants}
        keyOf={({ grant }) => grant}
      />
    </Card>
  );
}

function grantColumns(customerId: string | null, hasPools: boolean): Column<Grant>[] {
  const pools: Column<Grant>[] = hasPools
    ? [{ name: "Pool", cell: ({ pool }) => <PoolName pool={pool} /> }]
    : [];
  return [
    { name: "Credits", isWide: true, cell: (grant) => <Name grant={grant} customerId={customerId} /> },
    ...pools,
    {
      name: "Expires",
      hidesBelow: "md",
      cell: ({ expiresAt }) => <Time at={expiresAt} />,
    },
    { name: "Remaining", isNumber: true, cell: ({ remaining }) => formatCount(remaining) },
  ];
}

function Name({
  grant: { grant, kind, reference, expiresAt },
  customerId,
}: {
  grant: Grant;
  customerId: string | null;
}) {
  const scope = useScope();
  return (
    <>
      {customerId === null ? (
        GRANT_NAMES[kind]
      ) : (
        <TextLink
          to="/projects/$projectId/$environment/customers/$customerId/grants"
          params={{ ...scope, customerId }}
          search={{ grant }}
        >
          {GRANT_NAMES[kind]}
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

type Charge = Denial["chargesBefore"][number];

/** Charges before the denial, newest first. */
export function DenialCharges({ denial: { chargesBefore, customerId } }: { denial: Denial }) {
  if (chargesBefore.length === 0) {
    return (
      <Card title="Charges before the denial">
        <p className="text-muted">No earlier charges.</p>
      </Card>
    );
  }
  return (
    <Card flush title="Charges before the denial" note="Most recent charges, up to 10">
      <Table
        label="Charges before the denial"
        columns={chargeColumns(customerId)}
        rows={chargesBefore}
        keyOf={({ consumeId, item }) => `${consumeId} ${item}`}
      />
    </Card>
  );
}

function chargeColumns(customerId: string | null): Column<Charge>[] {
  return [
    {
      name: "Time",
      isRowLink: true,
      cell: (charge) => (
        <>
          <At charge={charge} customerId={customerId} />
          <div className="text-caption text-muted md:hidden">
            <FeatureName feature={charge.feature} />
          </div>
        </>
      ),
    },
    {
      name: "Feature",
      isWide: true,
      hidesBelow: "md",
      cell: ({ feature, reversedQuantity }) => (
        <>
          <FeatureName feature={feature} />
          {reversedQuantity > 0 && (
            <span className="ml-2 text-muted">{formatCount(reversedQuantity)} reversed</span>
          )}
        </>
      ),
    },
    {
      name: "Quantity",
      isNumber: true,
      hidesBelow: "md",
      cell: ({ quantity }) => formatCount(quantity),
    },
    {
      name: "Credits",
      isNumber: true,
      cell: ({ credits, overageCredits }) => (
        <>
          {formatChange(-credits)}
          <OverageNote credits={overageCredits} />
        </>
      ),
    },
    { name: "Balance after", isNumber: true, cell: ({ balanceAfter }) => formatCount(balanceAfter) },
  ];
}

function At({
  charge: { recordedAt, consumeId, item },
  customerId,
}: {
  charge: Charge;
  customerId: string | null;
}) {
  const scope = useScope();
  if (customerId === null) return <Time at={recordedAt} as="second" />;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/ledger"
      params={{ ...scope, customerId }}
      search={item === null ? { charge: consumeId } : { charge: consumeId, item }}
    >
      <Time at={recordedAt} as="second" />
    </TextLink>
  );
}
