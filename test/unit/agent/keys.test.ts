/** The key of the buyer's tool: its owner's alone, and in nobody's sentence. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeKeyFile, signerOf, signerOfFile } from '../../../packages/agent/src/keys.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'key-'));
  path = join(folder, 'deeper', 'key');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a new key is told to nobody, belongs to its owner alone, and is never written over', () => {
  const address = makeKeyFile(path);
  expect([address, statSync(path).mode & 0o777]).toEqual([signerOfFile(path).address, 0o600]);
  const text = readFileSync(path, 'utf8');
  expect(() => makeKeyFile(path)).toThrow(expect.objectContaining({ code: 'key_unreadable' }));
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test.each(['640', '604', '660', '644', '620'])('a key file of mode %s is refused', (mode) => {
  makeKeyFile(path);
  chmodSync(path, Number.parseInt(mode, 8));
  expect(() => signerOfFile(path)).toThrow(
    expect.objectContaining({ code: 'key_unreadable', message: expect.stringContaining('chmod 600') }),
  );
});

test.each([
  ['too short', 'ab'.repeat(31)],
  ['no hex', 'zz'.repeat(32)],
  ['nothing', '0'.repeat(64)],
  ['more than the curve has', 'f'.repeat(64)],
  ['two of them', `${'ab'.repeat(32)} ${'cd'.repeat(32)}`],
])('what is no key (%s) is refused without a word of it', (_what, text) => {
  let said: unknown;
  try {
    signerOf(text);
  } catch (error) {
    said = error;
  }
  expect(said).toMatchObject({ code: 'key_unreadable' });
  const { message, stack, cause } = said as Error;
  expect(`${message}${stack}${String(cause)}`).not.toContain(text.slice(0, 20));
});

test('a file that is not there names the command that makes it', () => {
  expect(() => signerOfFile(path)).toThrow(
    expect.objectContaining({ code: 'no_key', message: expect.stringContaining('key new') }),
  );
  makeKeyFile(path);
  writeFileSync(path, 'nonsense');
  expect(() => signerOfFile(path)).toThrow(expect.objectContaining({ code: 'key_unreadable' }));
});
