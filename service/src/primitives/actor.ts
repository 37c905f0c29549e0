/** The author of a change: a person, a management token, a command, or the service itself. */
export type Actor = {
  readonly kind: "member" | "token" | "command" | "system";
  readonly id: string | null;
  readonly requestId: string | null;
};
