/** Finds out, one fact after the other, what `decide` wants to know of a request. */
import { isAside } from './core/aside.ts';
import type { Decision, Facts } from './core/decide.ts';
import { decide } from './core/decide.ts';
import type { LicenseError } from './core/licenseError.ts';
import type { Caller } from './core/who.ts';
import type { Agents, Signed } from './knowing/agents.ts';
import type { Page, Pages } from './knowing/pages.ts';
import type { Proof } from './knowing/proofs.ts';
import type { Price } from './knowing/quotes.ts';
import type { Readers } from './knowing/readers.ts';
import type { ConfigStore, SiteConfig } from './knowing/siteConfig.ts';
import type { PublisherOptions } from './options.ts';
import type { SiteRequest } from './request.ts';
import { licenceOf, paymentOf } from './request.ts';
import type { Routes } from './routes.ts';
import type { Failures } from './telling/failures.ts';

/** A decision with what it was made of. */
export interface Judgement {
  readonly decision: Exclude<Decision, { act: 'ask' }>;
  readonly caller: Caller;
  readonly page: Page | null;
  readonly price: Price | null;
  /** What a wallet showed of itself, and what it came to. */
  readonly proof: Proof;
  /** The payment as it came; null for none that counts. */
  readonly payment: string | null;
  /** Why no license opens the page, as far as one was shown. */
  readonly licenseError: LicenseError;
}

/** What judging needs. */
export interface JudgeDeps<Request> {
  readonly config: ConfigStore;
  readonly pages: Pages;
  readonly agents: Agents;
  readonly routes: Routes;
  readonly failures: Failures;
  readonly readers: Readers<Request>;
  readonly kind?: PublisherOptions<Request>['kind'];
}

/** Judges a request; `isOurs`: the package itself answers for its path. */
export async function judge<Request>(
  deps: JudgeDeps<Request>,
  request: SiteRequest<Request>,
  isOurs: boolean,
): Promise<Judgement> {
  let config = deps.config.current();
  const caller = deps.readers(request, config);
  const payment = paymentOf(request);
  const license = licenceOf(request);
  let page = pageOf(deps, config, request);
  let price: Price | null = null;
  const shown = request.header('sign-in-with-x') || null;
  let proof: Proof = { state: 'none' };
  let signed: Signed | null = null;
  let licenseError: LicenseError = 'invalid_request';
  let facts: Facts = {
    isOurs,
    who: caller.who,
    config: config ? 'known' : 'unasked',
    ...placeOf(deps, config, request),
    method: request.method === 'GET' || request.method === 'HEAD' ? request.method : 'other',
    payment: payment.state,
    licence: license === null ? 'none' : 'shown',
    quote: 'unasked',
    proof: shown === null ? 'none' : 'shown',
  };
  for (;;) {
    const decision = decide(facts);
    if (decision.act !== 'ask') return { decision, caller, page, price, proof, payment: payment.value ?? null, licenseError };
    if (decision.about === 'config') {
      config = await deps.config.first();
      page = pageOf(deps, config, request);
      facts = { ...facts, config: config ? 'known' : 'away', ...placeOf(deps, config, request) };
    } else if (page === null || config === null) {
      facts = { ...facts, licence: 'bad', proof: 'bad', quote: 'bad' };
    } else {
      signed ??= await deps.agents.identify(request, page.origin);
      page = await deps.pages.located({ ...page, signed });
      if (decision.about === 'licence') {
        const worth = await deps.pages.worthOf(config, page, license ?? '', request);
        const isError = worth !== 'good' && worth !== 'busy';
        if (isError) licenseError = worth;
        facts = { ...facts, licence: isError ? 'bad' : worth };
      } else if (decision.about === 'proof') {
        proof = await deps.pages.proven(config, page, shown ?? '');
        facts = { ...facts, proof: proof.state };
      } else {
        price = await deps.pages.priceOf(page);
        facts = { ...facts, quote: price.state };
      }
    }
  }
}

function placeOf<Request>(
  { routes }: Pick<JudgeDeps<Request>, 'routes'>,
  config: SiteConfig | null,
  request: SiteRequest<Request>,
): Pick<Facts, 'isInScope' | 'isAside'> {
  const { isScoped, address } = routes(config, request);
  const pages = config?.gateScope.mode === 'site' ? config.gateScope.includeExtensions : undefined;
  return { isInScope: isScoped, isAside: address !== null && isAside(address.path, pages) };
}

/** The page of a request; null when it can have no address. */
export function pageOf<Request>(
  deps: Pick<JudgeDeps<Request>, 'routes' | 'kind' | 'failures'>,
  config: SiteConfig | null,
  request: SiteRequest<Request>,
): Page | null {
  const { address } = deps.routes(config, request);
  return (
    address && { ...address, kind: kindOf(deps, request), userAgent: request.header('user-agent') ?? '', signed: {}, form: null }
  );
}

function kindOf<Request>({ kind, failures }: Pick<JudgeDeps<Request>, 'kind' | 'failures'>, request: SiteRequest<Request>) {
  try {
    return kind?.(request.original) === 'citation' ? 'citation' : 'read';
  } catch (error) {
    failures.note({ what: 'classify', message: `the site's word for what is sold failed: ${String(error)}; it is a read` });
    return 'read';
  }
}
