/** Which sessions are valid. A change of the settings ends the others at once, in every process that has the new settings. */
export type SessionRules = {
  readonly idleSeconds: number;
  /** The single sign-on provider. Sessions opened by any other provider are not valid. */
  readonly issuer: string | null;
  /** If single sign-on is required, the only owner who may log in with a password. Null if every member may. */
  readonly onlyLocalOwner: string | null;
};

/** SQL condition for valid sessions of `m`. The parameters are those of `ruleValues`. */
export function obeysRules(idleSeconds: string, issuer: string, onlyLocalOwner: string): string {
  return `s.expires_at > clock_timestamp()
    and s.last_used_at > clock_timestamp() - make_interval(secs => ${idleSeconds})
    and (
      s.issuer = ${issuer}::text
      or s.issuer is null
        and (${onlyLocalOwner}::text is null or m.email = ${onlyLocalOwner}::text and m.role = 'owner')
    )`;
}

export const ruleValues = ({ idleSeconds, issuer, onlyLocalOwner }: SessionRules) =>
  [idleSeconds, issuer, onlyLocalOwner] as const;
