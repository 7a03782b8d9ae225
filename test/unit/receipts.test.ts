import { expect, test } from 'vitest';
import { pageOf } from '../../api/receipts/page.ts';
import { didDocument, didOf, publicResourceOf, resourceOf } from '../../modules/kernel/receipt.ts';
import type { RecordFacts } from '../../modules/receipts/rules/record.ts';
import { recordOf, termsText } from '../../modules/receipts/rules/record.ts';

const OURS = 'https://svc.example';
const resource = 'https://news.example/a%20b?reader=ann%40example.com#top';
const [A, B] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const;
const HOSTILE = '<script>"\'&';

const sold: RecordFacts['sold'] = {
  host: 'news.example',
  resourceUrl: 'https://news.example/a',
  kind: 'read',
  amountMicro: 1_000n,
  network: 'eip155:8453',
  asset: A,
  payTo: B,
  legs: [{ toAddress: B, amountMicro: 1_000n }],
  licence: null,
};
const facts: RecordFacts = {
  receipt: { version: 1, network: 'eip155:8453', resourceUrl: sold.resourceUrl, payer: A, issuedAt: 1, transaction: '0x1' },
  id: 'id',
  url: `${OURS}/_svc/receipts/id`,
  isFinal: false,
  sold,
  transfers: [],
  domain: null,
  answer: {
    body: null,
    bodyAgain: { sha256: HOSTILE, bytes: 1 },
    isTold: true,
    outcome: 'lost',
    lostAtMs: 1,
    servedAgain: 2,
    held: { sha256: HOSTILE, signature: HOSTILE, atMs: 1 },
  },
  authorization: { from: A, to: B, value: 1_000n, validAfter: 0n, validBefore: 2n ** 256n - 1n, nonce: '0x2', signature: '0x3' },
};

test('a receipt names the address that was priced; everybody sees it without query and fragment', () => {
  const page = { purpose: 'page', resource } as const;
  expect([resourceOf(page, OURS), publicResourceOf(page, OURS)]).toEqual([resource, 'https://news.example/a%20b']);
  const licence = { purpose: 'licence', resource: 'https://news.example/' } as const;
  expect(publicResourceOf(licence, OURS)).toBe('https://svc.example/_svc/licenses');
});

test('a did is of the host, with its port where it has one, and its document lists the keys under it', () => {
  expect([didOf('https://news.example/a'), didOf('http://127.0.0.1:8404')]).toEqual([
    'did:web:news.example',
    'did:web:127.0.0.1%3A8404',
  ]);
  expect(didDocument('did:web:news.example', [{ kid: 'k1' }])).toMatchObject({
    id: 'did:web:news.example',
    verificationMethod: [{ id: 'did:web:news.example#k1', controller: 'did:web:news.example', publicKeyJwk: { kid: 'k1' } }],
    assertionMethod: ['did:web:news.example#k1'],
  });
});

test('the text of the terms is fixed, byte for byte: what was sold once keeps its hash', () => {
  expect(termsText(sold)).toBe(
    `{"version":1,"sells":"page","host":"news.example","resourceUrl":"https://news.example/a","kind":"read","amountMicro":1000,"currency":"USDC","network":"eip155:8453","asset":"${A}","payTo":"${B}","legs":[{"toAddress":"${B}","amountMicro":1000}]}`,
  );
  const licence = { patterns: ['/a/*'], terms: ['ai-input'], fromMs: 0, untilMs: 86_400_000 };
  expect(JSON.parse(termsText({ ...sold, licence }))).toMatchObject({
    sells: 'licence',
    patterns: ['/a/*'],
    terms: ['ai-input'],
    from: '1970-01-01T00:00:00.000Z',
    until: '1970-01-02T00:00:00.000Z',
  });
});

test('whatever stands in a record is text on its page, and an address that is no http address is no link', () => {
  const record = recordOf(facts, () => HOSTILE);
  const resourceUrl = `javascript:alert(1)//${HOSTILE}`;
  const hostile = { ...record, resourceUrl, host: HOSTILE, payer: HOSTILE as never, domain: { name: HOSTILE, version: HOSTILE } };
  const html = pageOf({ ...hostile, body: { sha256: HOSTILE, bytes: 1 } } as never);
  expect([html.includes('<script'), html.includes('href="javascript'), html.includes('for ever')]).toEqual([false, false, true]);
  expect(html.match(/href="[^"]*"/g)).toEqual([
    'href="https://svc.example/_svc/receipts/id?format=json"',
    'href="https://svc.example/_svc/receipts/id?format=jws"',
  ]);
});
