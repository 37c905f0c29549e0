const ASKED = ["add-credits", "assign-plan", "unblock"] as const;

/** What a link from another page wants done here: its dialog is open when the page is there. */
export type AskedFor = (typeof ASKED)[number];

export function readAskedFor(search: Record<string, unknown>): { do?: AskedFor } {
  const asked = ASKED.find((known) => known === search["do"]);
  return asked === undefined ? {} : { do: asked };
}
