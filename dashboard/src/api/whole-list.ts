type Page<Line> = { items: Line[]; nextCursor: string | null };

/** All pages of a list that is short by nature, such as a catalog's: it can then be filtered and counted where it is shown. */
export async function wholeList<Line>(
  readPage: (query: { limit: string; cursor?: string }) => Promise<Page<Line>>,
): Promise<Line[]> {
  const lines: Line[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Line> = await readPage({ limit: "200", ...(cursor === null ? {} : { cursor }) });
    lines.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return lines;
}
