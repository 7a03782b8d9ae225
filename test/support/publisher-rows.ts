/** The rows of the gate's table: facts and what is decided of them, and a request that has these facts at a real site of a real service. */
import type { Decision, Facts } from '../../packages/publisher/src/core/decide.ts';
import { UA } from './publisher-site.ts';

/** A request to a real site; `licence` and `payment` are what a buyer of `solo` has. */
export interface Play {
  readonly path: string;
  readonly ua: string;
  readonly method?: string;
  readonly shows?: 'payment' | 'two payments' | 'its licence' | 'a foreign licence';
  readonly status: number;
}

/** One row. Without `play` the facts are those of a service that is away, which other tests bring about. */
export interface Row {
  readonly name: string;
  readonly facts: Facts;
  readonly decision: Decision;
  readonly play?: Play;
}

const AGENT: Facts = {
  isOurs: false,
  who: 'agent',
  config: 'known',
  isInScope: true,
  isAside: false,
  method: 'GET',
  payment: 'none',
  licence: 'none',
  quote: 'priced',
  proof: 'none',
};
const agent = (path: string, status: number, more: Partial<Play> = {}): Play => ({ path, ua: UA.agent, status, ...more });
const offered = { act: 'offer', verdict: 'denied' } as const;
const reader = { act: 'serve', as: 'reader' } as const;
/** Spellings of /articles/solo: what a server might take for the page costs what the page costs. */
const SPELLINGS = [
  '/articles//solo',
  '//articles/solo',
  '/articles/solo/',
  '/articles/%73olo',
  '/ARTICLES/solo',
  '/articles/SOLO',
  '/Articles/Solo?utm=1',
  '/articles/%53OLO',
];

/** The table; the pages are those of `ALPHA_PRICING`. */
export const ROWS: readonly Row[] = [
  {
    name: 'a person',
    facts: { ...AGENT, who: 'person' },
    decision: reader,
    play: { path: '/articles/solo', ua: UA.person, status: 200 },
  },
  {
    name: 'a search engine',
    facts: { ...AGENT, who: 'search' },
    decision: reader,
    play: { path: '/articles/solo', ua: UA.google, status: 200 },
  },
  {
    name: 'whom the owner lets in',
    facts: { ...AGENT, who: 'allowed' },
    decision: reader,
    play: agent('/articles/solo', 200, { ua: 'GoodBot/1' }),
  },
  {
    name: 'whom the owner refuses',
    facts: { ...AGENT, who: 'blocked' },
    decision: { act: 'refuse', status: 403, verdict: 'blocked' },
    play: agent('/articles/solo', 403, { ua: `BadBot/1 goodbot ${UA.person}` }),
  },
  {
    name: 'whom the owner refuses, out of scope',
    facts: { ...AGENT, who: 'blocked', isInScope: false },
    decision: { act: 'serve', as: 'open' },
    play: agent('/', 200, { ua: 'BadBot/1' }),
  },
  {
    name: 'an agent out of scope',
    facts: { ...AGENT, isInScope: false },
    decision: { act: 'serve', as: 'open' },
    play: agent('/', 200),
  },
  { name: 'an agent at a priced page', facts: AGENT, decision: offered, play: agent('/articles/solo', 402) },
  ...SPELLINGS.map(
    (path): Row => ({ name: `${path}, another spelling of it`, facts: AGENT, decision: offered, play: agent(path, 402) }),
  ),
  {
    name: 'a path with dot segments that the agent did not resolve',
    facts: { ...AGENT, quote: 'bad' },
    decision: { act: 'refuse', status: 400 },
    play: agent('/articles/x%2f..%2fsolo', 400),
  },
  {
    name: 'HEAD',
    facts: { ...AGENT, method: 'HEAD' },
    decision: { act: 'offer' },
    play: agent('/articles/solo', 402, { method: 'HEAD' }),
  },
  {
    name: 'another method, whose answer is looked at',
    facts: { ...AGENT, method: 'other', quote: 'unasked' },
    decision: { act: 'look' },
  },
  {
    name: 'what has the name of no page, and its answer is looked at',
    facts: { ...AGENT, isAside: true, quote: 'unasked' },
    decision: { act: 'look' },
  },
  {
    name: 'a payment for what has the name of no page',
    facts: { ...AGENT, isAside: true, payment: 'one' },
    decision: { act: 'settle' },
  },
  {
    name: 'HEAD with a payment, which charges nothing',
    facts: { ...AGENT, method: 'HEAD', payment: 'one' },
    decision: { act: 'offer' },
    play: agent('/articles/solo', 402, { method: 'HEAD', shows: 'payment' }),
  },
  {
    name: 'a page the owner named free',
    facts: { ...AGENT, quote: 'free' },
    decision: { act: 'serve', as: 'free', verdict: 'served-free' },
    play: agent('/articles/free', 200),
  },
  {
    name: 'a page without authors',
    facts: { ...AGENT, quote: 'free' },
    decision: { act: 'serve', as: 'free', verdict: 'served-free' },
    play: agent('/articles/nobody', 200),
  },
  {
    name: 'a payment',
    facts: { ...AGENT, payment: 'one' },
    decision: { act: 'settle' },
    play: agent('/articles/solo', 200, { shows: 'payment' }),
  },
  {
    name: 'a payment of somebody with a browser, who wants to pay',
    facts: { ...AGENT, payment: 'one' },
    decision: { act: 'settle' },
    play: { path: '/articles/solo', ua: UA.person, shows: 'payment', status: 200 },
  },
  {
    name: 'a payment with a body, which would be waited for',
    facts: { ...AGENT, payment: 'laden' },
    decision: { act: 'refuse', status: 400 },
  },
  {
    name: 'a payment with a body of another method',
    facts: { ...AGENT, method: 'other', payment: 'laden' },
    decision: { act: 'look' },
  },
  {
    name: 'two payments in one request',
    facts: { ...AGENT, payment: 'two' },
    decision: { act: 'offer', error: 'authorization_invalid: two payments in one request' },
    play: agent('/articles/solo', 402, { shows: 'two payments' }),
  },
  {
    name: 'more than a payment',
    facts: { ...AGENT, payment: 'long' },
    decision: { act: 'offer', error: 'malformed_payment: the payment is too long' },
  },
  {
    name: 'a licence of the page',
    facts: { ...AGENT, licence: 'good', quote: 'unasked' },
    decision: { act: 'serve', as: 'licensed', verdict: 'agent-reread' },
    play: agent('/articles/solo', 200, { shows: 'its licence' }),
  },
  {
    name: 'a licence of another page',
    facts: { ...AGENT, licence: 'bad' },
    decision: offered,
    play: agent('/articles/trio', 402, { shows: 'its licence' }),
  },
  {
    name: 'a licence that nobody signed',
    facts: { ...AGENT, licence: 'bad' },
    decision: offered,
    play: agent('/articles/solo', 402, { shows: 'a foreign licence' }),
  },
  {
    name: 'a wallet that shows itself is asked about before a page is offered',
    facts: { ...AGENT, proof: 'shown' },
    decision: { act: 'ask', about: 'proof' },
  },
  {
    name: 'a wallet that bought the page',
    facts: { ...AGENT, proof: 'good' },
    decision: { act: 'serve', as: 'licensed', verdict: 'agent-reread' },
  },
  {
    name: 'a wallet that bought the page, and pays again',
    facts: { ...AGENT, proof: 'good', payment: 'one' },
    decision: { act: 'serve', as: 'licensed', verdict: 'agent-reread' },
  },
  {
    name: 'a wallet that bought nothing here',
    facts: { ...AGENT, proof: 'bad' },
    decision: offered,
  },
  {
    name: 'a wallet that bought nothing here and pays',
    facts: { ...AGENT, proof: 'bad', payment: 'one' },
    decision: { act: 'settle' },
  },
  {
    name: 'a wallet that may have bought the page is not offered it a second time',
    facts: { ...AGENT, proof: 'busy' },
    decision: { act: 'refuse', status: 503 },
  },
  {
    name: 'a wallet that may have bought the page and pays',
    facts: { ...AGENT, proof: 'busy', payment: 'one' },
    decision: { act: 'settle' },
  },
  {
    name: 'a wallet shows itself to see a page, not to look at its head',
    facts: { ...AGENT, proof: 'shown', method: 'HEAD' },
    decision: { act: 'offer' },
  },
  {
    name: 'the first agent asks for the settings',
    facts: { ...AGENT, config: 'unasked' },
    decision: { act: 'ask', about: 'config' },
  },
  {
    name: 'a licence is asked about before a quote',
    facts: { ...AGENT, licence: 'shown', quote: 'unasked' },
    decision: { act: 'ask', about: 'licence' },
  },
  {
    name: 'a page is quoted before it is offered',
    facts: { ...AGENT, quote: 'unasked' },
    decision: { act: 'ask', about: 'quote' },
  },
  {
    name: 'no settings to be had',
    facts: { ...AGENT, config: 'away', isInScope: false, payment: 'one' },
    decision: { act: 'serve', as: 'away', verdict: 'served-free' },
  },
  {
    name: 'no quote to be had',
    facts: { ...AGENT, quote: 'away' },
    decision: { act: 'serve', as: 'away', verdict: 'served-free' },
  },
  {
    name: 'a service that has no time for this page',
    facts: { ...AGENT, quote: 'busy' },
    decision: { act: 'refuse', status: 503 },
  },
  {
    name: 'a page that its owner refuses to this agent, who pays for it',
    facts: { ...AGENT, quote: 'refused', payment: 'one' },
    decision: { act: 'refuse', status: 403, verdict: 'blocked' },
  },
  {
    name: 'an address that can have no price',
    facts: { ...AGENT, quote: 'bad' },
    decision: { act: 'refuse', status: 400 },
    play: agent(`/articles/${'x'.repeat(2_100)}`, 400),
  },
  { name: 'a path of ours', facts: { ...AGENT, isOurs: true, who: 'person' }, decision: { act: 'discover' } },
];
