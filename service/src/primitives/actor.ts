/** The author of a change: a person, a management token, an API key, a command, or the service itself. */
export type Actor = {
  readonly kind: "member" | "token" | "api_key" | "command" | "system";
  readonly id: string | null;
  readonly requestId: string | null;
};
