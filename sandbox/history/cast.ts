/** Who and what the history is about: a small publication, its authors and its readers. Nobody in it exists. */
import { privateKeyToAddress } from 'viem/accounts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { ObservedAgent } from '../../modules/kernel/terms.ts';
import type { Pricing } from '../../modules/pricing/rules/pricing.ts';
import { keyOf } from './till.ts';

/** The site of the history. */
export const DEMO = {
  tenantId: '00000000-0000-4000-8000-000000000005',
  host: 'meridian.example',
  /** Nobody has heard of it for nine days. */
  archive: 'archive.meridian.example',
  userId: 'owner-of-meridian',
  prefix: '/stories/',
} as const;

const walletOf = (name: string): Address => privateKeyToAddress(keyOf(`author ${name}`)).toLowerCase() as Address;
const by = (authorId: string, weight = 1, wallet = authorId) => ({ authorId, wallet: walletOf(wallet), weight });

const olga = (weight?: number) => by('Ольга Петрова', weight);
const hanako = (weight?: number) => by('山田花子', weight);
const lukasz = (weight?: number) => by('Łukasz Wiśniewski', weight);
const sara = (weight?: number) => by('سارة حداد', weight);
const ana = (weight?: number) => by('Ana María Núñez', weight);
const nikos = (weight?: number) => by('Νίκος Παπαδόπουλος', weight);
const tom = (weight?: number) => by('Tom Okafor', weight);
/** The same author; older pages name another wallet. */
const tomOld = (weight?: number) => by('Tom Okafor', weight, 'Tom Okafor, before');

/** The pages that have authors, the most read first. */
export const PAGES = {
  'river-barges': { title: 'The barges are coming back', contributors: [olga(6), lukasz(4)] },
  'night-trains': { title: 'Night trains, seven borders', contributors: [lukasz()] },
  'saffron-ledger': { title: 'The saffron ledger', contributors: [sara(7), ana(3)] },
  'tide-tables': { title: 'Who still reads tide tables?', contributors: [tom()] },
  'kiln-masters': { title: '最後の窯元 (The last kiln masters)', contributors: [hanako(8), olga(2)] },
  'grid-lines': {
    title: 'Grid lines: a winter with heat pumps',
    contributors: [{ authorId: 'Newsdesk', members: [tom(), ana()] }, nikos()],
  },
  'harbour-cranes': { title: 'What the harbour cranes know', contributors: [nikos(5), tomOld(5)] },
  'bread-prices': { title: 'Bread prices, city by city', contributors: [ana(5), sara(3), lukasz(2)] },
  'quiet-islands': { title: 'Τα ήσυχα νησιά (The quiet islands)', contributors: [nikos()] },
  'paper-maps': { title: 'In praise of paper maps', contributors: [tomOld()] },
  'seed-vault': { title: 'Inside the seed vault', contributors: [hanako(), sara(), olga()] },
  'small-claims': { title: 'Small claims, large lives', contributors: [ana()] },
} as const;
/** Free by the owner's word, and free since they name nobody. */
export const FREE_SLUGS = ['about', 'corrections'] as const;
export const UNSIGNED_SLUGS = ['letters-in-november', 'crossword-archive', 'obituaries'] as const;

/** What the site charges, from its first day on; twelve days ago the price went up. */
export const PRICING: Pricing = {
  priceUsdc: '0.04',
  citationMultiplier: '5',
  articlePrefixes: [DEMO.prefix],
  creditsInline: PAGES as unknown as Pricing['creditsInline'],
  creditsFreeSlugs: [...FREE_SLUGS],
  creditsApiUrl: null,
  defaultPayee: null,
  rules: null,
  readAgainHours: null,
};
export const RAISED = { priceUsdc: '0.05', daysAgo: 12 } as const;

/** An agent of the story: what it shows, how much of the traffic is its, and how often it pays. */
export interface Reader {
  readonly name: string;
  readonly agent: ObservedAgent;
  /** Purchases in a hundred that are its; 0: it never pays. */
  readonly buys: number;
  /** Requests in a hundred that end without a purchase. */
  readonly asks: number;
  readonly verdict: 'denied' | 'blocked' | 'served-free' | 'agent-reread';
  /** It cites: one purchase in so many is for a citation. */
  readonly cites?: number;
}

const crawler = (ua: string, verifiedAgent?: string): ObservedAgent => ({
  ua: `Mozilla/5.0 (compatible; ${ua})`,
  classifyReason: 'user_agent',
  ...(verifiedAgent === undefined ? { verified: false } : { verified: true, verifiedAgent }),
});

/** Known, unknown, and one that pretends. */
export const READERS: readonly Reader[] = [
  { name: 'GPTBot', agent: crawler('GPTBot/1.2; +https://openai.com/gptbot'), buys: 30, asks: 20, verdict: 'denied' },
  {
    name: 'ClaudeBot',
    agent: crawler('ClaudeBot/1.0; +claudebot@anthropic.com'),
    buys: 24,
    asks: 14,
    verdict: 'denied',
    cites: 6,
  },
  {
    name: 'Perplexity',
    agent: crawler('PerplexityBot/1.0; +https://perplexity.ai/perplexitybot'),
    buys: 16,
    asks: 9,
    verdict: 'denied',
    cites: 3,
  },
  { name: 'Lumen', agent: crawler('LumenResearch/2.1', 'agents.lumen.example'), buys: 18, asks: 6, verdict: 'denied', cites: 4 },
  { name: 'Tessera', agent: crawler('TesseraAgent/0.9; +https://tessera.example/agent'), buys: 12, asks: 8, verdict: 'denied' },
  {
    name: 'Googlebot',
    agent: crawler('Googlebot/2.1; +http://www.google.com/bot.html'),
    buys: 0,
    asks: 14,
    verdict: 'served-free',
  },
  { name: 'Bytespider', agent: crawler('Bytespider; spider-feedback@bytedance.com'), buys: 0, asks: 13, verdict: 'blocked' },
  { name: 'CCBot', agent: crawler('CCBot/2.0; https://commoncrawl.org/faq'), buys: 0, asks: 9, verdict: 'denied' },
  {
    name: 'pretender',
    agent: { ...crawler('GPTBot/1.2; +https://openai.com/gptbot'), classifyReason: 'signature_invalid', sigInvalid: true },
    buys: 0,
    asks: 7,
    verdict: 'denied',
  },
];

/** What people's browsers show. */
export const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
] as const;

/** A licence of the story; it was bought so many days ago, for so long. */
export interface Licensed {
  readonly reader: string;
  readonly scope: readonly string[];
  readonly terms: readonly string[];
  readonly boughtDaysAgo: number;
  readonly periodDays: number;
}

/** Two of them end within the week, one within hours. */
export const LICENCES: readonly Licensed[] = [
  { reader: 'Lumen', scope: ['/stories/*'], terms: ['search', 'ai-input'], boughtDaysAgo: 24.3, periodDays: 30 },
  { reader: 'ClaudeBot', scope: ['/stories/*'], terms: ['ai-index', 'ai-input'], boughtDaysAgo: 19.6, periodDays: 60 },
  {
    reader: 'Tessera',
    scope: ['/stories/night-trains', '/stories/river-barges'],
    terms: ['ai-input'],
    boughtDaysAgo: 12.8,
    periodDays: 14,
  },
  { reader: 'Perplexity', scope: ['/stories/*'], terms: ['search'], boughtDaysAgo: 6.1, periodDays: 7 },
];
