import { classNames } from "../../ui/class-names.ts";
import type { SumLine } from "../../words/denial-sentences.ts";
import { formatCount } from "../../words/numbers.ts";

/** As on paper: what stands under the line follows from what stands over it. */
export function Sum({ lines, label }: { lines: readonly SumLine[]; label: string }) {
  if (lines.length === 0) return null;
  return (
    <table aria-label={label} className="w-full max-w-80 border-collapse text-form">
      <tbody>
        {lines.map(({ name, value, isResult }) => (
          <tr
            key={name}
            className={classNames(isResult && "border-t-2 border-line-strong font-semibold text-bad")}
          >
            <th
              scope="row"
              className={classNames("py-1 text-left", isResult ? "font-semibold" : "font-normal text-muted")}
            >
              {name}
            </th>
            <td className="py-1 text-right">{formatCount(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
