type Json = Readonly<Record<string, unknown>>;
type Content = Record<string, { schema?: Json }>;
type Described = {
  operationId?: string;
  requestBody?: { content?: Content };
  responses?: Record<string, { description?: string; content?: Content }>;
};
/** The parts of an OpenAPI document that contain schemas. */
export type Document = {
  paths: Record<string, Record<string, Described>>;
  components: { schemas?: Record<string, unknown> };
};

const JSON_TYPE = "application/json";
const PROBLEM_TYPE = "application/problem+json";

/**
 * Moves schemas to `components.schemas`, so that generated clients have named types. A schema gets the name of the
 * equivalent schema in `named`. Otherwise, it is named after its operation, such as `ConsumeRequest`. Changes the document in place.
 */
export function nameSchemas(document: Document, named: Readonly<Record<string, object>>): void {
  const names = new Map(Object.entries(named).map(([name, schema]) => [formOf(schema), name]));
  const components: Record<string, Json> = {};
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const { operationId = "", requestBody, responses } of operations) {
    const name = operationId.charAt(0).toUpperCase() + operationId.slice(1);
    const bodies = [
      [`${name}Request`, requestBody?.content?.[JSON_TYPE]],
      [`${name}Response`, responses?.["200"]?.content?.[JSON_TYPE]],
    ] as const;
    for (const [title, media] of bodies) {
      if (media?.schema === undefined) continue;
      // Fastify copies the response's description into its schema.
      const { description, ...bare } = media.schema;
      if (description === responses?.["200"]?.description) media.schema = bare;
      // An optional body is an object or null, and only the object gets the name. With several objects, the whole schema gets the
      // name.
      const alternatives = (media.schema["anyOf"] ?? []) as Json[];
      const objects = [media.schema, ...alternatives].filter((part) => part["properties"] !== undefined);
      const object = objects.length > 1 ? media.schema : objects[0];
      const form = object === undefined ? null : formOf(object);
      if (form !== null && !names.has(form)) names.set(form, title);
      media.schema = refer(media.schema, names, components);
    }
    for (const { content } of Object.values(responses ?? {})) {
      const media = content?.[PROBLEM_TYPE];
      if (media?.schema !== undefined) media.schema = referToProblem(media.schema, components);
    }
  }
  document.components.schemas = Object.fromEntries(
    Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Replaces the named parts of a schema with references, or the whole schema if it has a name. */
function refer(schema: Json, names: ReadonlyMap<string, string>, components: Record<string, Json>): Json {
  const name = names.get(formOf(schema));
  const inside = mapParts(schema, (part) => refer(part, names, components));
  if (name === undefined) return inside;
  components[name] ??= inside;
  const { description } = schema;
  const ref = { $ref: `#/components/schemas/${name}` };
  return description === components[name]["description"] ? ref : { ...ref, description };
}

/** `Problem` has the fields that all errors share. Each response adds its status, its codes and its own fields. */
function referToProblem(schema: Json, components: Record<string, Json>): Json {
  const { status, code, type, title, detail, requestId, ...more } = schema["properties"] as Record<
    string,
    Json
  >;
  const { description } = code ?? {};
  components["Problem"] ??= {
    type: "object",
    required: ["type", "title", "status", "detail", "code", "requestId"],
    properties: {
      ...{ type, title, status: { type: "integer" }, detail },
      ...{ code: { type: "string", description }, requestId },
    },
  };
  const { errors } = more;
  if (errors !== undefined) {
    components["FieldError"] ??= errors["items"] as Json;
    more["errors"] = { ...errors, items: { $ref: "#/components/schemas/FieldError" } };
  }
  const required = ["status", "code", ...(schema["required"] as string[]).filter((field) => field in more)];
  const own = { type: "object", required, properties: { status, code, ...more } };
  return { allOf: [{ $ref: "#/components/schemas/Problem" }, own] };
}

/** Maps the schemas inside a schema: fields, items and alternatives. */
function mapParts(schema: Json, map: (part: Json) => Json): Json {
  const mapAll = (parts: unknown): unknown =>
    Object.fromEntries(
      Object.entries(parts as Record<string, Json>).map(([name, part]) => [name, map(part)]),
    );
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === "properties") return [key, mapAll(value)];
      if (key === "anyOf" || key === "allOf" || key === "oneOf") return [key, (value as Json[]).map(map)];
      const isSchema = (key === "items" || key === "additionalProperties") && typeof value === "object";
      return [key, isSchema && value !== null ? map(value as Json) : value];
    }),
  );
}

/** Returns the same string for schemas that accept the same values, even if their descriptions differ. */
function formOf(schema: object): string {
  const plain = (part: Json): Json => {
    const { description: _, examples: __, const: literal, patternProperties: patterns, ...rest } = part;
    // Matches how @fastify/swagger renders these keywords.
    const rendered = {
      ...rest,
      ...(literal === undefined ? {} : { enum: [literal] }),
      ...(patterns === undefined ? {} : { additionalProperties: Object.values(patterns as Json)[0] }),
    };
    const whole = mapParts(rendered, plain);
    return Object.fromEntries(Object.entries(whole).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return JSON.stringify(plain(JSON.parse(JSON.stringify(schema))));
}
