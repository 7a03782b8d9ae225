import { expect, test } from 'vitest';
import { isChannelUrl } from '../../modules/webhooks/rules/channel.ts';
import type { ChatChannel, ChatEvent } from '../../modules/webhooks/rules/chat.ts';
import { buildChatBody, chatLine, escapeMarkdown, escapeSlack, inertLine } from '../../modules/webhooks/rules/chat.ts';

const settled: ChatEvent = {
  type: 'settlement.completed',
  host: 'a.example',
  detailed: {},
  summary: { tenant: 't', announced: 3 },
};
const anomaly = (detail: string): ChatEvent => {
  const data = { metric: 'denied', detail, rangeKey: '1h', threshold: 1 };
  return { type: 'anomaly.detected', host: null, detailed: data, summary: data };
};

test.each([
  ['slack', 'https://hooks.slack.com/services/T/B/x', true],
  ['slack', 'https://hooks.slack.com.evil.example/services/T', false],
  ['slack', 'https://hooks.slack.com:8443/services/T', false],
  ['slack', 'http://hooks.slack.com/services/T', false],
  ['slack', 'https://u:p@hooks.slack.com/services/T', false],
  ['slack', 'https://discord.com/api/webhooks/1/x', false],
  ['slack', 'http://127.0.0.1:3000/services/T', false],
  ['discord', 'https://discord.com/api/webhooks/1/x', true],
  ['discord', 'https://discordapp.com/api/v10/webhooks/1/x', true],
  ['discord', 'https://discord.com/login', false],
  ['discord', 'https://evildiscord.com/api/webhooks/1/x', false],
  ['teams', 'https://prod-1.westeurope.logic.azure.com/workflows/x?sig=y', true],
  ['teams', 'https://x.environment.api.powerplatform.com/powerautomate/y', true],
  ['teams', 'https://logic.azure.com.evil.example/workflows', false],
  ['teams', 'https://notlogic.azure.com/workflows', false],
  ['teams', 'no url', false],
  ['raw', 'https://anything.example/x', true],
] as const)('%s may go to %s: %s', (channel, url, expected) => {
  expect(isChannelUrl(channel, url)).toBe(expected);
});

test('each chat gets its own form, with the one-line summary', () => {
  expect(JSON.parse(buildChatBody('slack', settled))).toEqual({
    text: 'Settlement completed: 3 payouts settled on a.example.',
    mrkdwn: false,
  });
  expect(JSON.parse(buildChatBody('discord', settled))).toEqual({
    content: 'Settlement completed',
    embeds: [{ title: 'Settlement completed', description: '3 payouts settled on a.example.' }],
    allowed_mentions: { parse: [] },
  });
  const teams = JSON.parse(buildChatBody('teams', settled));
  expect(teams.type).toBe('message');
  expect(teams.attachments[0].contentType).toBe('application/vnd.microsoft.card.adaptive');
  expect(teams.attachments[0].content).toMatchObject({ type: 'AdaptiveCard', version: '1.2', body: [{ type: 'TextBlock' }] });
});

test.each([
  [-1, '1 payout on a.example was taken back by a chain reorganisation.'],
  [-2, '2 payouts on a.example were taken back by a chain reorganisation.'],
])('a reversal of %s payouts is never told as a settlement', (count, line) => {
  const legs = Array.from({ length: -count }, () => ({ amountMicro: -5 }));
  const back = { ...settled, detailed: { legs, gross: { microUsdc: count * 5 } }, summary: { tenant: 't', announced: 0 } };
  expect(chatLine(back)).toBe(`Settlement corrected: ${line}`);
});

test('a correction of shares is told as one', () => {
  const detailed = { legs: [{ amountMicro: -5 }, { amountMicro: 5 }], gross: { microUsdc: 0 } };
  const line = 'Settlement corrected: 1 payout on a.example was corrected to what the chain shows.';
  expect(chatLine({ ...settled, detailed, summary: { tenant: 't', announced: 0 } })).toBe(line);
});

const HOSTILE =
  '<!channel> <@U1> @everyone @here <at>Bob</at> [x](https://evil.example) *b* _i_ `c` ~s~ # h\n> q | t \u202e \u0000';

test.each(['slack', 'discord', 'teams'] as const)(
  'mentions, links and markup are inert in %s, and it stays one line',
  (channel: ChatChannel) => {
    const body = buildChatBody(channel, anomaly(HOSTILE));
    const parsed = JSON.parse(body);
    const text: string = parsed.text ?? parsed.embeds?.[0]?.description ?? parsed.attachments[0].content.body[0].text;
    expect(text).not.toMatch(/<[!@#a]|@everyone|@here|[\p{Cc}\u202e]/u);
    if (channel === 'slack') expect(text).not.toMatch(/[<>]/);
    else expect(text.replace(/\\[^a-zA-Z0-9\s]/g, '')).not.toMatch(/[*_`~#>|[\]()<:]/);
    expect(text.length).toBeLessThanOrEqual(300 + 'Anomaly detected: '.length);
  },
);

test.each([escapeSlack, escapeMarkdown])(
  'a line has at most 300 characters after escaping and is cut between characters',
  (makeInert) => {
    const line = inertLine('&*😀'.repeat(300), makeInert);
    expect(line.length).toBeLessThanOrEqual(300);
    expect(line.endsWith('…')).toBe(true);
    expect(line.isWellFormed()).toBe(true);
  },
);

test('the line shown to an owner is the one that chats are sent, before it is made inert', () => {
  expect(chatLine(settled)).toBe('Settlement completed: 3 payouts settled on a.example.');
  expect(chatLine(anomaly('<b>*denied*</b> is 9'))).toBe('Anomaly detected: <b>*denied*</b> is 9');
  expect(chatLine(anomaly('x'.repeat(400))).length).toBeLessThanOrEqual(300);
});
