import { SETTINGS } from "../config.ts";
import { VERSION } from "../primitives/version.ts";

type Setting = keyof typeof SETTINGS;

type Command = {
  /** The argument after the command's name. */
  readonly takes?: string;
  readonly about: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly settings: readonly Setting[];
};

const DATABASE = ["DATABASE_URL", "DATABASE_URL_FILE"] as const;
const CLIENT = ["PURSER_URL", "PURSER_TOKEN", "PURSER_TOKEN_FILE"] as const satisfies readonly Setting[];
const SERVER = (Object.keys(SETTINGS) as Setting[]).filter(
  (name) => !CLIENT.some((ofClient) => ofClient === name),
);

const ENVIRONMENT_OPTIONS = {
  "--project ID": "the project",
  "--environment NAME": "test or live (default: test)",
};

const COMMANDS: Readonly<Record<string, Command>> = {
  dev: {
    about: "start everything for development: PostgreSQL, a project with keys, and the service",
    options: {
      "--port N": "listen on this port (default: 3300)",
      "--directory DIR": "folder for data and keys (default: .purser)",
      "--json": "print one line of JSON once ready",
      "--no-demo": "leave the test environment empty on the first start",
    },
    settings: SERVER.filter((name) => !/^(DATABASE|INIT)_/.test(name)),
  },
  migrate: {
    about: "migrate the database to this release; safe to repeat",
    options: {
      "--check": "only print the pending migrations and their locks; exit code 1 if any are pending",
      "--finish": "after an upgrade: allow stored data that the previous release cannot read",
      "--ordinal N":
        "number of this database, 0 to 255; each database needs a different one, so that customer numbers do not overlap",
      "--grant-to ROLE":
        "also grant ROLE the privileges that the service needs, including key deletion if IDEMPOTENCY_DAYS is set",
    },
    settings: [...DATABASE, "IDEMPOTENCY_DAYS"],
  },
  serve: { about: "run the service", settings: SERVER },
  "create-project": {
    takes: "NAME",
    about: "create a project and print its API keys, which are shown only once",
    settings: DATABASE,
  },
  "revoke-key": {
    takes: "KEY",
    about: "revoke an API key; takes effect within 5 seconds",
    settings: DATABASE,
  },
  "reset-owner": {
    takes: "EMAIL",
    about: "make this member an owner, or create the owner, and print a one-time link to set a password",
    settings: [...DATABASE, "PUBLIC_URL"],
  },
  doctor: {
    about: "run diagnostics: version, durability, migrations, clock, long transactions, disk",
    settings: [...DATABASE, "IDEMPOTENCY_DAYS"],
  },
  verify: {
    about:
      "recompute every wallet, grant and limit from the ledger and compare the results with the stored values; safe while the service is running",
    options: {
      "--usage": "instead, compare the usage roll-ups with the events, charges and denials",
      "--repair DAY": "first rebuild the roll-ups of this UTC day, for example 2026-11-15",
    },
    settings: DATABASE,
  },
  "catalog export": {
    about: "print the catalog of an environment as a JSON document",
    options: ENVIRONMENT_OPTIONS,
    settings: CLIENT,
  },
  "catalog apply": {
    takes: "FILE",
    about: "change the catalog of an environment to match the document, and print the changes",
    options: {
      ...ENVIRONMENT_OPTIONS,
      "--dry-run": "only print the changes",
      "--reach WHO":
        "which customers get the changed plan versions: new_assignments, next_period or now (default: new_assignments)",
      "--archive-missing": "archive plans and features that are not in the document",
    },
    settings: CLIENT,
  },
  export: {
    takes: "DIRECTORY",
    about: "write the catalog, customers and history of an environment as files, to import elsewhere",
    options: ENVIRONMENT_OPTIONS,
    settings: CLIENT,
  },
  mcp: {
    about:
      "let a language model read an environment through the Model Context Protocol, over standard input and output",
    options: {
      ...ENVIRONMENT_OPTIONS,
      "--write":
        "also offer the operations that change data; each call still requires a token whose role allows it",
    },
    settings: CLIENT,
  },
  openapi: {
    about: "print the runtime API as an OpenAPI document",
    options: { "--manage": "print the management API instead" },
    settings: [],
  },
};

/** Names of the options that a command takes, such as `dry-run`. */
export function optionsOf(command: string): readonly string[] {
  const { options = {} } = COMMANDS[command] ?? {};
  return Object.keys(options).map((option) => option.replace(/^--(\S+).*$/, "$1"));
}

export function isCommand(name: string): boolean {
  return Object.keys(COMMANDS).some((full) => full.split(" ")[0] === name);
}

/** Returns the help of a command, or the list of all commands if the name is unknown. */
export function describeCommand(name: string | undefined): string {
  const chosen = Object.entries(COMMANDS).filter(([full]) => full === name || full.split(" ")[0] === name);
  if (chosen.length === 0) return listCommands();
  const settings = new Set(chosen.flatMap(([, command]) => command.settings));
  return [
    ...chosen.map(([full, { takes, about, options = {} }]) => {
      const usage = ["purser", full, takes, ...(Object.keys(options).length > 0 ? ["[options]"] : [])];
      return `${usage.filter(Boolean).join(" ")}\n\n  ${about}\n${table(Object.entries(options), 4)}`;
    }),
    ...(settings.size === 0
      ? []
      : [`Settings (environment variables)\n${table([...settings].map((name) => [name, SETTINGS[name]]))}`]),
  ].join("\n");
}

function listCommands(): string {
  const commands = Object.entries(COMMANDS).map(
    ([name, { takes, about }]) => [takes === undefined ? name : `${name} ${takes}`, about] as const,
  );
  return `Purser ${VERSION}: usage metering and prepaid credits alongside your billing system

Usage: purser <command> [options]

${table(commands)}
purser <command> --help shows the options and settings of a command.
`;
}

function table(rows: readonly (readonly [string, string])[], indent = 2): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => `${" ".repeat(indent)}${name.padEnd(width)}${text}\n`).join("");
}
