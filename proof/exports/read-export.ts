export type ExportFormat = "csv" | "ndjson";

/** What was seen of the file so far: enough to tell a gap or a row that came twice, and to go on. */
export type Seen = {
  rows: number;
  quantity: number;
  /** Occurred at, and id: every row must be after the one before. */
  last: string;
  cursor: string | null;
};

export type Part = { readonly estimate: number; readonly asOf: string; readonly isWhole: boolean };

/** Reads on where `seen` ends, until the end, or until so many rows are there and the reader hangs up. */
export async function readExport(
  url: string,
  token: string,
  { format, seen, rowsMax }: { format: ExportFormat; seen: Seen; rowsMax: number },
): Promise<Part> {
  const hangUp = new AbortController();
  const query = `format=${format}${seen.cursor === null ? "" : `&cursor=${seen.cursor}`}`;
  const response = await fetch(`${url}?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: hangUp.signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`the export was answered with ${await response.text()}`);
  const part = {
    estimate: Number(response.headers.get("purser-rows-estimate")),
    asOf: response.headers.get("purser-export-as-of") ?? "",
  };
  const read = format === "csv" ? readCsv : readJson;
  try {
    let isHeader = format === "csv" && seen.cursor === null;
    for await (const line of linesOf(response.body)) {
      if (!isHeader) add(seen, read(line));
      isHeader = false;
      if (seen.rows >= rowsMax) return { ...part, isWhole: false };
    }
    return { ...part, isWhole: true };
  } catch (error) {
    // The service was killed: what came until then is what there is to go on from.
    if (error instanceof Misplaced || seen.cursor === null) throw error;
    return { ...part, isWhole: false };
  } finally {
    hangUp.abort();
  }
}

/** Whole ones: what was cut off within a line is dropped. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

class Misplaced extends Error {
  override readonly name = "Misplaced";
}

type Row = { readonly place: string; readonly quantity: number; readonly cursor: string };

function add(seen: Seen, { place, quantity, cursor }: Row): void {
  if (place <= seen.last) throw new Misplaced(`${place} came after ${seen.last}`);
  seen.rows += 1;
  seen.quantity += quantity;
  seen.last = place;
  seen.cursor = cursor;
}

function readJson(line: string): Row {
  const { eventId, occurredAt, quantity, cursor } = JSON.parse(line);
  return { place: `${occurredAt} ${eventId}`, quantity, cursor };
}

/** Of this proof's events: no text before the metadata has a comma, and none a line break. */
function readCsv(line: string): Row {
  const [eventId, , , quantity, occurredAt] = line.split(",", 5);
  return {
    place: `${occurredAt} ${eventId}`,
    quantity: Number(quantity),
    cursor: line.slice(line.lastIndexOf(",") + 1),
  };
}
