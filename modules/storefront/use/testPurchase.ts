import { randomUUID } from 'node:crypto';
import { signByThrowaway } from '../../../platform/chain/signature/throwaway.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { TEST_BOT } from '../../gate/rules/agent.ts';
import { admitLook } from '../../hosts/store/caps.ts';
import type { HostService } from '../../hosts/use/deps.ts';
import type { Caller } from '../../identity/use/keys/authenticate.ts';
import type { KeyState } from '../../kernel/access/key.ts';
import { requireAccess } from '../../kernel/access/key.ts';
import { isServiceError, ServiceError } from '../../kernel/errors.ts';
import { buildResource } from '../../kernel/hosts/host.ts';
import { usdText } from '../../kernel/money/money.ts';
import { normalisePrefix } from '../../kernel/pages/resource.ts';
import type { CheckDeps } from '../../licences/use/check.ts';
import { checkLicence } from '../../licences/use/check.ts';
import { withCredits } from '../../quotes/use/credits/book.ts';
import type { QuotedPage, Unpriced } from '../../quotes/use/issue.ts';
import { findPage, issueQuote, presentPricing } from '../../quotes/use/issue.ts';
import type { VerifyDeps } from '../../settlement/use/accept/verify.ts';
import { verifyPayment } from '../../settlement/use/accept/verify.ts';
import type { SettleReceipt } from '../../settlement/use/answer/receipt.ts';
import { isPlayedFailure } from '../../settlement/use/rails/mock.ts';
import { findGate } from '../../tenants/store/tenants.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite, requireOpenSite } from '../../tenants/use/change.ts';
import { judgeSight } from '../rules/offerSeen.ts';

/** What playing a purchase needs. */
export type TestPurchaseDeps = VerifyDeps &
  CheckDeps & { readonly hosts: Pick<HostService, 'caps'>; readonly outbound: Pick<Outbound, 'send'> };

/** The steps, in their order. */
export const TEST_STEPS = ['access', 'price', 'sign', 'settle', 'licence', 'site'] as const;

/** One step: whether it went as it must (null: it was not tried, since one before it failed), and a sentence for a person. */
export interface TestStep {
  readonly step: (typeof TEST_STEPS)[number];
  readonly passed: boolean | null;
  readonly says: string;
}

/** What a purchase in test mode came to. */
export interface TestPurchase {
  readonly passed: boolean;
  /** The page; null when none was found. */
  readonly resource: string | null;
  readonly priceMicro: bigint | null;
  readonly steps: readonly TestStep[];
}

const UNPRICED: Readonly<Record<Unpriced, string>> = {
  no_credits: 'the page is free, because no author is named to be paid: say who wrote it, or name a default payee',
  free_slug: 'the page is on the free list',
  no_price: 'the price is 0, so every page is free: set a price',
  free_rule: 'a price rule makes the page free',
  refused: 'a price rule refuses the page to everybody who is not verified',
  out_of_scope: 'the page is outside of the article prefixes, so it is free',
};

/** A step that did not go as it must; those after it would say nothing. */
class StepFailed extends Error {}

/**
 * Plays the sale of one page as a `svc_test_` key makes it: quote, a payment signed by a wallet that is thrown away, settlement, licence and its check,
 * all by the code that serves sites; then the site itself is asked for the page, as an agent asks. No money can move: the rail is that of test keys,
 * nothing of it is in the ledger, in earnings or in observations. Written down as `page.test`. Throws not_found, site_suspended, throttled,
 * database_unavailable; everything else is a step that says why.
 *
 * What bounds the cost: thirty an hour and account (`HOST_CHECKS_PER_HOUR`), counted in Postgres; one request to a proven host of the site, through
 * the client of all outgoing requests, of 64 KiB and ten seconds, no redirect followed, nothing of the answer shown.
 */
export async function testPurchase(
  deps: TestPurchaseDeps,
  call: SiteCall,
  page: { readonly slug: string; readonly host?: string },
): Promise<TestPurchase> {
  await requireOpenSite(deps, call);
  const { tenantId } = call;
  const { slug, host } = page;
  const counted = { tenantId, host: host ?? '', atMs: deps.clock() };
  if (!(await admitLook(deps.database, counted, deps.hosts.caps.perHour))) {
    throw new ServiceError('throttled', 'too many test purchases were made this hour', { retryAfterSeconds: 120 });
  }
  const played = await play(deps, tenantId, page);
  const failed = played.steps.find(({ passed }) => passed === false)?.step ?? null;
  return await changeSite(deps, call, {
    action: 'page.test',
    target: slug,
    look: async (_sql, result) => (result === undefined ? null : { passed: result.passed, failed }),
    make: async () => played,
  });
}

async function play(deps: TestPurchaseDeps, tenantId: string, page: { readonly slug: string; readonly host?: string }) {
  const steps: TestStep[] = [];
  const step = async <T>(name: TestStep['step'], run: () => Promise<readonly [says: string, value: T]>): Promise<T> => {
    try {
      const [says, value] = await run();
      steps.push({ step: name, passed: true, says });
      return value;
    } catch (error) {
      if (!(error instanceof StepFailed) && !isExpected(error)) throw error;
      steps.push({ step: name, passed: false, says: (error as Error).message });
      throw new StepFailed(name);
    }
  };
  let quoted: QuotedPage | null = null;
  try {
    const caller = await step('access', () => letIn(deps, tenantId));
    const found = await step('price', () => priceOf(deps, caller, page));
    quoted = found;
    const payment = await step('sign', async () => ['a wallet without money signs a payment', await sign(deps, found)]);
    const receipt = await step('settle', () => settle(deps, caller, found, payment));
    await step('licence', () => readAgain(deps, caller, found, receipt));
    await step('site', () => askSite(deps, found));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
  }
  const passed = steps.every((one) => one.passed === true);
  const rest = TEST_STEPS.slice(steps.length).map((name) => ({ step: name, passed: null, says: 'not tried' }));
  const resource = quoted?.terms.resource ?? null;
  return { passed, resource, priceMicro: quoted?.terms.priceMicro ?? null, steps: [...steps, ...rest] };
}

/** True for what a caller of the service would have been told. */
function isExpected(error: unknown): boolean {
  return isServiceError(error) && error.kind !== 'defect' && error.code !== 'database_unavailable';
}

/** The site's caller with a test key, let in by the rules of keys; no key is made. */
async function letIn(deps: TestPurchaseDeps, tenantId: string): Promise<readonly [string, Caller]> {
  if (!deps.testKeysEnabled) {
    throw new StepFailed('test keys are off in this service: ask the operator for TEST_KEYS_ENABLED=true');
  }
  const gate = await findGate(deps.database, tenantId);
  if (!gate) throw new ServiceError('not_found', 'there is no such site');
  const times = { expiresAtMs: null, revokedAtMs: null };
  const key: KeyState = { ...gate, ...times, tenantId, keyId: randomUUID(), mode: 'mock', scopes: ['tenant.read'] };
  requireAccess(key, 'tenant.read', deps.clock());
  const tenant = await deps.snapshots.tenant(tenantId, gate.version);
  if (!tenant) throw new ServiceError('not_found', 'there is no such site');
  return ['a test key of the site is let in', { key, tenant }];
}

async function priceOf(
  deps: TestPurchaseDeps,
  { tenant }: Caller,
  { slug, host }: { readonly slug: string; readonly host?: string },
): Promise<readonly [string, QuotedPage]> {
  if (host !== undefined && !tenant.hosts.includes(host)) throw new StepFailed('the site has not proven this host');
  const [prefix = '/'] = presentPricing(tenant).articlePrefixes ?? ['/'];
  const asked = host === undefined ? { slug } : { slug, resource: buildResource(host, `${normalisePrefix(prefix)}${slug}`).url };
  const found = await withCredits(deps.credits, () => findPage(deps, { tenant, kind: 'read', ...asked }).found);
  if (typeof found === 'string') throw new StepFailed(UNPRICED[found]);
  const quoted = issueQuote(deps, found);
  const { priceMicro, legs } = quoted.terms;
  if (isPlayedFailure(priceMicro)) {
    throw new StepFailed('prices that end in 001 to 006 micro are refused by test keys on purpose: set another price');
  }
  const whom = legs.length === 1 ? 'one author' : `${legs.length} authors`;
  return [`the page costs ${usdText(priceMicro)} USD, paid to ${whom}`, quoted];
}

function sign(deps: TestPurchaseDeps, { quote, terms, destinations }: QuotedPage): Promise<string> {
  const [first] = destinations;
  if (!first) throw new RangeError('a quote is for one network at least');
  const { network, asset, payTo, extra } = first;
  const { maxTimeoutSeconds } = quote;
  const entry = { network, asset, payTo, extra, amountMicro: terms.priceMicro, maxTimeoutSeconds };
  return signByThrowaway(entry, deps.clock());
}

async function settle(
  deps: TestPurchaseDeps,
  caller: Caller,
  { quote }: QuotedPage,
  payment: string,
): Promise<readonly [string, SettleReceipt]> {
  const legs = quote.legs.map(({ toAddress, amountMicro }) => ({ toAddress, amountMicro: BigInt(amountMicro) }));
  const receipt = await verifyPayment(deps, caller, { payment, legs, quote: { ...quote }, agent: {} });
  if (receipt.settlementRefKind !== 'mock') throw new RangeError('a test purchase that is no test');
  return ['the payment settles in test mode, and its receipt comes', receipt];
}

async function readAgain(
  deps: TestPurchaseDeps,
  caller: Caller,
  { terms }: QuotedPage,
  { licenseJws }: SettleReceipt,
): Promise<readonly [string, null]> {
  const { resource, slug } = terms;
  if (await checkLicence(deps, caller, { license: licenseJws, resource, slug, kind: 'read' })) {
    return ['the licence reads the page again', null];
  }
  throw new StepFailed('the licence does not read the page again');
}

/** Says that it is automated and no more, so that the gate treats it as any agent it does not know. */
const USER_AGENT = `Mozilla/5.0 (compatible; ${TEST_BOT}/1.0; content-settlement)`;
const ASK_MS = 10_000;

/** Asks the page of the quote, whose host is a proven one of the site: no other address comes from the caller. */
async function askSite(deps: TestPurchaseDeps, { terms, destinations }: QuotedPage): Promise<readonly [string, null]> {
  const { href } = new URL(terms.resource.replace(/^http:/, 'https:'));
  const headers = { 'user-agent': USER_AGENT, accept: '*/*' };
  const answer = await deps.outbound.send({ url: href, headers, timeoutMs: ASK_MS, read: 'start', maxBodyBytes: 65_536 });
  const sight = answer.ok
    ? { ok: true as const, status: answer.status, paymentRequired: answer.headers['payment-required'] }
    : answer;
  const payTo = new Map(destinations.map((destination) => [destination.network, destination.payTo.toLowerCase()]));
  const { passed, says } = judgeSight(sight, { priceMicro: terms.priceMicro, payTo });
  if (!passed) throw new StepFailed(says);
  return [says, null];
}
