/** A person's yes means what the person read: one licence, at one price; the address where all licences are bought says nothing of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../../../packages/agent/src/cli/run.ts';
import { AgentError, openWallet, payingFetch } from '../../../packages/agent/src/index.ts';
import type { LicenceOrder } from '../../../packages/agent/src/service/licences.ts';
import { buyLicence } from '../../../packages/agent/src/service/licences.ts';
import type { Service } from '../../../packages/agent/src/service/service.ts';

/** A key that everybody knows. */
const KEY = `0x${'11'.repeat(32)}` as const;
const SHOP = 'https://svc.example/_svc/licenses';
const ORDER: LicenceOrder = {
  host: 'news.example',
  scope: ['/articles/*'],
  terms: ['ai-input'],
  periodDays: 30,
  kind: 'read',
};

let folder: string;
let priceMicro: number;
let payments: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'approvals-'));
  writeFileSync(join(folder, 'envelope.json'), '{"total": "1", "approveAbove": "0.0001"}');
  priceMicro = 11_000;
  payments = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A service that signs anybody in and sells any licence at `priceMicro`. */
const send: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { pathname, host } = new URL(request.url);
  if (pathname.endsWith('/challenge')) return Response.json({ domain: host, message: `${host} wants you to sign in` });
  if (pathname.endsWith('/token')) return Response.json({ access_token: 'token' });
  if (request.headers.has('payment-signature')) {
    payments++;
    const settled = { success: true, transaction: '0x1', network: 'eip155:8453', payer: privateKeyToAccount(KEY).address };
    const headers = { 'payment-response': Buffer.from(JSON.stringify(settled)).toString('base64') };
    return Response.json({ jti: 'j' }, { headers });
  }
  const entry = {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: String(priceMicro),
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    payTo: `0x${'22'.repeat(20)}`,
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  };
  const offer = { x402Version: 2, resource: { url: request.url }, accepts: [entry], extensions: {} };
  const headers = { 'payment-required': Buffer.from(JSON.stringify(offer)).toString('base64') };
  return new Response('{}', { status: 402, headers });
};

/** What the purchase ends as: `bought`, or its failure. */
async function outcomeOf(order: LicenceOrder, url = 'https://svc.example'): Promise<'bought' | AgentError> {
  const service: Service = { url, send };
  return buyLicence(service, openWallet({ home: folder, privateKey: KEY }), order).then(
    () => 'bought',
    (error) => {
      if (error instanceof AgentError) return error;
      throw error;
    },
  );
}
const idOf = (outcome: 'bought' | AgentError): string => {
  expect(outcome).toMatchObject({ code: 'approval_required', details: { approvalId: expect.stringMatching(/^[0-9a-f]{32}$/) } });
  return String((outcome as AgentError).details['approvalId']);
};

/** Runs the command `approve` with a person who types `line`. */
async function approve(argv: readonly string[], line = 'yes') {
  let out = '';
  let err = '';
  let shownFirst = '';
  const code = await runCommand({
    argv: ['approve', ...argv],
    environment: { CONTENT_SETTLEMENT_HOME: folder, CONTENT_SETTLEMENT_KEY: KEY },
    write: (text) => {
      out += text;
    },
    complain: (text) => {
      err += text;
    },
    readInput: async () => '',
    readLine: async () => {
      shownFirst = out;
      return line;
    },
  });
  return { code, out, err, shownFirst };
}

test('a yes to the address where licences are bought buys none, and neither does a POST become the page of that address', async () => {
  expect((await approve([SHOP, '--max', '1'])).code).toBe(0);
  idOf(await outcomeOf(ORDER));
  const post = payingFetch({ home: folder, privateKey: KEY, send })(SHOP, { method: 'POST', body: 'anything' });
  await expect(post).rejects.toMatchObject({ code: 'approval_required' });
  expect(payments).toBe(0);
});

test('a refused licence names its id and all of its words; the person reads them before the yes, which is good once', async () => {
  const refused = await outcomeOf(ORDER);
  const id = idOf(refused);
  const words = 'licence at "news.example" for 30 days, kind read, terms ["ai-input"], scope ["/articles/*"]';
  expect((refused as AgentError).message).toContain(words);
  expect((refused as AgentError).message).toContain(`a person types: content-settlement-agent approve ${id}.`);
  for (const line of ['', 'no', 'y']) expect(await approve([id], line)).toMatchObject({ code: 3 });
  expect(idOf(await outcomeOf(ORDER))).toBe(id);
  const { code, shownFirst } = await approve([id]);
  expect([code, shownFirst]).toEqual([0, `${words}\nfrom ${SHOP}\nfor 0.011 USDC, once within a day\n`]);
  expect([await outcomeOf(ORDER), payments]).toEqual(['bought', 1]);
  const wallet = openWallet({ home: folder, privateKey: KEY });
  const another = buyLicence({ url: 'https://svc.example', send }, wallet, ORDER, { isAgain: true });
  await expect(another).rejects.toMatchObject({ code: 'approval_required' });
  expect(payments).toBe(1);
});

test.each<[string, Partial<LicenceOrder>]>([
  ['host', { host: 'evil.example' }],
  ['scope', { scope: ['/articles/*', '/archive/*'] }],
  ['terms', { terms: ['all'] }],
  ['days', { periodDays: 1 }],
  ['kind', { kind: 'citation' }],
])('a yes for one licence does not buy one of another %s, and stays good for its own', async (_member, swap) => {
  expect((await approve([idOf(await outcomeOf(ORDER))])).code).toBe(0);
  idOf(await outcomeOf({ ...ORDER, ...swap }));
  expect(payments).toBe(0);
  expect(await outcomeOf(ORDER)).toBe('bought');
});

test.each([10_999, 11_001])('a yes for 11,000 micro-USDC does not buy the same licence at %i', async (otherMicro) => {
  expect((await approve([idOf(await outcomeOf(ORDER))])).code).toBe(0);
  priceMicro = otherMicro;
  idOf(await outcomeOf(ORDER));
  expect(payments).toBe(0);
});

test('a yes for a licence of one service does not buy it of another', async () => {
  expect((await approve([idOf(await outcomeOf(ORDER))])).code).toBe(0);
  idOf(await outcomeOf(ORDER, 'https://other.example'));
  expect(payments).toBe(0);
});

test('an id that nobody was asked under, and a price beside an id, are refused with the next step', async () => {
  expect(await approve(['ab'.repeat(16)])).toMatchObject({ code: 2, err: expect.stringContaining('Copy it from the refusal') });
  const id = idOf(await outcomeOf(ORDER));
  expect(await approve([id, '--max', '1'])).toMatchObject({ code: 2, err: expect.stringContaining('takes no --max') });
});

test('letters that turn a line around or move the cursor are shown as their numbers', async () => {
  const id = idOf(await outcomeOf({ ...ORDER, host: 'news.example\u202e', scope: ['/a\u001b[2J', '/😀'] }));
  const { out } = await approve([id]);
  expect(out).toContain('"news.example\\u{202e}"');
  expect(out).toMatch(/^[\n\x20-\x7e]+$/);
});
