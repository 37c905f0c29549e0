import swagger, { type SwaggerTransformObject } from "@fastify/swagger";
import type { FastifyInstance, FastifySchema } from "fastify";
import { type Document, nameSchemas } from "./name-schemas.ts";

declare module "fastify" {
  interface FastifyInstance {
    manageSwagger(): object;
  }
  interface FastifyContextConfig {
    /** The body schema in the OpenAPI document, if it differs from the validated schema. */
    describedBody?: object;
  }
}

const LICENSE = { name: "Apache-2.0", identifier: "Apache-2.0" };
const SERVERS = [{ url: "/", description: "This installation" }];
const MANAGE = "/manage/v1/";

/** Generates the OpenAPI documents. Must be registered before the routes, because it collects routes as they are added. */
export async function describeApi(
  app: FastifyInstance,
  { version, named }: { version: string; named: Readonly<Record<string, object>> },
): Promise<void> {
  const transformObject: SwaggerTransformObject = (described) =>
    complete("openapiObject" in described ? described.openapiObject : {}, named);
  await app.register(swagger, {
    transformObject,
    transform: ({ schema, url, route }) => {
      const body = route.config?.describedBody;
      return {
        schema: { ...hideIf(url.startsWith(MANAGE), schema), ...(body === undefined ? {} : { body }) },
        url,
      };
    },
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Purser runtime API",
        version,
        description:
          "Usage metering and prepaid credits alongside your billing system. Call it from your backend, never from a browser.",
        license: LICENSE,
      },
      servers: SERVERS,
      tags: [{ name: "Runtime", description: "Called by your product's backend." }],
      components: {
        securitySchemes: {
          apiKey: {
            type: "http",
            scheme: "bearer",
            description: "A project's API key: `pur_live_…` or `pur_test_…`.",
          },
        },
      },
    },
  });
  await app.register(swagger, {
    decorator: "manageSwagger",
    transformObject,
    transform: ({ schema, url }) => ({ schema: hideIf(!url.startsWith(MANAGE), schema), url }),
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Purser management API",
        version,
        description:
          "Everything your team can do in the dashboard. The dashboard uses this API, and so can your automation, such as a billing webhook handler.",
        license: LICENSE,
      },
      servers: SERVERS,
      components: {
        securitySchemes: {
          managementToken: {
            type: "http",
            scheme: "bearer",
            description:
              "A management token (`pur_mgmt_…`). The token has a role in one environment or in the whole workspace.",
          },
          session: {
            type: "apiKey",
            in: "cookie",
            name: "__Host-purser_session",
            description: "The dashboard's session cookie.",
          },
        },
      },
    },
  });
}

/** Both APIs share one server, but each document describes only one API. */
function hideIf(isHidden: boolean, schema: FastifySchema | undefined): FastifySchema {
  return isHidden ? { ...schema, hide: true } : (schema ?? {});
}

const HEADERS = {
  RequestId: {
    description: "Identifies the request in logs and in support requests.",
    schema: { type: "string", examples: ["req_01m7e9svgq8s3xk7vd8j1c2r5t"] },
  },
  IdempotentReplayed: {
    description: "`true` if this is the stored response to an earlier request. Otherwise absent.",
    schema: { type: "string", enum: ["true"] },
  },
  RetryAfter: {
    description: "Seconds to wait before a retry. May be absent.",
    schema: { type: "integer", examples: [1] },
  },
  RateLimit: {
    description: "Requests left in this second (`r`). Only for API keys with a rate limit.",
    schema: { type: "string", examples: ['"key-per-process";r=99;t=1'] },
  },
  RateLimitPolicy: {
    description: "Requests allowed per second (`q`). Only for API keys with a rate limit.",
    schema: { type: "string", examples: ['"key-per-process";q=100;w=1'] },
  },
} as const;

/** Operations that return a stored response to a repeated request. */
const REPLAYING = new Set(["consume", "recordEvent", "openHold", "settleHold", "releaseHold", "reverse"]);

type Header = keyof typeof HEADERS;

/** Adds names and response headers to a generated document. */
function complete(generated: object, named: Readonly<Record<string, object>>): object {
  // Works on a copy, because the plugin keeps the generated document and renders it more than once.
  const document = structuredClone(generated) as Document & { components: { headers?: object } };
  const used = new Set<Header>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { operationId, responses = {} } of Object.values(methods)) {
      const replays = REPLAYING.has(operationId ?? "");
      for (const [status, response] of Object.entries(responses)) {
        const isRuntime = !path.startsWith(MANAGE);
        const headers: Record<string, Header | null> = {
          "X-Request-Id": "RequestId",
          "Idempotent-Replayed": replays && status === "200" ? "IdempotentReplayed" : null,
          "Retry-After": status === "429" || status === "503" ? "RetryAfter" : null,
          RateLimit: isRuntime && (status === "200" || status === "429") ? "RateLimit" : null,
          "RateLimit-Policy": isRuntime && (status === "200" || status === "429") ? "RateLimitPolicy" : null,
        };
        const sent = Object.entries(headers).flatMap(([name, header]) =>
          header === null ? [] : [{ name, header }],
        );
        for (const { header } of sent) used.add(header);
        const references = sent.map(({ name, header }) => [name, { $ref: `#/components/headers/${header}` }]);
        Object.assign(response, { headers: Object.fromEntries(references) });
      }
    }
  }
  nameSchemas(document, named);
  document.components.headers = Object.fromEntries([...used].map((header) => [header, HEADERS[header]]));
  return document;
}
