import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { onTestFinished } from "vitest";
import { CLIENT } from "./oidc.ts";

type Claims = Record<string, unknown>;
type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

export type ForgingProvider = {
  readonly issuer: string;
  /** Changes the claims of the next ID tokens. */
  forge: (claims: Claims) => Claims;
  /** Signs the next ID tokens. Null for an unsigned token. */
  signer: Keys["privateKey"] | null;
  /** Changes the metadata. */
  metadata: (metadata: Claims) => Claims;
  /** The nonce of the last authorization request. */
  nonce: string;
};

/**
 * A provider that issues wrong ID tokens, because a real provider cannot be made to. It redirects at once, and its user info endpoint
 * rejects every access token.
 */
export async function startForgingProvider(): Promise<ForgingProvider> {
  const keys = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(keys.publicKey)), alg: "RS256", use: "sig", kid: "one" };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", provider.issuer);
    const json = (body: unknown) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return json(
          provider.metadata({
            issuer: provider.issuer,
            authorization_endpoint: `${provider.issuer}/auth`,
            token_endpoint: `${provider.issuer}/token`,
            jwks_uri: `${provider.issuer}/jwks`,
            response_types_supported: ["code"],
            id_token_signing_alg_values_supported: ["RS256"],
          }),
        );
      case "/jwks":
        return json({ keys: [jwk] });
      case "/auth": {
        provider.nonce = url.searchParams.get("nonce") ?? "";
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        back.search = new URLSearchParams({
          code: "c",
          state: url.searchParams.get("state") ?? "",
        }).toString();
        return response.writeHead(302, { location: back.href }).end();
      }
      case "/token":
        return void issue(provider).then((idToken) =>
          json({ access_token: "a", token_type: "Bearer", expires_in: 60, id_token: idToken }),
        );
      case "/user-info":
        return response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
      default:
        return response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const provider: ForgingProvider = {
    issuer: `http://127.0.0.1:${port}`,
    forge: (claims) => claims,
    signer: keys.privateKey,
    metadata: (metadata) => metadata,
    nonce: "",
  };
  return provider;
}

async function issue({ issuer, forge, signer, nonce }: ForgingProvider): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const claims = forge({
    iss: issuer,
    aud: CLIENT.id,
    sub: "ada",
    iat: now,
    exp: now + 60,
    nonce,
    email: "ada@example.com",
    email_verified: true,
  });
  if (signer !== null)
    return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "one" }).sign(signer);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return `${encode({ alg: "none" })}.${encode(claims)}.`;
}
