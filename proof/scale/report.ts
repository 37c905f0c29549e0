import { count, ms, rounded } from "../harness/figures.ts";
import type { Asked } from "./ask.ts";
import type { Loaded } from "./load.ts";
import type { Question } from "./questions.ts";

/** Queries without a limit are reported if they are slower than this. */
const LONG_MS = 1_000;

/** Results for one installation size. */
export type Sized = {
  readonly events: number;
  readonly bytes: number;
  readonly loaded: Loaded;
  /** Results by the name of the query. */
  readonly asked: ReadonlyMap<string, Asked>;
  /** The first wrong response. Null if all were correct. */
  readonly wrong: string | null;
  readonly verified: { readonly code: number | null; readonly seconds: number; readonly output: string };
};

/** Prints the sizes side by side, to show the growth. */
export function printTable(questions: readonly Question[], sized: readonly Sized[]): void {
  const head = sized.map(({ events }) => `${count(events)}: p50, p95, max`.padStart(38));
  console.log(`${"bound".padStart(10)}${head.join("")}`);
  for (const { name, msMax } of questions) {
    const bound = (msMax === null ? "" : ms(msMax)).padStart(10);
    const figures = sized.map(({ asked }) => describe(asked.get(name)).padStart(38));
    console.log(`${bound}${figures.join("")}  ${name}`);
  }
}

function describe(asked: Asked | undefined): string {
  if (asked === undefined) return "";
  const { p50Ms, p95Ms, maxMs, refused } = asked;
  if (refused > 0) return `${refused} of ${asked.calls} rejected`;
  return [p50Ms, p95Ms, maxMs].map((value) => ms(value).padStart(12)).join("");
}

/** Slow queries without a limit are printed but do not fail the run. */
export function findFaults(questions: readonly Question[], sized: readonly Sized[], slack: number): string[] {
  const faults: string[] = [];
  for (const { events, asked, wrong, verified } of sized) {
    if (wrong !== null) faults.push(`${count(events)} events: ${wrong}`);
    for (const { name, msMax } of questions) {
      const { p95Ms = Number.NaN, failure = "was not measured", refused = 0 } = asked.get(name) ?? {};
      const what = `${count(events)} events: ${name}`;
      if (failure !== null) faults.push(`${what}: ${failure}`);
      else if (msMax !== null && refused > 0) faults.push(`${what}: rejected ${refused} times`);
      else if (msMax !== null && !(p95Ms <= msMax * slack)) faults.push(`${what}: p95 ${ms(p95Ms)}`);
      else if (msMax === null && p95Ms > LONG_MS) console.log(`slow: ${what}: p95 ${ms(p95Ms)}`);
    }
    // Null if the verification did not finish in time: its result is unknown.
    if (verified.code !== 0 && verified.code !== null)
      faults.push(`${count(events)} events: purser verify --usage found differences`);
  }
  return faults;
}

export function summarize(customers: number, sized: readonly Sized[]): object {
  return {
    customers,
    sizes: sized.map(({ events, bytes, loaded, asked, verified }) => ({
      events,
      gigabytes: rounded(bytes / 1e9),
      load_s: rounded(loaded.loadSeconds),
      catch_up_s: rounded(loaded.catchUpSeconds),
      catch_up_per_s: Math.round(loaded.catchUpPerSecond),
      verify_s: rounded(verified.seconds),
      verify_code: verified.code,
      questions: Object.fromEntries(
        [...asked].map(([name, { p50Ms, p95Ms, maxMs, calls, refused }]) => [
          name,
          { p50_ms: rounded(p50Ms), p95_ms: rounded(p95Ms), max_ms: rounded(maxMs), calls, refused },
        ]),
      ),
    })),
  };
}
