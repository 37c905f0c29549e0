import swagger from "@fastify/swagger";
import type { FastifyInstance, FastifySchema } from "fastify";

declare module "fastify" {
  interface FastifyInstance {
    manageSwagger(): object;
  }
}

const LICENSE = { name: "Apache-2.0", identifier: "Apache-2.0" };
const SERVERS = [{ url: "/", description: "This installation" }];
const MANAGE = "/manage/v1/";

/** Must be registered before the routes, so that it sees them. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    transform: ({ schema, url }) => ({ schema: hideIf(url.startsWith(MANAGE), schema), url }),
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Purser runtime API",
        version,
        description:
          "Usage metering and credit entitlements next to your own billing system. Call it from your backend, never from a browser.",
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
    transform: ({ schema, url }) => ({ schema: hideIf(!url.startsWith(MANAGE), schema), url }),
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Purser management API",
        version,
        description:
          "Everything an operator can do. The dashboard uses this API, and so can your automation, such as a billing webhook handler.",
        license: LICENSE,
      },
      servers: SERVERS,
      components: {
        securitySchemes: {
          managementToken: {
            type: "http",
            scheme: "bearer",
            description:
              "A management token, `pur_mgmt_…`: a role in one environment or in the whole workspace.",
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

/** Both APIs share one server; each document describes one of them. */
function hideIf(isHidden: boolean, schema: FastifySchema | undefined): FastifySchema {
  return isHidden ? { ...schema, hide: true } : (schema ?? {});
}
