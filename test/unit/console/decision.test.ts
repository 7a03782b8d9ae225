import { expect, test } from 'vitest';
import { decisionOf, kindOf, policyWith, rulesWith } from '../../../console/screens/agents/decision.ts';
import type { Rules } from '../../../console/screens/pages/crawlerEffect.ts';
import type { Rule } from '../../../console/screens/rules/words.ts';

/** One decision about one agent, as lists and price rules that come to it. */

const CLASSES = { AI: 'CHARGE', SEARCH: 'READ' } as unknown as Rules['classes'];
const rules = (policy: Partial<Rules['policy']> = {}): Rules => ({
  policy: { allow: [], charge: [], block: [], ...policy },
  search: [],
  classes: CLASSES,
});
const gptbot = { agent: 'gptbot', visitorClass: 'AI', hits: 1, earnedMicro: '0' } as const;
const HOST = 'agents.lumen.example';
const rule = (changed: Partial<Rule>): Rule => ({
  id: 'r',
  path: null,
  kind: null,
  operators: [HOST],
  categories: [],
  terms: [],
  from: null,
  until: null,
  effect: 'FREE',
  priceUsdc: null,
  ...changed,
});

test('a name leaves all lists and stands in one only where its class does not say the same already', () => {
  expect(policyWith(gptbot, 'BLOCK', rules({ allow: ['GPTBot', 'ccbot'] }))).toEqual({
    allow: ['ccbot'],
    charge: [],
    block: ['gptbot'],
  });
  expect(policyWith(gptbot, 'CHARGE', rules({ block: ['gptbot'] }))).toEqual({ allow: [], charge: [], block: [] });
  expect(policyWith(gptbot, 'CHARGE', rules({ allow: ['gpt'] }))).toEqual({ allow: ['gpt'], charge: ['gptbot'], block: [] });
});

test('a proven host has one rule that names it alone, and rules of others stay as they are', () => {
  const priced = rule({ id: 'news', effect: 'PRICE', priceUsdc: '1', path: '/news/*' });
  const blocked = rulesWith([priced, rule({ id: HOST })], HOST, 'BLOCK');
  expect(blocked).toEqual([priced, rule({ id: HOST, effect: 'REFUSE' })]);
  expect(rulesWith(blocked, HOST, 'CHARGE')).toEqual([priced]);
  expect(rulesWith([rule({ id: HOST, operators: ['other.example'] })], HOST, 'READ')[1]?.id).toBe(`${HOST}-2`);
});

test('what rules say of a host is one of three only where one rule says it of all its requests', () => {
  expect(decisionOf(HOST, [], 0)).toBe('CHARGE');
  expect(decisionOf(HOST, [rule({})], 0)).toBe('READ');
  expect(decisionOf(HOST, [rule({ effect: 'REFUSE' }), rule({ operators: ['other.example'] })], 0)).toBe('BLOCK');
  expect(decisionOf(HOST, [rule({ path: '/news/*' })], 0)).toBeNull();
  expect(decisionOf(HOST, [rule({ operators: [], effect: 'FREE' })], 0)).toBeNull();
  expect(decisionOf(HOST, [rule({ until: 5 })], 5)).toBe('CHARGE');
});

test('only what is known to be in a User-Agent, or was proven, can be decided about by its name', () => {
  expect(['gptbot', HOST, 'some_bot', 'other'].map(kindOf)).toEqual(['name', 'host', 'unsure', 'nameless']);
});

test('a word that stands in the User-Agents of browsers or of most robots is no name to decide by', () => {
  for (const word of ['http', 'com', 'compatible', 'CriOS', 'ipad', 'bot', 'google'])
    expect([word, kindOf(word)]).toEqual([word, 'unsure']);
  for (const name of ['gptbot', 'claudebot', 'googlebot', 'tesseraagent', 'bytespider'])
    expect([name, kindOf(name)]).toEqual([name, 'name']);
});
