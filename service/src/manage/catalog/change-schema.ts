import { Type } from "typebox";
import { nullable } from "../fields.ts";
import { expectedVersionField, Reach } from "./schema.ts";

const content = Type.Record(Type.String(), Type.Unknown());

const Change = Type.Object({
  noun: Type.Enum(["pool", "feature", "event_key", "plan", "default_plan"]),
  key: Type.String({ examples: ["pro"] }),
  change: Type.Enum(["create", "change", "archive", "unchanged"], {
    description: "`archive`: it is no longer offered, and may differ otherwise, too.",
  }),
  before: nullable({
    ...content,
    description:
      "As in a document, but that a plan's features carry what the plan has pinned. Null: there is none yet.",
  }),
  after: content,
});

const changes = Type.Array(Change, {
  description: "In the order in which they are made, the unchanged included.",
});

export const CatalogDiff = Type.Object({
  version: Type.Integer({
    description: "Of the catalog that was compared with. Send it as `expectedVersion` when you apply.",
    examples: [17],
  }),
  changes,
});

export const CatalogApplied = Type.Object({
  outcome: Type.Enum(["applied", "unchanged"]),
  version: Type.Integer({ description: "Of the catalog as it is now.", examples: [18] }),
  changes,
});

const archiveMissing = Type.Optional(
  Type.Boolean({
    description:
      "Whether plans and features that the document lacks are archived. Default: false. Pools and event keys never are.",
    examples: [false],
  }),
);

export const applyOptions = {
  reach: Reach,
  archiveMissing,
  expectedVersion: Type.Optional(expectedVersionField),
};

export const diffOptions = { ...applyOptions, reach: Type.Optional(Reach) };
