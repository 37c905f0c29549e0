#!/usr/bin/env node
import { parseArgs } from "node:util";
import { catalogCommand } from "./commands/catalog.ts";
import { NoConnection } from "./commands/connect.ts";
import { createProjectCommand } from "./commands/create-project.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { exportCommand } from "./commands/export.ts";
import { describeCommand, isCommand, optionsOf } from "./commands/help.ts";
import { checkMigrationsCommand, migrateCommand } from "./commands/migrate.ts";
import { recordVerification } from "./commands/record-verification.ts";
import { resetOwnerCommand } from "./commands/reset-owner.ts";
import { revokeKeyCommand } from "./commands/revoke-key.ts";
import { parseUtcDay } from "./commands/verify/usage/utc-day.ts";
import { verifyCommand } from "./commands/verify.ts";
import { verifyUsageCommand } from "./commands/verify-usage.ts";
import { readClientConfig, readConfig } from "./config.ts";
import { ORDINAL_MAX } from "./postgres/migrate.ts";
import type { Instant } from "./primitives/brand.ts";
import { VERSION } from "./primitives/version.ts";

const print = (line: string): void => console.log(line);

class UsageError extends Error {}

async function main(args: string[]): Promise<void> {
  const { values, positionals, tokens } = parse(args);
  const [command, ...rest] = positionals;
  if (values.version) return print(VERSION);
  if (command === "help" || command === undefined) return print(describeCommand(rest[0]));
  if (values.help) return print(describeCommand(command));
  const [argument = ""] = rest;
  checkArguments(command, rest);
  const known = optionsOf(command === "catalog" ? `catalog ${argument}` : command);
  for (const token of tokens)
    if (token.kind === "option" && !known.includes(token.name))
      throw new UsageError(`${command} does not accept ${token.rawName}`);
  switch (command) {
    case "version":
      return print(VERSION);
    // Only `openapi`, `dev`, `serve` and `mcp` load the server, because the other commands start much faster without it.
    case "openapi": {
      const { renderOpenApi } = await import("./commands/openapi.ts");
      return print(await renderOpenApi(values.manage ? "manage" : "runtime"));
    }
    case "dev": {
      const { devCommand } = await import("./commands/dev.ts");
      return devCommand({
        port: values.port === undefined ? null : readPort(values.port),
        json: values.json,
        directory: values.directory,
        demo: !values["no-demo"],
        print,
      });
    }
    case "migrate": {
      const { check, finish, "grant-to": grantTo = null } = values;
      const ordinal = readOrdinal(values.ordinal);
      if (!check) return migrateCommand({ ...readConfig(), grantTo, ordinal, finish, print });
      const isCurrent = await checkMigrationsCommand({ ...readConfig(), print });
      if (!isCurrent) process.exitCode = 1;
      return;
    }
    case "serve": {
      const { serveCommand } = await import("./commands/serve.ts");
      return serveCommand();
    }
    case "create-project":
      return createProjectCommand({ databaseUrl: readConfig().databaseUrl, name: argument, print });
    case "revoke-key":
      return revokeKeyCommand({ databaseUrl: readConfig().databaseUrl, secret: argument, print });
    case "reset-owner":
      return resetOwnerCommand({ ...readConfig(), email: argument, print });
    case "catalog":
      return catalogCommand({ ...values, client: readClientConfig(), file: rest[1] ?? null, print });
    case "export":
      return exportCommand({ ...values, client: readClientConfig(), directory: argument, print });
    case "mcp": {
      const { mcpCommand } = await import("./commands/mcp/mcp.ts");
      return mcpCommand({ ...values, client: readClientConfig(), print });
    }
    case "doctor": {
      const isHealthy = await doctorCommand({ ...readConfig(), print });
      if (!isHealthy) process.exitCode = 1;
      return;
    }
    case "verify": {
      const { usage, repair } = values;
      if (repair !== undefined && !usage) throw new UsageError("--repair requires --usage");
      const { databaseUrl } = readConfig();
      const isSound = usage
        ? await verifyUsageCommand({ databaseUrl, repair: readDay(repair), print })
        : await verifyCommand({ databaseUrl, print });
      await recordVerification({ databaseUrl, kind: usage ? "usage" : "ledger", isSound, print });
      if (!isSound) process.exitCode = 1;
      return;
    }
    default:
      throw new UsageError(`unknown command ${JSON.stringify(command)}`);
  }
}

function checkArguments(command: string, given: readonly string[]): void {
  if (command === "catalog") {
    checkCatalogArguments(given);
    return;
  }
  const takesOne = ["create-project", "revoke-key", "reset-owner", "export"].includes(command);
  if (takesOne && given.length !== 1) throw new UsageError(`${command} takes exactly one argument`);
  if (!takesOne && given.length > 0) throw new UsageError(`unexpected argument: ${given.join(" ")}`);
}

function checkCatalogArguments([action, ...rest]: readonly string[]): void {
  if (action !== "export" && action !== "apply")
    throw new UsageError("catalog must be followed by export or apply FILE");
  if (action === "export" && rest.length > 0) throw new UsageError(`unexpected argument: ${rest.join(" ")}`);
  if (action === "apply" && rest.length !== 1) throw new UsageError("catalog apply takes exactly one file");
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      tokens: true,
      options: {
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        port: { type: "string" },
        directory: { type: "string", default: ".purser" },
        "no-demo": { type: "boolean", default: false },
        manage: { type: "boolean", default: false },
        check: { type: "boolean", default: false },
        finish: { type: "boolean", default: false },
        "grant-to": { type: "string" },
        ordinal: { type: "string" },
        usage: { type: "boolean", default: false },
        repair: { type: "string" },
        project: { type: "string" },
        environment: { type: "string", default: "test" },
        reach: { type: "string", default: "new_assignments" },
        "dry-run": { type: "boolean", default: false },
        "archive-missing": { type: "boolean", default: false },
        write: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(describeParseError(error));
  }
}

/** Returns the first sentence of Node's message. Its other sentences explain escaping, which no command needs. */
function describeParseError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '([^']+)'/.exec(message)?.[1];
  return unknown === undefined ? (message.split(". ")[0] ?? message) : `unknown option ${unknown}`;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError(`invalid port: ${text}`);
  return port;
}

function readOrdinal(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,3}$/.test(text) || Number(text) > ORDINAL_MAX) throw new UsageError(`invalid ordinal: ${text}`);
  return Number(text);
}

function readDay(text: string | undefined): Instant | null {
  if (text === undefined) return null;
  const day = parseUtcDay(text);
  if (day === null) throw new UsageError(`invalid date: ${text}`);
  return day;
}

/** Adds advice to the most common errors. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NoConnection) return `${message}. Nothing was changed`;
  const code = error instanceof Error && "code" in error ? error.code : null;
  switch (code) {
    case "EADDRINUSE":
      return `${message}; choose another with PORT or METRICS_PORT, or dev --port`;
    case "42P01": // undefined_table
    case "42703": // undefined_column
    case "3F000": // invalid_schema_name
      return `${message}: the database lacks migrations; run purser migrate`;
    case "55P03": // lock_not_available
      return `${message}: nothing was changed; repeat the command when no long transaction, such as a backup, is running`;
    case "42501": // insufficient_privilege
      return `${message}: connect as the owner of Purser's schemas, or see SECURITY.md about a separate role`;
    case "ERR_MODULE_NOT_FOUND":
      return `${message}\nAre the dependencies installed? In a checkout: npm ci. In a folder with the npm package: npm install --include=optional`;
    default:
      return message;
  }
}

function suggestHelp(command = ""): string {
  return isCommand(command) ? `purser ${command} --help` : "purser help";
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  console.error(`purser: ${explain(error)}`);
  if (isUsage) console.error(`Try: ${suggestHelp(process.argv[2])}`);
  process.exit(isUsage ? 2 : 1);
});
