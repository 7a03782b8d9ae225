import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { createServiceSecrets, newPrivateKey } from '../process/serviceSecrets.ts';

const hex32 = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)]);

/** What the service's processes run with. */
const serviceSecrets = {
  apiKeyPepper: z.string().min(32),
  quoteTokenSecret: z.string().min(32),
  /** 32 bytes in base64url. */
  secretsKey: z.string().length(43),
  licenceKey: z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string() }),
  relayerPrivateKey: hex32,
};

const sandboxSecrets = z.object({
  ...serviceSecrets,
  buyerPrivateKeys: z.object({ buyer: hex32, otherBuyer: hex32 }),
  /** Every credential we hand out, by a name of our own. */
  tokens: z.record(z.string(), z.string()),
  /** The sink's endpoint and its secret, which the service shows once. */
  webhook: z.object({ endpointId: z.string(), secret: z.string() }).nullable(),
});

/** Everything secret of one sandbox; the same after a restart. */
export type SandboxSecrets = z.infer<typeof sandboxSecrets>;

/** The secrets of an earlier run; null when there are none, or none that this version can read. */
export function findSecrets(file: string): SandboxSecrets | null {
  try {
    return sandboxSecrets.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

/** The sandbox's secrets: those of `file`, or new ones, stored there (mode 0600). */
export function openSecrets(file: string): SandboxSecrets {
  const kept = findSecrets(file);
  if (kept !== null) return kept;
  const buyerPrivateKeys = { buyer: newPrivateKey(), otherBuyer: newPrivateKey() };
  const secrets = { ...createServiceSecrets(), buyerPrivateKeys, tokens: {}, webhook: null };
  writePrivateJson(file, secrets);
  return secrets;
}

/** Writes JSON that only its owner may read, whole or not at all. */
export function writePrivateJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.part`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
