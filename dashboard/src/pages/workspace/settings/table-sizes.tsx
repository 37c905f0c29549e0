import { formatBytes } from "../../../words/numbers.ts";
import type { Health } from "./health.ts";

const SHOWN = 6;

/** The largest tables, with a bar for the eye and the number for everybody. */
export function TableSizes({ health: { tables, databaseBytes } }: { health: Health }) {
  return (
    <table className="w-full border-collapse">
      <caption className="pb-1 text-left text-caption text-muted">
        The largest tables, with their indexes
      </caption>
      <tbody>
        {tables.slice(0, SHOWN).map(({ table, bytes }) => (
          <tr key={table}>
            <th scope="row" className="py-1 pr-4 text-left font-mono text-caption font-normal">
              {table}
            </th>
            <td className="w-full py-1 pr-4" aria-hidden>
              <div className="h-1.5 rounded-full bg-sunken">
                <div
                  className="h-full rounded-full bg-accent"
                  style={{ width: `${Math.max(1, (100 * bytes) / Math.max(databaseBytes, 1))}%` }}
                />
              </div>
            </td>
            <td className="py-1 text-right whitespace-nowrap">{formatBytes(bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
