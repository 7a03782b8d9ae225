import type { AnomalyData } from './anomalyEvent.ts';
import type { Channel } from './endpoint.ts';
import type { EventData, EventType, SettlementDetails, SettlementSummary } from './event.ts';

/** An event as a chat message needs it. */
export interface ChatEvent extends EventData {
  readonly type: EventType;
  readonly host: string | null;
}

/** A chat other than `raw`. */
export type ChatChannel = Exclude<Channel, 'raw'>;

const MAX_LINE = 300;
const TITLES: Readonly<Record<EventType, string>> = {
  'settlement.completed': 'Settlement completed',
  'anomaly.detected': 'Anomaly detected',
};

/**
 * The body of a chat message: the event in one line of at most 300 characters, in which nothing is markup, a link's text or a
 * mention, whatever stands in a host or slug.
 */
export function buildChatBody(channel: ChatChannel, event: ChatEvent): string {
  const title = titleOf(event);
  if (channel === 'slack') return JSON.stringify({ text: inertLine(`${title}: ${lineOf(event)}`, escapeSlack), mrkdwn: false });
  if (channel === 'discord') {
    const line = inertLine(lineOf(event), escapeMarkdown);
    return JSON.stringify({ content: title, embeds: [{ title, description: line }], allowed_mentions: { parse: [] } });
  }
  const text = inertLine(`${title}: ${lineOf(event)}`, escapeMarkdown);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    body: [{ type: 'TextBlock', text, wrap: true }],
  };
  return JSON.stringify({ type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] });
}

/** The line that a chat shows of an event, as people read it: what `buildChatBody` makes inert for each chat. */
export function chatLine(event: ChatEvent): string {
  return inertLine(`${titleOf(event)}: ${lineOf(event)}`, (character) => character);
}

/** What took nothing but payouts back is not titled a settlement. */
function titleOf(event: ChatEvent): string {
  const isCorrection = event.type === 'settlement.completed' && (event.summary as SettlementSummary).announced === 0;
  return isCorrection ? 'Settlement corrected' : TITLES[event.type];
}

function lineOf(event: ChatEvent): string {
  if (event.type === 'anomaly.detected') return (event.detailed as AnomalyData).detail;
  const { announced } = event.summary as SettlementSummary;
  const place = event.host === null ? '' : ` on ${event.host}`;
  if (announced > 0) return `${payouts(announced)} settled${place}.`;
  const { legs = [], gross } = event.detailed as Partial<SettlementDetails>;
  const takenBack = legs.filter(({ amountMicro }) => amountMicro < 0).length;
  if (takenBack === 0) return `0 payouts settled${place}.`;
  const were = takenBack === 1 ? 'was' : 'were';
  if (gross?.microUsdc === 0) return `${payouts(takenBack)}${place} ${were} corrected to what the chain shows.`;
  return `${payouts(takenBack)}${place} ${were} taken back by a chain reorganisation.`;
}

function payouts(count: number): string {
  return `${count} ${count === 1 ? 'payout' : 'payouts'}`;
}

/** One line, each character made inert, cut so that what is sent has at most 300 characters. */
export function inertLine(text: string, makeInert: (character: string) => string): string {
  let line = '';
  for (const character of text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')) {
    const inert = makeInert(character);
    if (line.length + inert.length > MAX_LINE - 1) return `${line}…`;
    line += inert;
  }
  return line;
}

const ZERO_WIDTH = '\u200b';

/** Slack: entities for its control characters, and a mention or formatting mark that touches no word. */
export function escapeSlack(character: string): string {
  if (character === '&') return '&amp;';
  if (character === '<') return '&lt;';
  if (character === '>') return '&gt;';
  return /[@#!|*_~`]/.test(character) ? `${character}${ZERO_WIDTH}` : character;
}

/** Discord and Adaptive Cards: a backslash before every mark of markdown, and mentions that name nobody. */
export function escapeMarkdown(character: string): string {
  if (character === '@') return `@${ZERO_WIDTH}`;
  if (character === '<') return `\\<${ZERO_WIDTH}`;
  return /[\\`*_{}[\]()#+\-!|~>:]/.test(character) ? `\\${character}` : character;
}
