/** Ordinary mistakes at the buyer's tool: each sentence says what to do next. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readOrder } from '../../../packages/agent/src/cli/options.ts';
import { decide } from '../../../packages/agent/src/envelope/decide.ts';
import { DEFAULT_ENVELOPE, parseEnvelope } from '../../../packages/agent/src/envelope/envelope.ts';
import { signerOf, signerOfFile } from '../../../packages/agent/src/keys.ts';
import { addressOf } from '../../../packages/agent/src/paying/purchase.ts';

test('a folder where the key file belongs is named, and no mode is asked for', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'mistake-')), 'key');
  onTestFinished(() => rmSync(join(path, '..'), { recursive: true, force: true }));
  mkdirSync(path, { mode: 0o755 });
  expect(() => signerOfFile(path)).toThrow(
    expect.objectContaining({ code: 'key_unreadable', message: expect.stringMatching(/is no file\. .*key new/) }),
  );
});

test.each([
  ['a key that is cut short', () => signerOf('0x12'), /0x and 64 digits.*key new/],
  ['an address without a scheme', () => addressOf('news.example/articles/trio'), /https:\/\/news\.example/],
  ['a command without its address', () => readOrder(['read']), /exactly one word\. See .*--help/],
  ['a command with a word too many', () => readOrder(['spending', 'today']), /nothing but options/],
  ['a list without anything in it', () => readOrder(['quote']), /from 1 to 1000 words/],
])('%s', (_what, mistaken, says) => {
  expect(mistaken).toThrow(says);
});

test('a limit that is misspelt or no text is told with the names that there are', () => {
  expect(parseEnvelope('{"totl": "1"}')).toMatch(
    /total must be a decimal amount of USDC in quotes.*totl.*members are period, total, perHost/,
  );
  expect(parseEnvelope('{"total": 1}')).toMatch(/total must be a decimal amount of USDC in quotes/);
});

test('a price that waits for a person names what the person types, and a stop who ends it', () => {
  const ask = { host: 'news.example', amountMicro: 30_000n, maxMicro: null, isApproved: false };
  const spent = { totalMicro: 0n, hostMicro: 0n };
  expect(decide({ ...DEFAULT_ENVELOPE, approveAboveMicro: 20_000n }, spent, ask)).toMatchObject({
    says: expect.stringContaining('a person types: content-settlement-agent approve URL --max 0.03'),
  });
  expect(decide({ ...DEFAULT_ENVELOPE, stop: true }, spent, ask)).toMatchObject({ says: expect.stringContaining('its owner') });
});
