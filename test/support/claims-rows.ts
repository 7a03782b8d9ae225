/** Who calls himself Googlebot, where he comes from, and whether he is believed: for the gates of every language. */
import { SHIPPED } from '../../packages/publisher/src/core/addresses.generated.ts';

/** While the lists of this release are fresh, epoch milliseconds. */
export const NOW = (SHIPPED['google-googlebot']?.checkedAt ?? 0) + 86_400_000;
export const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
export const OF_GOOGLE = '66.249.66.1';
export const OF_GOOGLE_V6 = '2001:4860:4801:10::1';
export const OF_OTHERS = '198.41.0.4';
const PROXIES = ['10.0.0.0/8', '2a00:1450:1::/48'];
/** What becomes of who is believed, or cannot be told, and of who is not. */
export const [READS, PAYS] = ['search search_engine', 'agent masquerade'] as const;

/** Proxies that the site named (undefined: it did not say), the other end of the connection, headers, and what becomes of him. */
type Row = readonly [string, readonly string[] | undefined, string | undefined, Readonly<Record<string, string>>, string];
export const CLAIM_ROWS: readonly Row[] = [
  // nobody in front
  ['Google', [], OF_GOOGLE, {}, READS],
  ['Google over IPv6', [], OF_GOOGLE_V6, {}, READS],
  ['Google over IPv4 inside IPv6', [], `::ffff:${OF_GOOGLE}`, {}, READS],
  ['another', [], OF_OTHERS, {}, PAYS],
  ['another over IPv6', [], '2a01:4f8::1', {}, PAYS],
  ['another that writes an address of Google', [], OF_OTHERS, { 'x-forwarded-for': OF_GOOGLE }, PAYS],
  ['another that writes one elsewhere', [], OF_OTHERS, { 'cf-connecting-ip': OF_GOOGLE, forwarded: `for=${OF_GOOGLE}` }, PAYS],
  ['another of the site’s own network', [], '10.0.0.9', {}, PAYS],
  // proxies by name
  ['Google through a proxy', PROXIES, '10.1.2.3', { 'x-forwarded-for': OF_GOOGLE }, READS],
  ['Google through two', PROXIES, '::ffff:10.1.2.3', { 'x-forwarded-for': `${OF_GOOGLE_V6}, 10.9.9.9` }, READS],
  ['Google with a port', PROXIES, '2a00:1450:1::7', { 'x-forwarded-for': `${OF_GOOGLE}:4711` }, READS],
  ['another through a proxy', PROXIES, '10.1.2.3', { 'x-forwarded-for': `${OF_GOOGLE}, ${OF_OTHERS}` }, PAYS],
  ['another past the proxies', PROXIES, OF_OTHERS, { 'x-forwarded-for': OF_GOOGLE }, PAYS],
  ['whom a proxy does not name', PROXIES, '10.1.2.3', {}, READS],
  ['whom a proxy names unreadably', PROXIES, '10.1.2.3', { 'x-forwarded-for': 'unknown' }, READS],
  // proxies that were forgotten
  ['Google through a proxy of this machine, with others named', PROXIES, '127.0.0.1', { 'x-forwarded-for': OF_GOOGLE }, READS],
  ['Google through a proxy where nobody is said to be in front', [], '::1', { 'x-forwarded-for': OF_GOOGLE }, READS],
  ['Google through two, the nearer one named', PROXIES, '10.1.2.3', { 'x-forwarded-for': `${OF_GOOGLE}, 192.168.0.5` }, READS],
  // nobody said who is in front
  ['Google itself', undefined, OF_GOOGLE, {}, READS],
  ['another itself', undefined, OF_OTHERS, {}, PAYS],
  ['Google through a CDN', undefined, OF_OTHERS, { 'x-forwarded-for': `${OF_GOOGLE}, 172.64.0.1` }, READS],
  ['Google through a CDN with a header of its own', undefined, OF_OTHERS, { 'cf-connecting-ip': OF_GOOGLE }, READS],
  ['another through a CDN', undefined, '172.64.0.1', { 'x-forwarded-for': OF_OTHERS }, PAYS],
  ['whom a CDN does not name', undefined, '172.64.0.1', { via: '1.1 cdn' }, READS],
  ['the site’s own machine', undefined, '127.0.0.1', {}, READS],
  ['nobody knows who', undefined, undefined, {}, READS],
];
