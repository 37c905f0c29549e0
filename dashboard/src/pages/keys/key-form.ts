import type { Body } from "../../api/answer.ts";

type Scope = Body<"createApiKey">["scopes"][number];

export type KeyForm = { name: string; scopes: Record<Scope, boolean>; lasts: string };

export type RotateForm = { overlap: string; lasts: string };

export const SCOPES: readonly { scope: Scope; hint: string }[] = [
  { scope: "check", hint: "Ask whether something is available. Changes nothing." },
  { scope: "consume", hint: "Authorize and charge. Spends credits." },
  { scope: "events", hint: "Record usage. Moves no credits." },
];

export const LASTING = [
  { value: "", label: "For ever" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
];

export const OVERLAPS = [
  { value: "86400", label: "For a day" },
  { value: "3600", label: "For an hour" },
  { value: "604800", label: "For a week" },
  { value: "0", label: "Not at all: it ends at once" },
];

export function toKeyBody({ name, scopes, lasts }: KeyForm, now: number): Body<"createApiKey"> {
  return {
    name: name.trim(),
    scopes: SCOPES.filter(({ scope }) => scopes[scope]).map(({ scope }) => scope),
    ...endOf(lasts, now),
  };
}

export function toRotateBody({ overlap, lasts }: RotateForm, now: number): Body<"rotateApiKey"> {
  return { overlapSeconds: Number(overlap), ...endOf(lasts, now) };
}

const DAY_MS = 86_400_000;

/** The choice that a key was made with, as nearly as there is one: its successor lasts as long unless somebody says otherwise. */
export function lastingOf({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }): string {
  if (expiresAt === null) return "";
  const days = (Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS;
  const limited = LASTING.map(({ value }) => value).filter((value) => value !== "");
  return limited.reduce((best, value) =>
    Math.abs(Number(value) - days) < Math.abs(Number(best) - days) ? value : best,
  );
}

function endOf(lasts: string, now: number): { expiresAt?: string } {
  return lasts === "" ? {} : { expiresAt: new Date(now + Number(lasts) * DAY_MS).toISOString() };
}
