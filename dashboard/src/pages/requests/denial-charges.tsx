import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { formatChange, formatCount } from "../../words/numbers.ts";
import type { Denial } from "./queries.ts";

type Charge = Denial["chargesBefore"][number];

/** What used up the credits, the newest first. */
export function DenialCharges({ denial: { chargesBefore, customerId } }: { denial: Denial }) {
  if (chargesBefore.length === 0) {
    return (
      <Card title="Charges just before">
        <p className="text-muted">Nothing had been charged to this customer before.</p>
      </Card>
    );
  }
  return (
    <Card flush title="Charges just before" note="The last ones, up to 10.">
      <Table
        label="Charges just before"
        columns={columnsOf(customerId)}
        rows={chargesBefore}
        keyOf={({ consumeId }) => consumeId}
      />
    </Card>
  );
}

function columnsOf(customerId: string | null): Column<Charge>[] {
  return [
    {
      name: "Time",
      cell: (charge) => (
        <>
          <At charge={charge} customerId={customerId} />
          <div className="font-mono text-caption text-muted md:hidden">{charge.feature}</div>
        </>
      ),
    },
    {
      name: "Feature",
      isWide: true,
      hidesWhenNarrow: true,
      cell: ({ feature, reversedQuantity }) => (
        <>
          <span className="font-mono text-caption">{feature}</span>
          {reversedQuantity > 0 && (
            <span className="ml-2 text-muted">{formatCount(reversedQuantity)} reversed</span>
          )}
        </>
      ),
    },
    {
      name: "Quantity",
      isNumber: true,
      hidesWhenNarrow: true,
      cell: ({ quantity }) => formatCount(quantity),
    },
    { name: "Credits", isNumber: true, cell: ({ credits }) => formatChange(-credits) },
    { name: "Balance after", isNumber: true, cell: ({ balanceAfter }) => formatCount(balanceAfter) },
  ];
}

function At({
  charge: { recordedAt, consumeId },
  customerId,
}: {
  charge: Charge;
  customerId: string | null;
}) {
  const place = usePlace();
  if (customerId === null) return <Time at={recordedAt} as="second" />;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/ledger"
      params={{ ...place, customerId }}
      search={{ charge: consumeId }}
    >
      <Time at={recordedAt} as="second" />
    </TextLink>
  );
}
