import { parseArgs } from "node:util";

/** The default says what an option takes: a whole number, text, several texts, or, where it is null, text that may be missing. */
export type Option = {
  readonly default: number | string | null | readonly string[];
  readonly help: string;
  /** What the help calls the value. */
  readonly takes?: string;
  /** Of a number; 1 unless it says otherwise. */
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
  /** `npm run abuse` */
  readonly command: string;
  readonly about: string;
  readonly options: Declared;
  /** When it could not be carried out: 1 unless it says otherwise. */
  readonly exitCodeOnError?: number;
};

export type Run<Declared extends Options> = {
  readonly options: Values<Declared>;
  /** Words behind the command that belong to no option. */
  readonly words: readonly string[];
  /** Stops what was started, the last first, whichever way the run ends. */
  readonly stack: AsyncDisposableStack;
};

export type Result = {
  /** Each is printed, and any of them fails the proof. */
  readonly faults?: readonly string[];
  /** With `--json` the last line. */
  readonly figures: object;
  /** Instead of 0, or 1 with faults. */
  readonly exitCode?: number;
};

/** The main function of every proof: reads the options, runs the work, stops what it started, reports and sets the exit code. */
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
    const { faults = [], figures, exitCode } = await work({ options, words: positionals, stack });
    for (const fault of faults) console.error(`FAILED: ${fault}`);
    if (values["json"] === true) console.log(JSON.stringify(figures));
    process.exitCode = exitCode ?? (faults.length > 0 ? 1 : 0);
  } catch (error) {
    // Whatever fails because everything is being stopped is not worth a line.
    if (isLeaving) return;
    console.error(error);
    process.exitCode = exitCodeOnError;
  } finally {
    // From here on the stack is being disposed of, which must not be cut short.
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
  if (!Number.isInteger(count) || count < min) throw new Error(`--${name} takes a number, not ${text}`);
  return count;
}

function describe({ command, about, options }: Proof<Options>): string {
  const lines = Object.entries(options).map(([name, { default: value, help, takes }]) => {
    const isShown = typeof value === "number" || typeof value === "string";
    return [`--${name} ${takes ?? "N"}`, `${help}${isShown ? ` (${value})` : ""}`] as const;
  });
  const all = [...lines, ["--json", "the last line is JSON"] as const];
  const width = Math.max(...all.map(([name]) => name.length)) + 2;
  const table = all.map(([name, help]) => `  ${name.padEnd(width)}${help}`);
  const usage = `${command}${command.includes(" -- ") ? "" : " --"} [options]`;
  return `${usage}\n\n${about}\n\n${table.join("\n")}\n`;
}
