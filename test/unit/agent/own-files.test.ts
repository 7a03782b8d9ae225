/** Files of the buyer's tool that decide about money are their owner's alone. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readEnvelope } from '../../../packages/agent/src/envelope/file.ts';
import { makeKeyFile } from '../../../packages/agent/src/keys.ts';
import { openLedger } from '../../../packages/agent/src/ledger/file.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'own-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;
const hold = (path: string) => openLedger(path).hold(async () => undefined);

test.each(['644', '640', '664', '604'])('an envelope and a ledger of mode %s that were there become 0600', async (octal) => {
  const mode = Number.parseInt(octal, 8);
  const [envelope, ledger] = [join(home, 'envelope.json'), join(home, 'ledger.jsonl')];
  writeFileSync(envelope, JSON.stringify({ total: '1' }));
  writeFileSync(ledger, '');
  for (const path of [envelope, ledger]) chmodSync(path, mode);
  readEnvelope(envelope);
  await hold(ledger);
  expect([modeOf(envelope), modeOf(ledger)]).toEqual([0o600, 0o600]);
});

test.each(['666', '602', '646'])(
  'an envelope or a ledger of mode %s, which anybody may have written, buys nothing',
  async (octal) => {
    const mode = Number.parseInt(octal, 8);
    const path = join(home, 'file');
    writeFileSync(path, '');
    chmodSync(path, mode);
    const says = expect.stringContaining(`chmod 600 ${path}`);
    expect(() => readEnvelope(path)).toThrow(expect.objectContaining({ code: 'envelope_unreadable', message: says }));
    await expect(hold(path)).rejects.toMatchObject({ code: 'ledger_unreadable', message: says });
    expect(modeOf(path)).toBe(mode);
  },
);

test('the folder of a ledger or of a new key becomes 0700, also where it was open to others', async () => {
  for (const [name, use] of [
    ['a', (path: string) => hold(path)],
    ['b', async (path: string) => makeKeyFile(path)],
  ] as const) {
    const folder = join(home, name);
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    await use(join(folder, 'file'));
    expect([modeOf(folder), modeOf(join(folder, 'file'))]).toEqual([0o700, 0o600]);
  }
});
