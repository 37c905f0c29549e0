import { Download } from "lucide-react";
import { useContext, useState } from "react";
import { toCsv } from "../format/csv.ts";
import { countOf, formatCount } from "../format/numbers.ts";
import { Button } from "./button.tsx";
import { ProblemCallout } from "./callout.tsx";
import { EnvironmentContext } from "./page.tsx";
import { saveFile } from "./save-file.ts";
import type { Column } from "./table-columns.tsx";

/** Reads all rows of the list, with the current filters and order. Reports how many it has read. */
export type ReadAll<Row> = (onProgress: (count: number) => void) => Promise<readonly Row[]>;

/** Downloads the visible columns of all rows. Without `readAll`, a list that is not fully loaded downloads only the rows shown. */
export function CsvButton<Row>({
  columns,
  rows,
  name,
  isWhole,
  cutAt,
  readAll,
}: {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** The parts of the file name. The environment is added. */
  name: readonly (string | undefined)[];
  isWhole: boolean;
  /** `readAll` returns at most this many rows. */
  cutAt?: number | undefined;
  readAll: ReadAll<Row> | undefined;
}) {
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const environment = useContext(EnvironmentContext) ?? undefined;
  if (!columns.some(({ csv }) => csv !== undefined)) return null;
  async function save(): Promise<void> {
    setError(null);
    setCount(0);
    try {
      const all = isWhole || readAll === undefined ? rows : await readAll(setCount);
      saveFile(`${fileNameOf([...name, environment])}.csv`, csvOf(columns, all), "text/csv");
    } catch (cause) {
      setError(cause);
    } finally {
      setCount(null);
    }
  }
  const isAll = isWhole || (readAll !== undefined && cutAt === undefined);
  const saved = readAll === undefined ? rows.length : (cutAt ?? rows.length);
  return (
    <>
      <ProblemCallout error={error} />
      <Button tone="quiet" icon={Download} isBusy={count !== null} onClick={() => void save()}>
        {count !== null && count > 0
          ? `${formatCount(count)} read`
          : isAll
            ? "Download CSV"
            : `Download ${countOf(saved, "row")} as CSV`}
      </Button>
    </>
  );
}

/** "ledger-org_1001-live". */
function fileNameOf(parts: readonly (string | undefined)[]): string {
  return parts
    .flatMap((part, index) => (part === undefined ? [] : index === 0 ? part.toLowerCase() : part))
    .map((part) => part.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-"))
    .join("-");
}

export function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const saved = columns.flatMap(({ name, csv }) => (csv === undefined ? [] : [{ name, csv }]));
  return toCsv([saved.map(({ name }) => name), ...rows.map((row) => saved.map(({ csv }) => csv(row)))]);
}
