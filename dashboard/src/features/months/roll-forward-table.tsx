import { CircleAlert, CircleCheck } from "lucide-react";
import { GRANT_NAMES } from "../../format/ledger.ts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { PoolName } from "../../frame/links.tsx";
import { classNames } from "../../ui/class-names.ts";
import { type Column, Table } from "../../ui/table.tsx";
import type { Month } from "./queries.ts";
import {
  type Amount,
  addsUp,
  type OverageLine,
  rollForward,
  type StatementLine,
  toInvoice,
} from "./roll-forward.ts";

/** Sign of each movement. */
const MOVES = [
  { amount: "granted", name: "Granted", sign: 1 },
  { amount: "used", name: "Used", sign: -1 },
  { amount: "expired", name: "Expired", sign: -1 },
  { amount: "revoked", name: "Revoked", sign: -1 },
  { amount: "reversed", name: "Reversed", sign: 1 },
] as const satisfies readonly { amount: Amount; name: string; sign: number }[];

/** Opening balance, movements and closing balance per pool and kind. */
export function RollForwardTable({ month }: { month: Month }) {
  const lines = rollForward(month.lines);
  const hasPools = new Set(lines.map(({ pool }) => pool)).size > 1;
  const columns: Column<StatementLine>[] = [
    {
      name: "Credits",
      isWide: true,
      cell: (line) => (
        <>
          <span className={classNames(line.kind === null && "font-semibold")}>
            {line.kind === null ? "Total" : GRANT_NAMES[line.kind]}
            {hasPools && (
              <span className="ml-2 text-caption text-muted">
                <PoolName pool={line.pool} />
              </span>
            )}
          </span>
          <div className="text-caption text-muted tabular-nums md:hidden">{inWords(line)}</div>
        </>
      ),
    },
    { ...balance("Opening", "opening"), hidesBelow: "md" },
    ...MOVES.map(
      ({ amount, name, sign }): Column<StatementLine> => ({
        name,
        isNumber: true,
        hidesBelow: "md",
        cell: ({ kind, amounts }) => (
          <Figure isSum={kind === null} isNone={amounts[amount] === 0}>
            {formatChange(sign * amounts[amount])}
          </Figure>
        ),
      }),
    ),
    balance("Closing", "closing"),
    { name: "Adds up", isNameHidden: true, cell: ({ amounts }) => <AddsUp isSound={addsUp(amounts)} /> },
  ];
  return (
    <Table
      label="Monthly statement"
      columns={columns}
      rows={lines}
      keyOf={({ pool, kind }) => `${kind ?? "sum"} ${pool}`}
    />
  );
}

/** Overage per pool. It is not part of any balance. */
export function OverageTable({ month }: { month: Month }) {
  const move = (name: string, creditsOf: (line: OverageLine) => number): Column<OverageLine> => ({
    name,
    isNumber: true,
    hidesBelow: "md",
    cell: (line) => (
      <Figure isSum={false} isNone={creditsOf(line) === 0}>
        {formatChange(creditsOf(line))}
      </Figure>
    ),
  });
  const columns: Column<OverageLine>[] = [
    {
      name: "Pool",
      isWide: true,
      cell: ({ pool, used, reversed }) => (
        <>
          <PoolName pool={pool} />
          <div className="text-caption text-muted tabular-nums md:hidden">
            {formatChange(used)} used{reversed > 0 && `, ${formatChange(-reversed)} reversed`}
          </div>
        </>
      ),
    },
    move("Used", ({ used }) => used),
    move("Reversed", ({ reversed }) => -reversed),
    {
      name: "To invoice",
      isNumber: true,
      cell: (line) => (
        <Figure isSum isNone={toInvoice(line) === 0}>
          {formatCount(toInvoice(line))}
        </Figure>
      ),
    },
  ];
  return <Table label="Overage" columns={columns} rows={month.overage} keyOf={({ pool }) => pool} />;
}

/** The movements as text, for narrow windows. */
function inWords({ amounts }: StatementLine): string {
  const moves = MOVES.filter(({ amount }) => amounts[amount] !== 0).map(
    ({ amount, name, sign }) => `${formatChange(sign * amounts[amount])} ${name.toLowerCase()}`,
  );
  return [`${formatCount(amounts.opening)} opening`, ...moves].join(", ");
}

function balance(name: string, amount: "opening" | "closing"): Column<StatementLine> {
  return {
    name,
    isNumber: true,
    cell: ({ kind, amounts }) => (
      <Figure isSum={kind === null || amount === "closing"} isNone={amounts[amount] === 0}>
        {formatCount(amounts[amount])}
      </Figure>
    ),
  };
}

function Figure({ isSum, isNone, children }: { isSum: boolean; isNone: boolean; children: string }) {
  return (
    <span className={classNames(isSum && "font-semibold", isNone && "font-normal text-muted")}>
      {children}
    </span>
  );
}

function AddsUp({ isSound }: { isSound: boolean }) {
  const Icon = isSound ? CircleCheck : CircleAlert;
  const words = isSound ? "Adds up" : "Does not add up";
  return (
    <span title={words}>
      <Icon className={classNames("size-4", isSound ? "text-good" : "text-bad")} aria-hidden />
      <span className="sr-only">{words}</span>
    </span>
  );
}
