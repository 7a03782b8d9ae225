import fc from 'fast-check';
import { encodeFunctionData, encodeFunctionResult, keccak256 as general } from 'viem';
import { expect, test } from 'vitest';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { multicall3Abi, routerAbi, tokenAbi } from '../../platform/chain/calls/abi.ts';
import { keccak256 } from '../../platform/chain/calls/keccak.ts';
import { aggregateCall, resultsOf } from '../../platform/chain/calls/multicall.ts';
import { authorizationStateCall, balanceOfCall, transferCall } from '../../platform/chain/calls/tokenCalls.ts';
import { numberWord } from '../../platform/chain/calls/words.ts';
import type { RouterGroup } from '../../platform/chain/router/routerCalls.ts';
import { settleBatchCall, settleGroupCall } from '../../platform/chain/router/routerCalls.ts';

const hex = (minBytes: number, maxBytes = minBytes) =>
  fc.uint8Array({ minLength: minBytes, maxLength: maxBytes }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const transfer = fc.record({
  authorization: fc.record({ from: hex(20), to: hex(20), value: word, validAfter: word, validBefore: word, nonce: hex(32) }),
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

const group = fc.record({
  token: hex(20),
  authGas: word,
  legs: fc.array(hex(32), { maxLength: 4 }),
  auths: fc.array(transfer, { maxLength: 4 }),
});
/** The same group as the general encoder wants it. */
const general3009 = ({ auths, ...rest }: RouterGroup) => ({
  ...rest,
  auths: auths.map(({ authorization: { to: _, ...authorization }, signature }) => ({ ...authorization, signature })),
});

test('hand-packed calls of the router are byte for byte what a general encoder makes', () => {
  fc.assert(
    fc.property(fc.array(group, { maxLength: 4 }), fc.array(word, { maxLength: 4 }), (groups, gas) => {
      const args = [groups.map(general3009), gas] as const;
      expect(settleBatchCall(groups, gas)).toBe(encodeFunctionData({ abi: routerAbi, functionName: 'settleBatch', args }));
      for (const [index, one] of groups.entries()) {
        const alone = [BigInt(index), general3009(one)] as const;
        expect(settleGroupCall(index, one)).toBe(
          encodeFunctionData({ abi: routerAbi, functionName: 'settleGroup', args: alone }),
        );
      }
    }),
  );
});

const results = fc.array(fc.record({ success: fc.boolean(), returnData: hex(0, 100) }), { maxLength: 6 });

test('hand-packed aggregates are those of a general encoder, their answers are read alike, and what is cut short is no answer', () => {
  const [abi, functionName] = [multicall3Abi, 'aggregate3'] as const;
  fc.assert(
    fc.property(fc.array(fc.record({ target: hex(20), callData: hex(0, 100) })), results, fc.nat(), (calls, answers, cut) => {
      const args = [calls.map((call) => ({ ...call, allowFailure: true }))] as const;
      expect(aggregateCall(calls)).toBe(encodeFunctionData({ abi, functionName, args }));
      const answer = encodeFunctionResult({ abi, functionName, result: answers });
      expect(resultsOf(answer)).toEqual(answers);
      const whole = answers.length === 0 ? 130 : 2 + 2 * Math.floor((cut % answer.length) / 2);
      const short = resultsOf(answer.slice(0, whole) as Hex);
      if (short !== null) expect(short).toEqual(answers); // only filling was cut off
    }),
  );
});

test('an aggregate answered by nonsense is no answer, whatever lengths it names', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(hex(32), fc.constantFrom(...[0, 1, 32, 64, 96].map((size): Hex => `0x${numberWord(size)}`)))),
      (words) => {
        const found = resultsOf(`0x${words.map((one) => one.slice(2)).join('')}`);
        expect(found === null || found.length <= words.length).toBe(true);
      },
    ),
  );
});
