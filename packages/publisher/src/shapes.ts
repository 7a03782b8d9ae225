/** Whether an answer has every member that is used of it: what stands between a site and its service may answer anything with status 200. */
import type { AgentVerdict, EnforceConfig, NextStep, Quote, Receipt } from './client.ts';
import type { PublishedAddresses } from './knowing/claims.ts';

/** True for a quote that can be offered and sold by. */
export function isQuote(body: unknown): body is Quote {
  const { price, legs, quoteToken, x402, payees, slug, title, resource, expiresAt } = membersOf(body);
  const { header, body: offer } = membersOf(x402);
  return (
    [Number.isSafeInteger(price) && Number(price) >= 0, Number.isFinite(expiresAt), isText(quoteToken), isText(slug)].every(
      Boolean,
    ) &&
    (title === undefined || isText(title)) &&
    (resource === undefined || (isText(resource) && URL.canParse(resource))) &&
    Array.isArray(legs) &&
    isListOf(payees, (one) => isText(membersOf(one)['authorId']) && Number.isFinite(membersOf(one)['share'])) &&
    isText(header) &&
    isEncodedObject(header) &&
    isObject(offer)
  );
}

/** True for settings that a gate can decide by. */
export function isConfig(body: unknown): body is EnforceConfig {
  const { enforcement, manifest } = membersOf(body);
  const {
    articlePrefixes,
    gateScope,
    forms = [],
    licenseIdentity,
    seoAllowlist,
    crawlerPolicy,
    visitorClasses = {},
  } = membersOf(enforcement);
  const { allow, charge, block } = membersOf(crawlerPolicy);
  const { mode, excludePrefixes, includeExtensions = [] } = membersOf(gateScope);
  const { resources = [] } = membersOf(manifest);
  const lists = [articlePrefixes, forms, seoAllowlist, allow, charge, block, resources];
  return (
    lists.every((list) => isListOf(list, isText)) &&
    isText(licenseIdentity) &&
    isObject(visitorClasses) &&
    (mode === 'prefixes' || (mode === 'site' && isListOf(excludePrefixes, isText) && isListOf(includeExtensions, isText)))
  );
}

/** Most addresses and ranges of all lists together. */
const MAX_RANGES = 20_000;

/** The addresses that operators of robots publish, as far as they can be used; null where they cannot. */
export function addressesOf(body: unknown): PublishedAddresses | null {
  const { version, checkedAt, ranges = {} } = membersOf(membersOf(body)['addresses']);
  if (!Number.isSafeInteger(version) || !isObject(checkedAt) || !Object.values(checkedAt).every(Number.isFinite)) return null;
  if (!isObject(ranges) || !Object.values(ranges).every((list) => isListOf(list, isText))) return null;
  const count = (Object.values(ranges) as unknown[][]).reduce((sum, list) => sum + list.length, 0);
  return count > MAX_RANGES ? null : ({ version, checkedAt, ranges } as unknown as PublishedAddresses);
}

/** True for a receipt: without a licence that fits into a header there is none. */
export function isReceipt(body: unknown): body is Receipt {
  const { licenseJws } = membersOf(body);
  return isText(licenseJws) && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(licenseJws);
}

const MAX_NEXT_CHARS = 1_024;

/** What the service says to do about a refusal; undefined where it says nothing that may be handed on. */
export function nextOf(refusal: unknown): NextStep | undefined {
  const { next } = membersOf(refusal);
  const { action } = membersOf(next);
  const isUsable = isText(action) && /^[a-z_]{1,32}$/.test(action) && JSON.stringify(next).length <= MAX_NEXT_CHARS;
  return isUsable ? (next as NextStep) : undefined;
}

/** True for what the service says of an agent. */
export function isAgentVerdict(body: unknown): body is AgentVerdict {
  const { outcome, agent, observed, cacheSeconds } = membersOf(body);
  const { verified, verifiedAgent = '', sigInvalid } = membersOf(observed);
  if (!isObject(observed) || !isText(verifiedAgent)) return false;
  if (outcome === 'verified')
    return verified === true && Number.isFinite(cacheSeconds) && isText(membersOf(membersOf(agent)['key'])['kty']);
  return verified === undefined && (outcome === 'unverified' || (outcome === 'invalid' && sigInvalid === true));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

/** Base64 of the JSON of an object, as header and all. */
function isEncodedObject(header: string): boolean {
  try {
    return /^[A-Za-z0-9+/]+=*$/.test(header) && isObject(JSON.parse(atob(header)));
  } catch {
    return false;
  }
}
