import type { Item } from "../../../api/answer.ts";

export type Entry = Item<"listAudit">;

type Fields = Entry["after"];

/** What an entry says under a name; before and after have no fixed form, since each action has its own. */
export function textIn(fields: Fields, name: string): string | null {
  const value = fields?.[name];
  return typeof value === "string" ? value : null;
}

export function countIn(fields: Fields, name: string): number | null {
  const value = fields?.[name];
  return typeof value === "number" ? value : null;
}

export function listIn(fields: Fields, name: string): string[] {
  const value = fields?.[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
