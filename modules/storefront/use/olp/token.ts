import { readXmlElement } from '../../../../platform/xml.ts';
import { olpBase, readRslTerms } from '../../../discovery/use/rsl/terms.ts';
import type { DocumentSite } from '../../../discovery/use/site.ts';
import { findLiveSite } from '../../../discovery/use/site.ts';
import type { TokenAnswer } from '../../../identity/use/accounts/oauth.ts';
import { authenticateClient } from '../../../identity/use/accounts/oauth.ts';
import type { NextStep } from '../../../kernel/errors.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { documentUrl } from '../../../kernel/pages/documents.ts';
import { compilePattern, isWithin } from '../../../kernel/pages/scope.ts';
import type { ObservedAgent } from '../../../kernel/terms.ts';
import type { XmlElement } from '../../../kernel/xml.ts';
import { canonicalXml, isElement } from '../../../kernel/xml.ts';
import { findHeldLicences } from '../../../licences/store/held.ts';
import type { RslContent, RslLicence } from '../../../pricing/rules/rsl/contents.ts';
import { RSL_NAMESPACE, RSL_TYPE } from '../../../pricing/rules/rsl/contents.ts';
import { openAccess } from '../licences/access.ts';
import type { BuyDeps, PurchaseOutcome } from '../licences/buy.ts';
import { buyLicence } from '../licences/buy.ts';
import { hostNamed } from './named.ts';

/** Days that a licence is sold for when its buyer names none. */
const PERIOD_DAYS = 30;
/** Most bytes of a licence element, and most characters of the address of a content. */
const MAX_LICENCE_BYTES = 16_384;
const MAX_RESOURCE_CHARS = 2_048;

/** One call of the token endpoint (Open License Protocol, RSL 1.0 section 5.4). */
export interface LicenceTokenCall {
  readonly form: ReadonlyMap<string, string>;
  readonly authorization: string | null;
  /** The payment headers that were sent, PAYMENT-SIGNATURE first. */
  readonly payments: readonly string[];
  readonly agent: ObservedAgent;
  readonly idempotencyKey?: string;
  /** Counts the call for its account. Throws above its rate. */
  readonly count: (accountId: string) => void;
}

/** A call of an account that was let in. */
interface Buyer extends LicenceTokenCall {
  readonly accountId: string;
  readonly periodDays: number;
}

type OlpError = 'invalid_license' | 'invalid_resource' | Extract<TokenAnswer, { readonly kind: 'refused' }>['error'];

/** The answer: a token, what may be bought for one, or why there is none. Times in epoch milliseconds. */
export type LicenceTokenAnswer =
  | { readonly kind: 'token'; readonly token: string; readonly expiresAtMs: number; readonly paymentResponse: string | null }
  | Extract<PurchaseOutcome, { readonly kind: 'offered' }>
  | { readonly kind: 'refused'; readonly error: OlpError; readonly sentence: string; readonly next?: NextStep };

/** What was asked for, found in what the site sells. */
interface Wanted {
  readonly site: DocumentSite;
  readonly content: RslContent;
  readonly licence: RslLicence;
}

/**
 * A token for a licence of an RSL document. An account that holds a licence for it gets an access token under that; one that holds none gets
 * the offer of such a licence, and with a payment the licence itself: `buyLicence` guards both, as it does on its own endpoint. The licence named
 * must stand in the site's document, now or within the last ten minutes; the price of an offer is that of now. Throws what these throw.
 */
export async function grantLicenceToken(deps: BuyDeps, call: LicenceTokenCall): Promise<LicenceTokenAnswer> {
  const client = await authenticateClient(deps, call, `${olpBase(deps.baseUrl)}/token`);
  if (client.kind !== 'client') return client;
  const { accountId } = client;
  call.count(accountId);
  const periodDays = Number(call.form.get('period_days') ?? PERIOD_DAYS);
  try {
    const wanted = await findWanted(deps, call.form);
    return (await openHeld(deps, accountId, wanted)) ?? (await buy(deps, { ...call, accountId, periodDays }, wanted));
  } catch (error) {
    if (error instanceof Refused) {
      const { code, message, next } = error;
      return { kind: 'refused', error: code, sentence: message, ...(next ? { next } : {}) };
    }
    if (error instanceof ServiceError) return refusalOf(error);
    throw error;
  }
}

/** What is wrong with what was asked, in the protocol's words; what is ours, or about a payment, is thrown on. */
function refusalOf(error: ServiceError): LicenceTokenAnswer {
  if (error.kind === 'missing' || error.code === 'invalid_resource') return refusedAs('invalid_resource', error.message);
  if (error.kind === 'invalid' || error.kind === 'conflict') return refusedAs('invalid_request', error.message);
  throw error;
}

function refusedAs(error: OlpError, sentence: string): LicenceTokenAnswer {
  return { kind: 'refused', error, sentence };
}

class Refused extends Error {
  readonly code: OlpError;
  readonly next: NextStep | undefined;

  constructor(code: OlpError, sentence: string, next?: NextStep) {
    super(sentence);
    this.name = 'Refused';
    this.code = code;
    this.next = next;
  }
}

async function findWanted(deps: BuyDeps, form: ReadonlyMap<string, string>): Promise<Wanted> {
  const { element, resource } = readForm(form);
  const host = hostNamed(resource, element);
  if (host === null) throw new Refused('invalid_resource', 'resource is the url of a content, https://host/pattern');
  const site = await findLiveSite(deps, host);
  if (!site) throw new Refused('invalid_resource', 'nobody sells at this host');
  const terms = await readRslTerms(deps, site);
  const named = canonicalXml(element, RSL_NAMESPACE);
  const present = findIn(terms.contents, resource, named);
  if (present.licence) return foundOf(site, present);
  for (const contents of terms.former()) {
    const former = findIn(contents, resource, named);
    if (former.licence) return foundOf(site, former);
  }
  const where = documentUrl(deps.baseUrl, site.host, 'license.xml');
  if (!present.content) throw new Refused('invalid_resource', `${where} has no content of this url`);
  throw new Refused('invalid_license', `${where} has no such license for this content now: read it again`);
}

function foundOf(site: DocumentSite, { content, licence }: ReturnType<typeof findIn>): Wanted {
  if (!content || !licence) throw new TypeError('nothing was found');
  if (content.isSold) return { site, content, licence };
  const isFree = licence.element.children.some((child) => isElement(child) && child.attributes['type'] === 'free');
  if (isFree)
    throw new Refused('invalid_license', 'this license costs nothing: read its pages without a token', { action: 'get_it_free' });
  throw new Refused(
    'invalid_license',
    'there is no token for this license: it permits nothing, or its pages are sold one by one',
    { action: 'ask_owner' },
  );
}

/** The content that is named, and of it the licence; without the licence, a content of that url. */
function findIn(contents: readonly RslContent[], resource: string, named: string) {
  const atUrl = contents.filter(({ url, pattern }) => url === resource || pattern === resource);
  for (const content of atUrl) {
    const licence = content.licences.find(({ element }) => canonicalXml(element, RSL_NAMESPACE) === named);
    if (licence) return { content, licence };
  }
  return { content: atUrl[0], licence: undefined };
}

function readForm(form: ReadonlyMap<string, string>): { readonly element: XmlElement; readonly resource: string } {
  const [license, resource] = [form.get('license'), form.get('resource')];
  if (license === undefined) throw new Refused('invalid_request', 'license is missing: the license element of the document');
  if (resource === undefined) throw new Refused('invalid_request', 'resource is missing: the url of the content');
  if ((form.get('license_type') ?? RSL_TYPE) !== RSL_TYPE)
    throw new Refused('invalid_request', `license_type is ${RSL_TYPE} here`);
  if (resource.length > MAX_RESOURCE_CHARS) throw new Refused('invalid_resource', 'resource is too long');
  const element = readXmlElement(license, MAX_LICENCE_BYTES);
  if (element?.name !== 'license') {
    const sentence = `license must be one XML element of at most ${MAX_LICENCE_BYTES} bytes, without a DOCTYPE or custom entities`;
    throw new Refused('invalid_license', sentence);
  }
  return { element, resource };
}

/** A token under a licence that the account holds: for this site, kind and use, now, with pages under this pattern; null without one. */
async function openHeld(
  deps: BuyDeps,
  accountId: string,
  { site, content, licence }: Wanted,
): Promise<LicenceTokenAnswer | null> {
  const asked = compilePattern(content.pattern);
  const { kind, terms } = licence;
  const question = { accountId, tenantId: site.tenant.tenantId, host: site.host, kind, terms, at: new Date(deps.clock()) };
  const held = await findHeldLicences(deps.database, question);
  const fitting = held.filter(({ patterns }) => patterns.some((pattern) => isWithin(asked, compilePattern(pattern))));
  for (const { jti, patterns } of fitting) {
    const isAll = patterns.length === 1 && patterns[0] === content.pattern;
    const paths = isAll ? {} : { paths: [content.pattern] };
    try {
      const access = await openAccess(deps, { accountId, jti, host: site.host, requestHost: null, ...paths });
      return { kind: 'token', token: access.license, expiresAtMs: access.expiresAt, paymentResponse: null };
    } catch (error) {
      // It has no page under this pattern, or ended meanwhile.
      const isOther = error instanceof ServiceError && ['conflict', 'not_found', 'outside_period'].includes(error.code);
      if (!isOther) throw error;
    }
  }
  return null;
}

async function buy(
  deps: BuyDeps,
  { accountId, payments, agent, idempotencyKey, periodDays }: Buyer,
  { site, content, licence }: Wanted,
): Promise<LicenceTokenAnswer> {
  const { terms, kind } = licence;
  const outcome = await buyLicence(deps, {
    accountId,
    request: { host: site.host, scope: [content.pattern], terms, periodDays, kind },
    requestHost: null,
    payments,
    agent,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
  if (outcome.kind === 'offered') return outcome;
  const { licenseJws: token, responseHeader: paymentResponse } = outcome.receipt;
  const claims = (await deps.keyring.verify(token)) as { readonly exp?: number } | null;
  return { kind: 'token', token, expiresAtMs: (claims?.exp ?? 0) * 1000, paymentResponse };
}
