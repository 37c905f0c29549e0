/** What a cell of an exported row holds. JSON is written as it came, nested in NDJSON and as text in CSV. */
export type Cell = string | number | null | { readonly json: string };

/** One column of an export: the same name in CSV's header and in NDJSON. */
export type Column<Row> = {
  readonly name: string;
  readonly about: string;
  readonly of: (row: Row) => Cell;
};

/** Where an export goes on after a row. It is the last column of each row, so that whoever has a whole row has it. */
export const CURSOR = "cursor";

export function describeColumns(columns: readonly Column<never>[]): string {
  const lines = columns.map(({ name, about }) => `- \`${name}\`: ${about}`);
  return [...lines, `- \`${CURSOR}\`: to go on after this row.`].join("\n");
}
