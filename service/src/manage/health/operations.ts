import { type Static, Type } from "typebox";
import { UNTRUSTED_PROXY } from "../../edge/proxy-watch.ts";
import { single } from "../../postgres/transaction.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { listLargestTables, readCellMigration } from "../../store/cell/health.ts";
import { type LatestMigration, readControlHealth } from "../../store/control/health.ts";
import { nullable, timeField, timeOf } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import { MAIN_CELL, type ManageParts } from "../parts.ts";

/** Health information for operators. Load balancers must use `/livez` and `/readyz` instead. */
export function healthOperations(parts: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: "/manage/v1/health",
      access: { role: "viewer", in: "workspace" },
      id: "readHealth",
      noun: "Workspace",
      summary: "Read the installation's health",
      description:
        "Returns versions, migrations, sizes and the database's clock. The versions of Purser and Node.js, the start time and the " +
        "untrusted proxy apply only to the process that responds. The call takes a few milliseconds and reads no customer data.",
      answer: Installation,
      handle: () => describeInstallation(parts),
    }),
  ];
}

const TABLES_MAX = 10;

export const Installation = Type.Object({
  version: Type.String({ description: "The Purser release.", examples: ["0.1.0"] }),
  nodeVersion: Type.String({ description: "Node.js version of this process.", examples: ["24.7.0"] }),
  startedAt: timeOf("When the responding process started, by its own clock."),
  postgresVersion: Type.String({ examples: ["18.1"] }),
  databaseClock: timeOf("The database's current time. All charges and renewals use this clock."),
  databaseBytes: Type.Integer({ description: "Size of the database in bytes.", examples: [73_400_320] }),
  tables: Type.Array(
    Type.Object({
      table: Type.String({ examples: ["cell.ledger"] }),
      bytes: Type.Integer({
        description: "Size in bytes, including partitions and indexes.",
        examples: [41_943_040],
      }),
    }),
    { description: `The ${TABLES_MAX} largest tables, largest first.` },
  ),
  untrustedProxy: nullable(
    Type.Object(
      {
        address: Type.String({ examples: ["10.0.0.7"] }),
        advice: Type.String({ examples: [UNTRUSTED_PROXY] }),
      },
      {
        description: "The latest address that sent `X-Forwarded-For` but is not covered by `TRUST_PROXY`.",
      },
    ),
  ),
  migrations: Type.Array(
    Type.Object({
      schema: Type.Enum(["control", "cell"]),
      number: Type.Integer({ examples: [10] }),
      name: Type.String({ examples: ["000010-management.sql"] }),
      appliedAt: timeField,
    }),
    { description: "The latest migration applied to each schema." },
  ),
});

type Installation = Static<typeof Installation>;

async function describeInstallation(parts: ManageParts): Promise<Installation> {
  const { postgresVersion, databaseBytes, clock, migration } = await single(parts.control, readControlHealth);
  const inCell = await single(parts.cellNamed(MAIN_CELL), async (tx) => ({
    migration: await readCellMigration(tx),
    tables: await listLargestTables(tx, TABLES_MAX),
  }));
  const address = parts.proxies.untrusted;
  return {
    version: parts.version,
    nodeVersion: process.versions.node,
    startedAt: formatTimestamp(parts.startedAt),
    postgresVersion,
    databaseClock: formatTimestamp(clock),
    databaseBytes,
    tables: inCell.tables,
    untrustedProxy: address === null ? null : { address, advice: UNTRUSTED_PROXY },
    migrations: [describe("control", migration), describe("cell", inCell.migration)],
  };
}

function describe(
  schema: "control" | "cell",
  { number, name, appliedAt }: LatestMigration,
): Installation["migrations"][number] {
  return { schema, number, name, appliedAt: formatTimestamp(appliedAt) };
}
