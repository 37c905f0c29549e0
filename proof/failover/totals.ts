import { median } from "../harness/figures.ts";
import { FAULTS } from "./inject.ts";
import type { Part } from "./part.ts";

/** The figures of all parts, by kind of fault. */
export function totalsOf(parts: readonly Part[]) {
  const faults = parts.flatMap((part) => part.faults);
  const sum = (of: (part: Part) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    parts: parts.length,
    passed: parts.filter(({ verdict }) => verdict === "pass").length,
    faults: faults.length,
    acknowledged: sum(({ acknowledged }) => acknowledged),
    replays: sum(({ replays }) => replays),
    interrupted: faults.reduce((total, { interrupted }) => total + interrupted, 0),
    violations: sum(({ violations }) => violations.length),
    doubts: sum(({ doubts }) => doubts.length),
    by_fault: Object.fromEntries(
      Object.keys(FAULTS).map((name) => {
        const some = faults.filter((fault) => fault.name === name);
        const refused = some.map(({ refusedMs }) => refusedMs);
        const bare = some.map(({ bareMs }) => bareMs);
        const promoted = some.flatMap(({ promotedMs }) => promotedMs ?? []);
        const times = {
          refused_ms: spread(refused),
          without_purser_ms: spread(bare),
          promoted_ms: spread(promoted),
        };
        return [name, { count: some.length, ...times }];
      }),
    ),
  };
}

function spread(values: readonly number[]): { readonly median: number; readonly max: number } | null {
  return values.length === 0
    ? null
    : { median: Math.round(median(values)), max: Math.round(Math.max(...values)) };
}

export function describeParts(parts: readonly Part[]): string {
  const { by_fault, ...totals } = totalsOf(parts);
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const shown = (found: ReturnType<typeof spread>): string =>
    found === null ? "–" : `${seconds(found.median)} (max ${seconds(found.max)})`;
  return [
    "",
    `${"fault".padEnd(26)}${"trials".padEnd(8)}${["refused", "without Purser", "new leader"].map((name) => name.padEnd(22)).join("")}`,
    ...Object.entries(by_fault).map(
      ([name, { count, refused_ms, without_purser_ms, promoted_ms }]) =>
        `${name.padEnd(26)}${String(count).padEnd(8)}${[refused_ms, without_purser_ms, promoted_ms].map((found) => shown(found).padEnd(22)).join("")}`,
    ),
    "",
    `${totals.passed} of ${totals.parts} parts passed: ${totals.faults} faults, ${totals.acknowledged} writes acknowledged, ` +
      `${totals.replays} replays, ${totals.interrupted} waits interrupted, ${totals.violations} violations, ${totals.doubts} doubts`,
  ].join("\n");
}
