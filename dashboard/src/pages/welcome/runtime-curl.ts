/** Where a key goes that this page does not know. */
export const KEY_VARIABLE = "$PURSER_KEY";

/** A call of the runtime API, for a shell, to the very address this page came from. */
export function runtimeCurl(
  path: "/v1/events" | "/v1/consume",
  secret: string | null,
  body: Record<string, string | number>,
): string {
  return [
    `curl ${window.location.origin}${path}`,
    `-H "Authorization: Bearer ${secret ?? KEY_VARIABLE}"`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
  ].join(" \\\n  ");
}
