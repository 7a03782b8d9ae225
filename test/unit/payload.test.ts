import { expect, test } from 'vitest';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { MAX_PAYMENT_BYTES, parsePayment } from '../../modules/kernel/x402/payload.ts';

const FROM = '0xAbCdEf0123456789aBcDeF0123456789abCDef01';
const TO = '0x1111111111111111111111111111111111111111';
const ASSET = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const NONCE = `0x${'Ab'.repeat(32)}`;
const SIGNATURE = `0x${'1c'.repeat(65)}`;

const authorization = { from: FROM, to: TO, value: '1000', validAfter: '0', validBefore: '1999999999', nonce: NONCE };
const payload = { signature: SIGNATURE, authorization };
const accepted = { scheme: 'exact', network: 'eip155:84532', amount: '1000', asset: ASSET, payTo: TO, extra: { name: 'USDC' } };
const v2 = { x402Version: 2, accepted, payload };
const v1 = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload };

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

test('a v2 payment is read with lower-case addresses and bigint amounts', () => {
  const parse = parsePayment(base64({ ...v2, accepted: { ...accepted, maxTimeoutSeconds: 300 } }));
  expect(parse).toEqual({
    ok: true,
    payment: {
      x402Version: 2,
      scheme: 'exact',
      network: 'eip155:84532',
      asset: ASSET.toLowerCase(),
      accepted: {
        scheme: 'exact',
        network: 'eip155:84532',
        amount: 1000n,
        asset: ASSET.toLowerCase(),
        payTo: TO,
        maxTimeoutSeconds: 300,
        extra: { name: 'USDC' },
      },
      authorization: {
        from: FROM.toLowerCase(),
        to: TO,
        value: 1000n,
        validAfter: 0n,
        validBefore: 1999999999n,
        nonce: NONCE.toLowerCase(),
      },
      signature: SIGNATURE,
      erc6492: false,
    },
  });
});

test('a v1 payment has no accepted terms and keeps its network name', () => {
  const parse = parsePayment(base64(v1));
  expect(parse).toMatchObject({ ok: true, payment: { x402Version: 1, network: 'base-sepolia' } });
  expect(parse.ok && 'accepted' in parse.payment).toBe(false);
});

test('base64, base64 without padding, base64url and raw JSON are the same payment, white space around them too', () => {
  const text = JSON.stringify({ ...v2, note: '>>>???~~~ü' });
  const standard = Buffer.from(text).toString('base64');
  const expected = parsePayment(text);
  expect(expected.ok).toBe(true);
  for (const form of [
    standard,
    standard.replace(/=+$/, ''),
    Buffer.from(text).toString('base64url'),
    ` ${text}\n`,
    `\t${standard} `,
  ]) {
    expect(parsePayment(form)).toEqual(expected);
  }
});

test('unknown members, a null extra and another order of keys change nothing', () => {
  const turned = { extra: 1, payload: { ...payload, more: [] }, accepted: { ...accepted, extra: null, x: {} }, x402Version: 2 };
  expect(parsePayment(JSON.stringify(turned))).toMatchObject({ ok: true, payment: { authorization: { value: 1000n } } });
});

test.each([
  ['empty text', ''],
  ['white space', '  \n '],
  ['not base64', '!!!!'],
  ['base64 of an impossible length', 'abcde'],
  ['base64 of bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe]).toString('base64')],
  ['not JSON', base64('x').slice(0, 2) + Buffer.from('{"a":').toString('base64')],
  ['cut JSON', '{"x402Version":2'],
  ['an array of payments', JSON.stringify([v2])],
  ['a base64 array', base64([v2])],
  ['an empty object', '{}'],
  ['null', base64(null)],
  ['version 3', JSON.stringify({ ...v2, x402Version: 3 })],
  ['version "2"', JSON.stringify({ ...v2, x402Version: '2' })],
  ['v2 without accepted', JSON.stringify({ x402Version: 2, payload })],
  ['accepted as an array', JSON.stringify({ ...v2, accepted: [accepted] })],
  ['an empty payload', JSON.stringify({ ...v2, payload: {} })],
  ['a permit2 payload', JSON.stringify({ ...v2, payload: { signature: SIGNATURE, permit2Authorization: {} } })],
  ['extra that is no object', JSON.stringify({ ...v2, accepted: { ...accepted, extra: 'x' } })],
  ['a negative timeout', JSON.stringify({ ...v2, accepted: { ...accepted, maxTimeoutSeconds: -1 } })],
  ['extensions that are no object', JSON.stringify({ ...v2, extensions: [] })],
])('%s is a malformed payment', (_, text) => {
  expect(parsePayment(text)).toMatchObject({ ok: false, reason: 'malformed_payment' });
});

test.each([
  ['from', '0x1234'],
  ['from', `${FROM}00`],
  ['to', 7],
  ['value', 'abc'],
  ['value', 1000],
  ['value', '-1'],
  ['value', '1e3'],
  ['value', '0x10'],
  ['value', ''],
  ['value', '9'.repeat(78)],
  ['value', '0'.repeat(79)],
  ['validAfter', '1.5'],
  ['validBefore', null],
  ['nonce', '0x12'],
  ['nonce', `${NONCE}00`],
])('an authorization whose %s is %j is malformed', (member, value) => {
  const text = JSON.stringify({ ...v2, payload: { ...payload, authorization: { ...authorization, [member]: value } } });
  expect(parsePayment(text)).toMatchObject({ ok: false, reason: 'malformed_payment' });
});

test.each([[''], ['0x'], ['0x123'], ['1c'.repeat(65)], [`0x${'zz'.repeat(65)}`], [`0x${'11'.repeat(1_537)}`], [null]])(
  'the signature %s is malformed',
  (signature) => {
    expect(parsePayment(JSON.stringify({ ...v1, payload: { ...payload, signature } }))).toMatchObject({ ok: false });
  },
);

test('a contract wallet may sign with up to 1,536 bytes', () => {
  const signature: Hex = `0x${'11'.repeat(1_536)}`;
  expect(parsePayment(JSON.stringify({ ...v1, payload: { ...payload, signature } }))).toMatchObject({
    ok: true,
    payment: { signature },
  });
});

test('the envelope of ERC-6492 is recognised', () => {
  const signature = `0x${'00'.repeat(96)}${'6492'.repeat(16)}`;
  expect(parsePayment(JSON.stringify({ ...v1, payload: { ...payload, signature } }))).toMatchObject({
    payment: { erc6492: true },
  });
});

test('another scheme and another family of chains are network_unsupported; a client set up for another scheme is told to change what it sends', () => {
  const upto = { ...v2, accepted: { ...accepted, scheme: 'upto' } };
  const solana = { ...v2, accepted: { ...accepted, network: 'solana:5eykt' }, payload: { transaction: 'x' } };
  expect(parsePayment(JSON.stringify(upto))).toMatchObject({
    ok: false,
    reason: 'network_unsupported',
    next: { action: 'fix_request' },
  });
  expect(parsePayment(JSON.stringify(solana))).toMatchObject({ ok: false, reason: 'network_unsupported' });
});

test('16 KiB are read, one byte more is refused, counted in bytes of UTF-8', () => {
  const fill = (size: number, letter: string) => {
    const bare = JSON.stringify({ ...v2, pad: '' });
    const room = size - Buffer.byteLength(bare);
    const width = Buffer.byteLength(letter);
    const pad = letter.repeat(Math.floor(room / width)) + 'a'.repeat(room % width);
    return bare.replace('"pad":""', `"pad":"${pad}"`);
  };
  expect(parsePayment(fill(MAX_PAYMENT_BYTES, 'x')).ok).toBe(true);
  expect(parsePayment(fill(MAX_PAYMENT_BYTES, 'ü')).ok).toBe(true);
  expect(parsePayment(fill(MAX_PAYMENT_BYTES + 1, 'x')).ok).toBe(false);
  expect(parsePayment(fill(MAX_PAYMENT_BYTES + 1, 'ü')).ok).toBe(false);
});

test('a depth of 16 is read and 17 refused; brackets inside texts do not count', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const withPad = (pad: string) => JSON.stringify({ ...v2, pad: 0 }).replace('"pad":0', `"pad":${pad}`);
  expect(parsePayment(withPad(nested(15))).ok).toBe(true);
  expect(parsePayment(withPad(nested(16))).ok).toBe(false);
  expect(parsePayment(withPad(JSON.stringify('[{"\\'.repeat(50)))).ok).toBe(true);
  expect(parsePayment('['.repeat(16_000)).ok).toBe(false);
});

test('__proto__ gives a payment nothing it does not hold itself', () => {
  const text = `{"x402Version":1,"scheme":"exact","network":"base","__proto__":{"payload":${JSON.stringify(payload)}}}`;
  expect(parsePayment(text)).toMatchObject({ ok: false });
  expect(parsePayment(JSON.stringify(v1).replace('{', '{"__proto__":{"x402Version":2},'))).toMatchObject({
    payment: { x402Version: 1 },
  });
  expect(({} as Record<string, unknown>)['x402Version']).toBeUndefined();
});

test('the payment identifier is read from its extension, and refused in another form', () => {
  const withId = (id: unknown) =>
    JSON.stringify({ ...v2, extensions: { 'payment-identifier': { info: { required: false, id }, schema: {} } } });
  expect(parsePayment(withId('pay_7d5d747be160e280'))).toMatchObject({ payment: { paymentIdentifier: 'pay_7d5d747be160e280' } });
  const echoed = parsePayment(JSON.stringify({ ...v2, extensions: { 'payment-identifier': { info: { required: false } } } }));
  expect(echoed.ok && echoed.payment.paymentIdentifier).toBeUndefined();
  const bare = parsePayment(JSON.stringify({ ...v2, extensions: { 'payment-identifier': { info: { required: true } } } }));
  expect([bare.ok && bare.payment.lacksIdentifier, echoed.ok && echoed.payment.lacksIdentifier]).toEqual([true, undefined]);
  for (const id of ['short', 'x'.repeat(129), 'has a space in it!', 1234567890123456]) {
    expect(parsePayment(withId(id))).toMatchObject({ ok: false, reason: 'malformed_payment' });
  }
});
