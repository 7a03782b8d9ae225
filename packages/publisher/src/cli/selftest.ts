/** `content-settlement selftest`: a whole purchase with a test key, as a stock buyer makes it, and what must not be sold. */
import { dollars } from '../core/usdc.ts';
import { isRecord, parseJson, readOffer } from './offer.ts';
import type { Came, Reply, Visit } from './visitor.ts';
import { headerBytes, MOST_HEADER_BYTES, SHORTER_HEADERS, UNCHECKED_SEARCH } from './visitor.ts';
import type { Wallet } from './wallet.ts';

/** One step: what was tried, whether it went as it must, and what was seen. */
export interface Step {
  readonly id: string;
  readonly passed: boolean;
  readonly says: string;
}

/** What the steps share. */
interface Shop {
  readonly page: string;
  readonly otherPage: string | undefined;
  readonly visit: Visit;
  readonly wallet: Wallet;
}

/** What the purchase came to; never printed. */
interface Bought {
  readonly payment: string;
  readonly licence: string;
  readonly transaction: string;
}

/** Thrown by a step; the ones after it would mean nothing. */
class StepFailed extends Error {}

const LIVE_KEY = "the site's gate runs with a live key: start it with the same svc_test_ key, for this test alone";

/** Runs the steps, telling each as it ends; stops at the first one that fails. Never rejects. */
export async function playPurchase(shop: Shop, tell: (step: Step) => void): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const step = async <T>(id: string, run: () => Promise<{ readonly says: string; readonly value: T }>): Promise<T> => {
    try {
      const { says, value } = await run();
      steps.push({ id, passed: true, says });
      return value;
    } catch (error) {
      const says = error instanceof StepFailed ? error.message : `this step itself failed: ${(error as Error).message}`;
      steps.push({ id, passed: false, says });
      throw new StepFailed(id);
    } finally {
      tell(steps.at(-1) as Step);
    }
  };
  try {
    const seen = await step('person', () => readAs(shop, 'person', 'a person reads the page free'));
    await step('search', () => readAsGoogle(shop));
    const offer = await step('offer', () => findOffer(shop));
    const payment = await step('sign', async () => ({
      says: 'a throwaway wallet signs a payment',
      value: await shop.wallet.pay(offer),
    }));
    await step('head', () => payForHead(shop, payment));
    await step('underpaid', () => payTooLittle(shop, offer));
    const bought = await step('pay', () => buy(shop, payment, seen));
    await step('again', () => payAgain(shop, bought));
    await step('reread', () => reread(shop, bought));
    if (shop.otherPage !== undefined) await step('elsewhere', () => readElsewhere(shop, shop.otherPage as string, bought));
  } catch {
    // Told already; what follows a failed step would say nothing.
  }
  return steps;
}

/** A gate that knows where this run comes from charges it for the name; then a search engine that goes by its name alone has to read. */
async function readAsGoogle(shop: Shop) {
  const { visit, page } = shop;
  const reply = came(await visit(page, { as: 'googlebot' }));
  if (reply.status === 200) return { says: 'Googlebot reads the page free', value: null };
  const other = reply.status === 402 ? await visit(page, { as: 'agent', headers: { 'user-agent': UNCHECKED_SEARCH } }) : reply;
  if (came(other).status !== 200) fail(`googlebot gets ${reply.status} for ${page}`);
  return { says: 'search engines read the page free; Googlebot by name alone pays, as this run does', value: null };
}

async function readAs({ visit, page }: Shop, as: 'person', says: string) {
  const reply = came(await visit(page, { as }));
  if (reply.status !== 200) fail(`${as} gets ${reply.status} for ${page}`);
  return { says, value: reply.body };
}

async function findOffer({ visit, page }: Shop) {
  const reply = fits(await visit(page, { as: 'agent' }));
  if (reply.status !== 402) fail(`an agent gets ${reply.status} for ${page}, not 402: run doctor`);
  const read = readOffer(reply.headers['payment-required'], reply.body);
  if (!read.ok) return fail(`an agent gets a 402 that cannot be paid: ${read.says}`);
  const [amount = 0n] = read.offer.amountsMicro;
  if (/00[1-6]$/.test(amount.toString())) {
    fail(`the price of ${dollars(amount.toString())} ends in 001 to 006, which test keys refuse on purpose: set another price`);
  }
  return {
    says: `an agent is offered the page for ${dollars(amount.toString())}`,
    value: reply.headers['payment-required'] as string,
  };
}

async function payForHead({ visit, page }: Shop, payment: string) {
  const reply = fits(await visit(page, { as: 'agent', method: 'HEAD', headers: { 'payment-signature': payment } }));
  if (settlementOf(reply) !== null) fail('a HEAD request with a payment was charged');
  return { says: 'a HEAD request with a payment is not charged', value: null };
}

async function payTooLittle({ visit, page, wallet }: Shop, offer: string) {
  const payment = await wallet.pay(offer, { value: '1' });
  const reply = fits(await visit(page, { as: 'agent', headers: { 'payment-signature': payment } }));
  if (reply.status !== 402) fail(`a payment of 0.000001 USD gets ${reply.status}, not 402`);
  const read = readOffer(reply.headers['payment-required'], reply.body);
  if (!read.ok) fail(`a payment that is refused gets no fresh offer: ${read.says}`);
  return { says: 'a payment of 0.000001 USD is refused, with a fresh offer', value: null };
}

async function buy({ visit, page }: Shop, payment: string, seen: string): Promise<{ says: string; value: Bought }> {
  const reply = fits(await visit(page, { as: 'agent', headers: { 'payment-signature': payment } }));
  if (reply.status !== 200) return fail(refusalOf(reply));
  const settlement = settlementOf(reply);
  const licence = reply.headers['x-licence'];
  if (settlement === null) return fail('the page came without a PAYMENT-RESPONSE that says it was paid');
  if (!settlement.startsWith('mock_')) return fail(LIVE_KEY);
  if (licence === undefined) return fail('the page came without a licence to read it again (x-licence)');
  if (!/\bno-store\b/.test(reply.headers['cache-control'] ?? ''))
    fail('the paid page may be kept by caches: its Cache-Control lacks no-store');
  const lost = lostOf(seen, reply.body);
  if (lost !== null)
    fail(`the paid page ${lost}: a middleware before the gate, or a proxy, changes what the gate sends: register the gate first`);
  return { says: 'the payment settles: page, receipt and licence come', value: { payment, licence, transaction: settlement } };
}

/** Of the words that a person reads on a page an agent must get so many: pages differ a little from one request to the next. */
const KEPT_PART = 0.8;

/** What is wrong with the text of a page that was paid, beside what a person got; null for nothing. */
function lostOf(seen: string, paid: string): string | null {
  if (paid.trim() === '') return 'is empty';
  const [expected, got] = [wordsOf(seen), wordsOf(paid)];
  const kept = [...expected].filter((word) => got.has(word)).length;
  if (kept >= expected.size * KEPT_PART) return null;
  return `has ${kept} of the ${expected.size} different words that a person reads there`;
}

/** The different words of a page, without its markup and scripts. */
function wordsOf(html: string): ReadonlySet<string> {
  const text = html.replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, ' ').replace(/<[^>]*>/g, ' ');
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

async function payAgain({ visit, page }: Shop, { payment, transaction, licence }: Bought) {
  const reply = fits(await visit(page, { as: 'agent', headers: { 'payment-signature': payment } }));
  if (reply.status !== 200) return fail(refusalOf(reply));
  if (settlementOf(reply) !== transaction) fail('the same payment, sent again, was settled a second time');
  if (reply.headers['x-licence'] !== licence) fail('the same payment, sent again, gets another licence');
  return { says: 'the same payment, sent again, gets the same licence and is not charged twice', value: null };
}

async function reread({ visit, page }: Shop, { licence }: Bought) {
  const reply = fits(await visit(page, { as: 'agent', headers: { authorization: `License ${licence}` } }));
  if (reply.status !== 200) fail(`the licence gets ${reply.status}, not the page`);
  if (settlementOf(reply) !== null) fail('reading again by licence was charged');
  return { says: 'the licence reads the page again, free', value: null };
}

async function readElsewhere({ visit }: Shop, otherPage: string, { licence, payment }: Bought) {
  for (const headers of [{ authorization: `License ${licence}` }, { 'payment-signature': payment }]) {
    const reply = fits(await visit(otherPage, { as: 'agent', headers }));
    if (reply.status !== 402) fail(`what was bought for one page gets ${reply.status} for ${otherPage}, not 402`);
  }
  return { says: `neither licence nor payment opens ${otherPage}`, value: null };
}

/** Why a payment that is good got no page. */
function refusalOf(reply: Came): string {
  const read = readOffer(reply.headers['payment-required'], reply.body);
  const error = read.ok ? (read.offer.error ?? '') : '';
  if (/^insufficient_funds/.test(error)) return `the empty wallet is refused for want of money: ${LIVE_KEY}`;
  if (reply.status === 503) return 'the payment gets 503: the gate cannot settle now; look into the log of your app';
  return `the payment gets ${reply.status}${error === '' ? '' : ` (${error})`}, not the page`;
}

/** The transaction of a PAYMENT-RESPONSE that says success; null for any other. */
function settlementOf({ headers }: Came): string | null {
  const text = headers['payment-response'];
  const read = text === undefined ? null : parseJson(Buffer.from(text, 'base64').toString('utf8'));
  if (!isRecord(read) || read['success'] !== true || typeof read['transaction'] !== 'string') return null;
  return read['transaction'];
}

/** An answer to an agent whose headers every proxy passes on. */
function fits(reply: Reply): Came {
  const answer = came(reply);
  if (answer.status === 502)
    return fail('a proxy of the site answers 502: see its log. nginx writes “upstream sent too big header”');
  const bytes = headerBytes(answer);
  if (bytes > MOST_HEADER_BYTES)
    fail(
      `the headers of the ${answer.status} for an agent have ${bytes} bytes, more than ${MOST_HEADER_BYTES}. ${SHORTER_HEADERS}`,
    );
  return answer;
}

function came(reply: Reply): Came {
  return reply.came ? reply : fail(`the site could not be asked: ${reply.why}`);
}

function fail(says: string): never {
  throw new StepFailed(says);
}
