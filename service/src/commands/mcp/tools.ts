import { type TObject, type TSchema, Type } from "typebox";
import { ENVIRONMENT_PATH, environmentParams, type Operation } from "../../manage/operation.ts";
import { assert } from "../../primitives/assert.ts";

/** A call to the management API, within one environment. */
export type ApiCall = {
  readonly method: Operation["method"];
  /** Relative to the environment's path, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** An operation of the management API that a language model can call. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: TObject;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
  readonly toCall: (input: Readonly<Record<string, unknown>>) => ApiCall;
};

/** Their responses contain API keys or secrets of webhooks, which must not reach a language model. */
const WITH_SECRETS = new Set(["createApiKey", "rotateApiKey", "createWebhook", "rotateWebhookSecret"]);

/** Makes a tool of each operation in an environment, except operations on files. Without `writes`, only those that change nothing. */
export function toTools(operations: readonly Operation[], { writes }: { writes: boolean }): Tool[] {
  return operations
    .filter(({ id, path, files, takesCsv }) => {
      const isInEnvironment = path.startsWith(`${ENVIRONMENT_PATH}/`);
      return isInEnvironment && files === undefined && takesCsv !== true && !WITH_SECRETS.has(id);
    })
    .filter((operation) => writes || changesNothing(operation))
    .map(toTool);
}

/** Previews and comparisons are sent with POST, because they have a body. */
function changesNothing({ method, path }: Operation): boolean {
  return method === "GET" || /\/(preview|diff)$/.test(path);
}

function toTool(operation: Operation): Tool {
  const { id, method, summary, description, path, params, query, headers, body } = operation;
  const inPath = describePlainly(without(params?.properties ?? {}, Object.keys(environmentParams)));
  const inQuery = query?.properties ?? {};
  const inHeaders = headers?.properties ?? {};
  const properties = { ...inPath, ...inQuery, ...inHeaders, ...(body === undefined ? {} : { body }) };
  const given = [inPath, inQuery, inHeaders].flatMap(Object.keys);
  assert(new Set([...given, "body"]).size === given.length + 1, "every argument of a tool has its own name");
  const isReadOnly = changesNothing(operation);
  return {
    name: id,
    description: `${summary}. ${description}`,
    inputSchema: Type.Object(properties, { additionalProperties: false }),
    annotations: { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly },
    toCall: (input) => {
      refuseInvalid(input, new Set([...given, ...(body === undefined ? [] : ["body"])]));
      for (const name of Object.keys(inPath)) refuseSegment(name, input[name]);
      for (const [name, value] of entriesOf(input, inHeaders)) refuseHeader(name, value);
      const search = new URLSearchParams(entriesOf(input, inQuery)).toString();
      const filled = path
        .slice(ENVIRONMENT_PATH.length)
        .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name] ?? "")));
      return {
        method,
        path: search === "" ? filled : `${filled}?${search}`,
        headers: Object.fromEntries(entriesOf(input, inHeaders)),
        body: body === undefined ? undefined : input["body"],
      };
    },
  };
}

/** Thrown if a tool cannot be called with the given arguments. */
export class InvalidArguments extends Error {}

/** Without this check, a misspelled filter would be ignored. The service checks the values. */
function refuseInvalid(input: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(input)) {
    if (!known.has(name))
      throw new InvalidArguments(`There is no argument \`${name}\`. Known: ${[...known].join(", ")}.`);
    if (name === "body") continue;
    if (!["string", "number", "boolean"].includes(typeof value))
      throw new InvalidArguments(`The argument \`${name}\` must be text or a number.`);
  }
}

/** A URL with an empty segment, or a segment of dots, can lead to another operation. Large numbers lose digits. */
function refuseSegment(name: string, value: unknown): void {
  const isExact = typeof value === "string" ? value.isWellFormed() : Number.isSafeInteger(value);
  if (!isExact || /^\.{0,2}$/.test(String(value)))
    throw new InvalidArguments(`The argument \`${name}\` is missing, or has a value that cannot be sent.`);
}

function refuseHeader(name: string, value: string): void {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new InvalidArguments(`The argument \`${name}\` has a value that cannot be sent.`);
}

function entriesOf(
  input: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, TSchema>>,
): [string, string][] {
  return Object.keys(properties).flatMap((name): [string, string][] =>
    input[name] === undefined ? [] : [[name, String(input[name])]],
  );
}

/** Arguments are encoded by `toCall`. */
function describePlainly(properties: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { description = "" } = schema as { readonly description?: string };
      return [name, { ...schema, description: description.replace(", percent-encoded", "") }];
    }),
  );
}

function without<T>(properties: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
}
