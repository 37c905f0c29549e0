export type ExportFormat = "csv" | "ndjson";

/** Summary of the rows received so far, to detect missing and duplicate rows and to resume. */
export type Seen = {
  rows: number;
  quantity: number;
  /** `occurredAt` and ID of the last row. Rows must arrive in this order. */
  last: string;
  cursor: string | null;
};

type Part = { readonly estimate: number; readonly asOf: string; readonly isWhole: boolean };

/** Resumes after `seen`, and reads to the end or until `seen` has `rowsMax` rows. Then it closes the connection. */
export async function readExport(
  url: string,
  token: string,
  { format, seen, rowsMax }: { format: ExportFormat; seen: Seen; rowsMax: number },
): Promise<Part> {
  const controller = new AbortController();
  const query = `format=${format}${seen.cursor === null ? "" : `&cursor=${seen.cursor}`}`;
  const response = await fetch(`${url}?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`the export returned ${await response.text()}`);
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
    // The service was killed. The next part resumes after the last complete row.
    if (error instanceof OutOfOrder || seen.cursor === null) throw error;
    return { ...part, isWhole: false };
  } finally {
    controller.abort();
  }
}

/** Complete lines. An incomplete last line is dropped. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

class OutOfOrder extends Error {
  override readonly name = "OutOfOrder";
}

type Row = { readonly position: string; readonly quantity: number; readonly cursor: string };

function add(seen: Seen, { position, quantity, cursor }: Row): void {
  if (position <= seen.last) throw new OutOfOrder(`${position} came after ${seen.last}`);
  seen.rows += 1;
  seen.quantity += quantity;
  seen.last = position;
  seen.cursor = cursor;
}

function readJson(line: string): Row {
  const { eventId, occurredAt, quantity, cursor } = JSON.parse(line);
  return { position: `${occurredAt} ${eventId}`, quantity, cursor };
}

/** Works only for the events in this proof, which have no commas before the metadata, and no line breaks. */
function readCsv(line: string): Row {
  const [eventId, , , quantity, occurredAt] = line.split(",", 5);
  return {
    position: `${occurredAt} ${eventId}`,
    quantity: Number(quantity),
    cursor: line.slice(line.lastIndexOf(",") + 1),
  };
}
