/** Who reads and who pays at a site whose owner never opened the settings, by one table of User-Agents that the WordPress plugin's test reads, too. */
import { expect, test } from 'vitest';
import { generated } from '../../../packages/publisher/bin/visitors.mjs';
import { KNOWN_VISITORS as visitors } from '../../../packages/publisher/src/cli/knownVisitors.ts';
import { createClassifier } from '../../../packages/publisher/src/core/who.ts';
import { openReaders } from '../../../packages/publisher/src/knowing/readers.ts';

const PAYS = ['ai', 'automation'];
const classOf = {
  search_engine: 'search',
  crawler_list: 'ai',
  isbot: 'automation',
  no_name: 'automation',
  cdn: 'person',
} as const;
const NO_LISTS = { seoAllowlist: [], crawlerPolicy: { allow: [], charge: [], block: [] } };

test.each(visitors)('$class: $userAgent', ({ class: named, userAgent }) => {
  const { who, reason } = createClassifier(null)(userAgent);
  expect([classOf[reason as keyof typeof classOf] ?? reason, who === 'agent' ? 'pays' : 'reads']).toEqual([
    named,
    PAYS.includes(named) ? 'pays' : 'reads',
  ]);
});

test('an owner’s word on a class wins over its default, on a name over its class', () => {
  const lists = {
    ...NO_LISTS,
    seoAllowlist: ['goodsearch'],
    visitorClasses: { preview: 'charge', ai: 'read', search: 'charge', feed: 'block' },
  };
  const classify = createClassifier(lists);
  expect(classify('Twitterbot/1.0')).toEqual({ who: 'agent', reason: 'preview' });
  expect(classify('GPTBot/1.0')).toEqual({ who: 'robot', reason: 'crawler_list' });
  expect(classify('GoodSearch/1.0')).toEqual({ who: 'agent', reason: 'search_engine' });
  expect(classify('Feedly/1.0')).toEqual({ who: 'blocked', reason: 'policy_block' });
  expect(classify('UptimeRobot/2.0').who).toBe('robot');
  expect(classify('curl/8').who).toBe('agent');
  const named = createClassifier({ ...lists, crawlerPolicy: { allow: ['twitterbot'], charge: [], block: ['gptbot'] } });
  expect([named('Twitterbot/1.0').who, named('GPTBot/1').who]).toEqual(['allowed', 'blocked']);
});

test('who says to be a browser and asks for Markdown, or a robot that reads free and shows a payment, is asked for money', () => {
  const readers = openReaders({}, { note: () => undefined, counts: () => ({}) }, { worth: () => 'unknown' });
  const chrome = visitors[0]?.userAgent;
  const ask = (headers: Record<string, string | undefined>) =>
    readers({ method: 'GET', target: '/', header: (name) => headers[name], original: undefined }, null);
  expect(ask({ 'user-agent': chrome, accept: 'text/html' }).who).toBe('person');
  expect(ask({ 'user-agent': chrome, accept: 'text/markdown, text/html;q=0.9' })).toEqual({ who: 'agent', reason: 'pretender' });
  expect(ask({ 'user-agent': 'Googlebot/2.1', accept: 'text/markdown' }).who).toBe('search');
  expect(ask({ 'user-agent': 'Twitterbot/1.0', 'x-payment': 'a' })).toEqual({ who: 'agent', reason: 'paying' });
});

test('the tables of robots are what their lists make', async () => {
  for (const { path, is, wanted } of await generated()) expect([path, is]).toEqual([path, wanted]);
});
