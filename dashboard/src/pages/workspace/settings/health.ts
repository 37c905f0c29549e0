import type { Answer } from "../../../api/answer.ts";

export type Health = Answer<"readHealth"> & { readonly clockOffsetMs: number };

export type Verdict = { readonly tone: "good" | "warn"; readonly title: string; readonly why: string };

/** Whoever has a browser that keeps time is within a second or two. */
const CLOCK_OFFSET_MAX_MS = 30_000;

/** In a sentence. It answered, so it runs; what could still be wrong is what the database says of itself. */
export function judge({ migrations, clockOffsetMs, databaseBytes, tables }: Health): Verdict {
  const missing = (["control", "cell"] as const).filter(
    (schema) => !migrations.some((migration) => migration.schema === schema),
  );
  if (missing.length > 0) {
    const why = `Nothing was ever applied to the schema ${missing.join(" and ")}. Run purser migrate.`;
    return { tone: "warn", title: "The database is not migrated", why };
  }
  if (Math.abs(clockOffsetMs) > CLOCK_OFFSET_MAX_MS) {
    const seconds = Math.round(Math.abs(clockOffsetMs) / 1_000).toLocaleString("en-US");
    const which = clockOffsetMs > 0 ? "ahead of" : "behind";
    const why = `It is ${seconds} seconds ${which} this browser's. One of them is wrong: credits are given, and expire, by the database's.`;
    return { tone: "warn", title: "The database's clock differs from yours", why };
  }
  const largest = tables[0];
  const share = largest === undefined || databaseBytes === 0 ? 0 : largest.bytes / databaseBytes;
  const most = share > 0.5 ? ` Most of the database is ${largest?.table}.` : "";
  return {
    tone: "good",
    title: "All is well",
    why: `Service and database answer, both schemas are migrated, and the clocks agree.${most}`,
  };
}
