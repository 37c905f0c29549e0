/** Who did it: a person, a management token, a command line, or the service by itself. */
export type Actor = {
  readonly kind: "member" | "token" | "command" | "system";
  readonly id: string | null;
  readonly requestId: string | null;
};
