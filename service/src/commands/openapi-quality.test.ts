import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, test } from "vitest";
import { resolveReferences } from "../../test/resolve-references.ts";
import { NAMED_SCHEMAS } from "../manage/named-schemas.ts";

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  examples?: unknown[];
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
  allOf?: Schema[];
};
type Content = { content?: Record<string, { schema?: Schema; example?: unknown; examples?: unknown }> };
type Described = {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: {
    name: string;
    schema?: Schema;
    description?: string;
    example?: unknown;
    examples?: unknown;
  }[];
  requestBody?: Content;
  responses: Record<string, Content & { description?: string; headers?: Record<string, unknown> }>;
};
type Document = {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, unknown> };
};

/** Only these operations answer every browser with a redirect. */
const REDIRECTS =
  /^operation-2xx-response: .* #\/paths\/~1manage~1v1~1session~1oidc(~1callback)?\/get\/responses$/;

async function lint(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source, absoluteRef: "/openapi.json", config });
  return problems
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
    .filter((problem) => !REDIRECTS.test(problem));
}

/** Lists the parts of a schema that have no example. */
function findHidden(schema: Schema | undefined, path: string): string[] {
  if (schema === undefined) return [path];
  if (schema.examples !== undefined || schema.enum !== undefined || schema.const !== undefined) return [];
  if (schema.type === "boolean" || schema.type === "null") return [];
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((member) => findHidden(member, path));
  if (schema.type === "array") return findHidden(schema.items, `${path}[]`);
  // Unconstrained values and maps have no parts.
  if (schema.type === undefined || schema.properties === undefined)
    return schema.type === "object" || schema.type === undefined ? [] : [path];
  return Object.entries(schema.properties).flatMap(([name, part]) => findHidden(part, `${path}.${name}`));
}

/** An example of the whole body also covers its parts. */
function findHiddenIn(
  { schema, example, examples }: { schema?: Schema; example?: unknown; examples?: unknown },
  path: string,
): string[] {
  return example === undefined && examples === undefined ? findHidden(schema, path) : [];
}

const REPLAYING = ["consume", "recordEvent", "openHold", "settleHold", "releaseHold", "reverse"];

describe.each(["runtime", "manage"])("the document of the %s API", (api) => {
  const source = readFileSync(join(import.meta.dirname, `../../../openapi/${api}.json`), "utf8");
  const { paths, components }: Document = JSON.parse(source);
  const resolved = resolveReferences<Document>(JSON.parse(source));
  const operations = Object.entries(resolved.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ name: `${method} ${path}`, described })),
  );

  test("passes a linter, and the linter detects an injected error", async () => {
    expect(await lint(source)).toEqual([]);
    expect(await lint(source.replace('"operationId"', '"operationNumber"'))).not.toEqual([]);
  });

  test("every operation and response has a name, summary and description", () => {
    const silent = operations.filter(
      ({ described: { operationId, summary, description, tags, responses } }) =>
        [
          operationId,
          summary,
          description,
          ...Object.values(responses).map((answer) => answer.description),
        ].some((text) => text === undefined || text.length < 3) || tags?.length !== 1,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  test("every body, response and parameter has an example", () => {
    const hidden = operations.flatMap(({ name, described: { requestBody, responses, parameters = [] } }) => [
      ...Object.values(requestBody?.content ?? {}).flatMap((content) =>
        findHiddenIn(content, `${name} body`),
      ),
      ...Object.values(responses["200"]?.content ?? {}).flatMap((content) =>
        findHiddenIn(content, `${name} answer`),
      ),
      ...parameters.flatMap(({ schema, description, example, ...parameter }) =>
        description === undefined && example === undefined
          ? findHidden(schema, `${name} ?${parameter.name}`)
          : [],
      ),
    ]);
    expect(hidden).toEqual([]);
  });

  test("lists the error codes of every operation", () => {
    const without = operations.filter(({ described: { responses } }) =>
      ["400", "500", "503"].some(
        (status) => responses[status]?.content?.["application/problem+json"] === undefined,
      ),
    );
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  test("every JSON body and response has a named schema, and every error is a Problem", () => {
    const anonymous = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, requestBody, responses }) => [
        ...[requestBody, responses["200"]].flatMap((part) => {
          const schema = part?.content?.["application/json"]?.schema;
          return schema === undefined || isNamed(schema) ? [] : [`${operationId}: ${JSON.stringify(schema)}`];
        }),
        ...Object.values(responses).flatMap(({ content }) => {
          const schema = content?.["application/problem+json"]?.schema;
          return schema === undefined || schema.allOf?.[0]?.$ref?.endsWith("/Problem") ? [] : [operationId];
        }),
      ]);
    expect(anonymous).toEqual([]);
    const missing = Object.keys(NAMED_SCHEMAS).filter((name) => components.schemas[name] === undefined);
    // Both APIs show holds.
    const others = Object.keys(NAMED_SCHEMAS).filter((name) => name !== "Hold");
    expect(missing).toEqual(api === "manage" ? [] : others);
  });

  test("example keys match the kind of their field", () => {
    const wrong = findExamples(resolved, "").filter(
      ({ path, text }) =>
        (/plan/i.test(path) && text === "image.generate" && !/feature/i.test(path)) ||
        (/pool/i.test(path) && text === "image.generate" && !/feature/i.test(path)),
    );
    expect(wrong).toEqual([]);
  });

  test("every response documents its headers", () => {
    for (const { described } of operations)
      for (const [status, { headers = {} }] of Object.entries(described.responses)) {
        expect(headers).toHaveProperty("X-Request-Id");
        expect("Retry-After" in headers).toBe(status === "429" || status === "503");
        const replays = REPLAYING.includes(described.operationId ?? "") && status === "200";
        expect("Idempotent-Replayed" in headers).toBe(replays);
      }
  });
});

/** A schema without fields needs no name. In a nullable schema, the object must be named. */
function isNamed({ $ref, properties, anyOf = [] }: Schema): boolean {
  return $ref !== undefined || (properties === undefined && anyOf.every((part) => part.type !== "object"));
}

/** Finds all texts in `examples` of schemas, with the path of field names. */
function findExamples(value: unknown, path: string): { path: string; text: string }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    if (name === "examples" && Array.isArray(part))
      return part.filter((example) => typeof example === "string").map((text) => ({ path, text }));
    return findExamples(part, /^(properties|items|anyOf|schema|\d+)$/.test(name) ? path : `${path}.${name}`);
  });
}
