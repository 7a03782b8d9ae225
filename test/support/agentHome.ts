/** A machine of a buyer: a folder with its key, its limits and its ledger. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** The folder, and what lies in it. */
export interface AgentHome {
  readonly folder: string;
  readonly privateKey: `0x${string}`;
  readonly account: PrivateKeyAccount;
  /** Writes the envelope, as its owner does by hand. */
  limit(envelope: Readonly<Record<string, string | boolean>>): void;
  /** Lines of the ledger. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  ledgerText(): string;
  remove(): void;
}

/** Makes a folder with a new key in it. */
export function newAgentHome(): AgentHome {
  const folder = mkdtempSync(join(tmpdir(), 'agent-'));
  const privateKey = generatePrivateKey();
  writeFileSync(join(folder, 'key'), `${privateKey}\n`, { mode: 0o600 });
  const ledgerText = (): string => readFileSync(join(folder, 'ledger.jsonl'), 'utf8');
  return {
    folder,
    privateKey,
    account: privateKeyToAccount(privateKey),
    limit: (envelope) => writeFileSync(join(folder, 'envelope.json'), JSON.stringify(envelope)),
    ledgerText,
    lines: () =>
      ledgerText()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
