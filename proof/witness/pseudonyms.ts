/** Patterns of random values. Consume IDs derive from time, customer and sequence, so they are compared unchanged. */
const RANDOM = new RegExp(
  [
    /(?<secret>pur_[a-z]+_[0-9A-Za-z]{38})/,
    /(?<id>\b(?:evt|den|log|req)_[0-9a-hjkmnp-tv-z]{26}\b)/,
    // Versions 4 and 7.
    /(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b)/,
    // SHA-256 of a secret, as PostgreSQL writes bytea.
    /(?<hash>\\x[0-9a-f]{64})/,
    /(?<password>\$argon2[^"\s]+)/,
    // Also in JSON inside a column, with escaped quotes.
    /(?<=last_?[fF]our\\?": ?\\?")(?<four>[0-9A-Za-z]{4})/,
    // ETags of plans derive from a random identity.
    /(?<=etag: ")(?<etag>[0-9a-f]{64})/,
    // Base64url of a JSON array with IDs and transaction numbers.
    /(?<cursor>(?<![\w-])W[\w-]{7,}(?![\w-]))/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/**
 * Replaces each random value by the order of its first appearance, such as `uuid-17`. Two runs of the same calls then have the
 * same text if the same values appear in the same places.
 */
export class Pseudonyms {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  replace(text: string): string {
    return replaceRandom(text, (value, kind) => this.#names.get(value) ?? this.#add(value, kind));
  }

  /** Sorts rows independently of their random values, and replaces these values. */
  replaceRows(rows: readonly string[]): string[] {
    const keyed = rows.map((row) => ({
      row,
      key: replaceRandom(row, (value, kind) => this.#names.get(value) ?? `new ${kind}`),
    }));
    keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return keyed.map(({ row }) => this.replace(row));
  }

  #add(value: string, kind: string): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    const name = `${kind}-${count}`;
    this.#counts.set(kind, count);
    this.#names.set(value, name);
    return name;
  }
}

function replaceRandom(text: string, nameOf: (value: string, kind: string) => string): string {
  return text.replaceAll(RANDOM, (value: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const [kind = ""] = Object.entries(groups).find(([, group]) => group !== undefined) ?? [];
    return kind === "cursor" && !isCursor(value) ? value : nameOf(value, kind);
  });
}

function isCursor(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(Buffer.from(text, "base64url").toString()));
  } catch {
    return false;
  }
}
