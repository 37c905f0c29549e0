/** A cell of an exported row. JSON is nested in NDJSON and text in CSV. */
export type Cell = string | number | null | { readonly json: string };

/** A column of an export, with the same name in CSV and NDJSON. */
export type Column<Row> = {
  readonly name: string;
  readonly about: string;
  readonly of: (row: Row) => Cell;
};

/** Last column of each row: an export can resume after any complete row. */
export const CURSOR = "cursor";

export function describeColumns(columns: readonly Column<never>[]): string {
  const lines = columns.map(({ name, about }) => `- \`${name}\`: ${about}`);
  return [...lines, `- \`${CURSOR}\`: to resume after this row.`].join("\n");
}
