import { parseArgs } from "node:util";

/** The default determines the type of the value: a whole number, text, a list of texts, or optional text (null). */
export type Option = {
  readonly default: number | string | null | readonly string[];
  readonly help: string;
  /** The name of the value in the help text. */
  readonly takes?: string;
  /** The smallest number allowed. Default: 1. */
  readonly min?: number;
};

type Options = Readonly<Record<string, Option>>;
type ValueOf<Default> = Default extends number
  ? number
  : Default extends string
    ? string
    : Default extends null
      ? string | null
      : readonly string[];
type Values<Declared extends Options> = {
  readonly [Name in keyof Declared]: ValueOf<Declared[Name]["default"]>;
};

export type Proof<Declared extends Options> = {
  /** The command that starts the proof, such as `npm run abuse`. */
  readonly command: string;
  readonly about: string;
  readonly options: Declared;
  /** Exit code if the proof could not be completed. Default: 1. */
  readonly exitCodeOnError?: number;
};

export type Run<Declared extends Options> = {
  readonly options: Values<Declared>;
  readonly positionals: readonly string[];
  /** Stops everything that was started, in reverse order, even if the run fails. */
  readonly stack: AsyncDisposableStack;
};

export type Result = {
  /** Faults to print. Any fault fails the proof. */
  readonly faults?: readonly string[];
  /** Figures to print in the last line with `--json`. */
  readonly figures: object;
  /** Default: 0, or 1 with faults. */
  readonly exitCode?: number;
};

/** The main function of every proof: reads options, runs `work`, cleans up, reports, and sets the exit code. */
export async function runProof<const Declared extends Options>(
  proof: Proof<Declared>,
  work: (run: Run<Declared>) => Promise<Result>,
): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...Object.fromEntries(Object.entries(proof.options).map(([name, option]) => [name, toParsed(option)])),
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values["help"] === true) return console.log(describe(proof));
  const { exitCodeOnError = 1 } = proof;
  await using stack = new AsyncDisposableStack();
  let isLeaving = false;
  const leave = (exitCode: number): void => {
    isLeaving = true;
    void stack.disposeAsync().finally(() => process.exit(exitCode));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => leave(130));
  process.on("uncaughtException", (error) => {
    if (isLeaving) return;
    console.error(error);
    leave(exitCodeOnError);
  });
  try {
    const options = readValues(proof.options, values) as Values<Declared>;
    const { faults = [], figures, exitCode } = await work({ options, positionals, stack });
    for (const fault of faults) console.error(`FAILED: ${fault}`);
    if (values["json"] === true) console.log(JSON.stringify(figures));
    process.exitCode = exitCode ?? (faults.length > 0 ? 1 : 0);
  } catch (error) {
    // Errors caused by the shutdown are not reported.
    if (isLeaving) return;
    console.error(error);
    process.exitCode = exitCodeOnError;
  } finally {
    // The clean-up that follows must not be interrupted.
    isLeaving = true;
  }
}

function toParsed({ default: value }: Option): { type: "string"; multiple: boolean } {
  return { type: "string", multiple: Array.isArray(value) };
}

function readValues(options: Options, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => {
      const value = given[name];
      if (value === undefined) return [name, option.default];
      return [name, typeof option.default === "number" ? toCount(name, String(value), option.min) : value];
    }),
  );
}

export function toCount(name: string, text: string, min = 1): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < min)
    throw new Error(`--${name} takes a whole number of at least ${min}, not ${text}`);
  return count;
}

function describe({ command, about, options }: Proof<Options>): string {
  const lines = Object.entries(options).map(([name, { default: value, help, takes }]) => {
    const isShown = typeof value === "number" || typeof value === "string";
    return [`--${name} ${takes ?? "N"}`, `${help}${isShown ? ` (${value})` : ""}`] as const;
  });
  const all = [...lines, ["--json", "print the figures as JSON in the last line"] as const];
  const width = Math.max(...all.map(([name]) => name.length)) + 2;
  const table = all.map(([name, help]) => `  ${name.padEnd(width)}${help}`);
  const usage = `${command}${command.includes(" -- ") ? "" : " --"} [options]`;
  return `${usage}\n\n${about}\n\n${table.join("\n")}\n`;
}
