import { TextLink } from "../../ui/link.tsx";
import type { Entry } from "./entry.ts";
import { type Piece, tellWhat } from "./sentences.ts";

/** "Olga Owner added 500 credits to ada". */
export function Sentence({ entry }: { entry: Entry }) {
  return (
    <span className="wrap-anywhere">
      <span className="font-medium">{nameOfActor(entry)}</span>{" "}
      {tellWhat(entry).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sentence does not change its order
        <Part key={index} piece={piece} entry={entry} />
      ))}
    </span>
  );
}

export function sentenceText(entry: Entry): string {
  const what = tellWhat(entry).map(({ kind, text }) => (kind === "customer" ? nameOfCustomer(entry) : text));
  return `${nameOfActor(entry)} ${what.join("")}`;
}

export function nameOfActor({ actor: { kind, id, name } }: Entry): string {
  const known = name ?? id;
  switch (kind) {
    case "member":
      return known ?? "Somebody";
    case "token":
      return known === null ? "A token" : `Token ${known}`;
    case "command":
      return known === null ? "A command" : `Command ${known}`;
    case "system":
      return "Purser itself";
  }
}

function nameOfCustomer({ customerId }: Entry): string {
  return customerId ?? "an erased customer";
}

function Customer({ entry }: { entry: Entry }) {
  const { projectId, environment, customerId } = entry;
  if (projectId === null || environment === null || customerId === null) return nameOfCustomer(entry);
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId"
      params={{ projectId, environment, customerId }}
    >
      {customerId}
    </TextLink>
  );
}

function Part({ piece: { kind, text }, entry }: { piece: Piece; entry: Entry }) {
  if (kind === "customer") return <Customer entry={entry} />;
  return kind === "strong" ? <span className="font-medium">{text}</span> : text;
}
