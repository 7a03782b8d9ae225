import { expect, test } from 'vitest';
import { decide, decideSettled, isServable } from '../../../packages/publisher/src/core/decide.ts';
import { ROWS } from '../../support/publisher-rows.ts';

test.each(ROWS.map(({ name, facts, decision }) => [name, facts, decision] as const))('%s', (_name, facts, decision) => {
  expect(decide(facts)).toEqual(decision);
});

test('a wallet whose proof nobody could look at is told to come back: it may have bought the page, and an offer would have it pay again', () => {
  const row = ROWS.find(({ facts }) => facts.proof === 'busy' && facts.payment === 'none');
  expect(row && decide(row.facts)).toEqual({ act: 'refuse', status: 503 });
});

test('a licence that nobody could look at is no reason to pay again: its reader is told to come back', () => {
  const row = ROWS.find(({ facts }) => facts.proof === 'busy' && facts.payment === 'none');
  expect(row && decide({ ...row.facts, proof: 'none', licence: 'busy' })).toEqual({ act: 'refuse', status: 503 });
});

test.each([
  [200, null, 'page', false],
  [402, 'insufficient_funds', 'offer', false],
  [402, 'settlement_pending', 'wait', false],
  [429, 'rate_limited', 'wait', false],
  [503, 'overloaded', 'wait', false],
  [500, 'internal', 'wait', false],
  [0, null, 'wait', false],
  [400, 'invalid_parameter', 'wait', true],
  [401, 'unknown_key', 'wait', true],
  [403, 'resource_not_owned', 'wait', true],
  [403, 'agent_refused', 'wait', false],
  [302, null, 'wait', false],
])('verify answers %i %s: the buyer gets %s', (status, code, act, needsOwner) => {
  expect(decideSettled({ status, code })).toEqual({ act, needsOwner });
});

test.each([
  [200, 1, true],
  [203, 9, true],
  [200, 0, false],
  [204, 0, false],
  [206, 0, false],
  [301, 30, false],
  [304, 0, false],
  [404, 30, false],
  [500, 30, false],
])('a page of status %i and %i bytes may be sold: %s', (status, bytes, isSold) => {
  expect(isServable(status, bytes)).toBe(isSold);
});
