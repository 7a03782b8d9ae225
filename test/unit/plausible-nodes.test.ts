import { expect, test } from 'vitest';
import type { NodeFacts } from '../../platform/chain/rpc/choice.ts';
import { chooseNodes, plausibleNodes, supportedHead, timelyNodes } from '../../platform/chain/rpc/choice.ts';

const NOW = 1_000_000;
/** A node that shows a head whose block is so many seconds old. */
const node = (head: bigint, ageSeconds: number, isUp = true): NodeFacts => ({
  ...{ isUp, head, headSeconds: NOW - ageSeconds, safe: null, isStill: false },
});
const left = (...nodes: readonly NodeFacts[]): number[] => plausibleNodes(nodes, 2_000, NOW).map((one) => nodes.indexOf(one));

test('a node that is late by the time of its newest block refutes nobody and is not refuted', () => {
  expect(left(node(5_000n, 1), node(4_900n, 201))).toEqual([0, 1]);
  expect(left(node(5_000n, 1), node(4_990n, 1))).toEqual([0, 1]);
});

test('heads far apart at one time, or one of the future, refute each other', () => {
  expect(left(node(6_000n, 1), node(5_000n, 1))).toEqual([]);
  expect(left(node(6_000n, -2_000), node(5_000n, 1))).toEqual([]);
});

test('a head that two nodes stand by refutes the third one alone, and a node that is away refutes nobody', () => {
  expect(left(node(6_000n, 1), node(5_000n, 1), node(5_001n, 1))).toEqual([1, 2]);
  expect(left(node(6_000n, 1, false), node(5_000n, 1))).toEqual([0, 1]);
});

test('a second word is asked of all that are near the head that two nodes have reached, whoever claims to be ahead of it', () => {
  const nodes = [node(5_030n, 1), node(5_000n, 1), node(4_999n, 1), node(4_990n, 1)];
  const asked = (question: 'state' | 'second') => chooseNodes(nodes, question).map((one) => nodes.indexOf(one));
  expect(asked('state')).toEqual([0]);
  expect(asked('second')).toEqual([0, 1, 2]);
});

test('a node is late by our clock, never by how far another one claims to be ahead; where none is timely, all count', () => {
  const timely = (...nodes: readonly NodeFacts[]): number[] => timelyNodes(nodes, 2_000, NOW).map((one) => nodes.indexOf(one));
  expect(timely(node(5_000n, 1), node(5_100n, -50))).toEqual([0, 1]);
  expect(timely(node(5_000n, 1), node(4_900n, 201), node(5_000n, 1, false))).toEqual([0]);
  expect(timely(node(5_000n, 1), { ...node(5_000n, 1), isStill: true })).toEqual([0]);
  expect(timely(node(5_000n, 900), node(4_000n, 3_000))).toEqual([0, 1]);
  const fast = [node(5_000n, 59), node(5_000n, 61), node(5_000n, 0)];
  expect(timelyNodes(fast, 250, NOW)).toEqual([fast[0], fast[2]]);
});

test('the supported head is the second highest, at most 64 blocks below the highest', () => {
  expect(supportedHead([node(5_000n, 1)])).toBe(5_000n);
  expect(supportedHead([node(5_000n, 1), node(5_030n, 1)])).toBe(5_000n);
  expect(supportedHead([node(5_000n, 1), node(4_000n, 2_001)])).toBe(4_936n);
  expect(supportedHead([])).toBeNull();
});
