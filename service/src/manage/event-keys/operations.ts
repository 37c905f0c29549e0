import { Type } from "typebox";
import { pageByKey } from "../catalog/page-by-key.ts";
import { eventKeyField, STRICT, unitField } from "../catalog/schema.ts";
import { nameField, nullable } from "../fields.ts";
import { describeWindow, historyStartOf, windowAnswer } from "../history-window.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  placeOf,
} from "../operation.ts";
import { pageOf, pageQuery } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { EventKey, listEventKeys, SEEN } from "./list-event-keys.ts";
import { nameEventKey } from "./name-event-key.ts";

const NOUN = "Event keys";
const count = (value: number): string => value.toLocaleString("en");

/** What usage events are called. Any key is taken without a definition; a name is for people. */
export function eventKeyOperations({ control, cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/event-keys`,
      access: { role: "viewer", in: "environment" },
      id: "listEventKeys",
      noun: NOUN,
      summary: "List the event keys",
      description:
        "By key: those that were named, and those that were seen lately, named or not. Lately means among the newest " +
        `${count(SEEN.eventsMax)} events of the environment, as far as they are among the newest ${count(SEEN.rowsMax)} of the ` +
        "whole database and not older than 35 days; what came before is not looked at.",
      params: Type.Object(environmentParams),
      query: Type.Object(
        {
          ...pageQuery,
          named: Type.Optional(
            Type.Enum(["true", "false"], { description: "Only those that have a name, or have none." }),
          ),
        },
        STRICT,
      ),
      answer: Type.Object({ ...pageOf(EventKey).properties, ...windowAnswer }),
      codes: [],
      handle: async (call) => {
        const { cell, environmentId } = placeOf(call);
        const { named } = call.query;
        const start = await historyStartOf(control, call);
        const keys = await listEventKeys(cellOf(cell), environmentId, start);
        const wanted = keys.filter(
          ({ name }) => named === undefined || (name !== null) === (named === "true"),
        );
        return { ...pageByKey(wanted, call.query), ...describeWindow(start) };
      },
    }),
    operation({
      method: "PUT",
      path: `${ENVIRONMENT_PATH}/event-keys/:key`,
      access: { role: "admin", in: "environment" },
      id: "putEventKey",
      noun: NOUN,
      summary: "Name an event key",
      description:
        "Safe to repeat. Any key that an event may have can be named, before or after the first one came.",
      params: Type.Object({ ...environmentParams, key: eventKeyField }),
      body: Type.Object({ name: nameField, unit: Type.Optional(unitField) }, STRICT),
      answer: Type.Object({
        key: Type.String({ examples: ["tokens.used"] }),
        name: Type.String({ examples: ["Tokens used"] }),
        unit: nullable(Type.String({ examples: ["token"] })),
      }),
      codes: ["catalog_too_large"],
      handle: async (call) => {
        const { name, unit = null } = call.body;
        const named = { key: call.params.key, name, unit };
        await nameEventKey(cellOf(placeOf(call).cell), contextOf(call), named);
        return named;
      },
    }),
  ];
}
