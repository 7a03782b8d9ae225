import fc from 'fast-check';
import { encodeFunctionData, keccak256 as general } from 'viem';
import { expect, test } from 'vitest';
import { tokenAbi } from '../../chain/abi.ts';
import { keccak256 } from '../../chain/keccak.ts';
import { authorizationStateCall, balanceOfCall, transferCall } from '../../chain/tokenCalls.ts';
import type { Hex } from '../../domain/payload.ts';

const hex = (minBytes: number, maxBytes = minBytes) =>
  fc.uint8Array({ minLength: minBytes, maxLength: maxBytes }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const transfer = fc.record({
  authorization: fc.record({
    ...{ from: hex(20), to: hex(20), value: word, validAfter: word, validBefore: word, nonce: hex(32) },
  }),
  signature: hex(0, 400),
});

test('hand-packed calls of the token are byte for byte what a general encoder makes', () => {
  fc.assert(
    fc.property(transfer, (item) => {
      const { authorization: a, signature } = item;
      const args = [a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, signature] as const;
      expect(transferCall(item)).toBe(encodeFunctionData({ abi: tokenAbi, functionName: 'transferWithAuthorization', args }));
      expect(authorizationStateCall(a.from, a.nonce)).toBe(
        encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args: [a.from, a.nonce] }),
      );
      expect(balanceOfCall(a.to)).toBe(encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [a.to] }));
    }),
  );
});

test('what would shift the words after it is refused, never packed', () => {
  const [address, nonce] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(64)}`] as const;
  const authorization = { from: address, to: address, value: 1n, validAfter: 0n, validBefore: 9n, nonce };
  const bad: Parameters<typeof transferCall>[0][] = [
    { authorization: { ...authorization, from: `${address}0` }, signature: '0x' },
    { authorization: { ...authorization, to: '0x' }, signature: '0x' },
    { authorization: { ...authorization, nonce: `0x${'b'.repeat(63)}` }, signature: '0x' },
    { authorization: { ...authorization, nonce: `0x${'g'.repeat(64)}` }, signature: '0x' },
    { authorization: { ...authorization, value: 2n ** 256n }, signature: '0x' },
    { authorization: { ...authorization, validAfter: -1n }, signature: '0x' },
    { authorization, signature: '0x123' },
    { authorization, signature: 'ff' as Hex },
  ];
  for (const item of bad) expect(() => transferCall(item)).toThrow(RangeError);
});

test('the hash is that of the library that everything else uses, for any bytes and views of them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_000 }), fc.nat({ max: 9 }), (bytes, from) => {
      const view = bytes.subarray(Math.min(from, bytes.length));
      expect(`0x${keccak256(view).toString('hex')}`).toBe(general(view));
    }),
  );
});
