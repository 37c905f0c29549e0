import { readPage } from "./blocks.ts";

export const RETRY_GUIDE = "docs/guides/integration.md";

export type RetryRule = {
  readonly status: number;
  /** Null if the response has no code. */
  readonly code: string | null;
  readonly isRetried: boolean;
};

const ROW = /^\| ([\d, ]+) \| ([^|]+) \| (yes|no) \| [^|]+ \|$/gm;

/** The retry table of the integration guide, without the row for a missing response. */
export function readRetryTable(): readonly RetryRule[] {
  const [, section = ""] = readPage(RETRY_GUIDE).split("\n## Retries\n");
  return [...(section.split("\n## ", 1)[0] ?? "").matchAll(ROW)].flatMap(
    ([, statuses = "", codes = "", word]): RetryRule[] => {
      const named = [...codes.matchAll(/\[`(\w+)`\]/g)].map(([, code = ""]) => code);
      const numbers = statuses.split(", ").map(Number);
      const isRetried = word === "yes";
      // A row with several statuses has one code for each status, in the same order, or no codes.
      if (named.length === 0) return numbers.map((status) => ({ status, code: null, isRetried }));
      return named.map((code, index) => ({ status: numbers[index] ?? numbers[0] ?? 0, code, isRetried }));
    },
  );
}
