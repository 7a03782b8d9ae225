/** Who a request comes from: the site's own word first, then its settings and the lists, then what the request itself asks for. */
import type { Whence } from '../core/whence.ts';
import { createWhence } from '../core/whence.ts';
import type { Caller, Classifier } from '../core/who.ts';
import { createClassifier } from '../core/who.ts';
import type { PublisherOptions } from '../options.ts';
import type { SiteRequest } from '../request.ts';
import { wantsMarkdown, wantsToPay } from '../request.ts';
import type { Failures } from '../telling/failures.ts';
import type { Claims } from './claims.ts';
import { isSigned } from './signedRequest.ts';
import type { SiteConfig } from './siteConfig.ts';

const WORDS = { human: 'person', agent: 'agent', search: 'search' } as const;

/** Tells who sends a request, by the settings that are known. Never throws. */
export type Readers<Request> = (request: SiteRequest<Request>, config: SiteConfig | null) => Caller;

/** Opens it. */
export function openReaders<Request>(
  options: Pick<PublisherOptions<Request>, 'classify' | 'charge' | 'trustedProxies' | 'address'>,
  failures: Failures,
  claims: Pick<Claims, 'worth'>,
): Readers<Request> {
  const whence = createWhence(options.trustedProxies);
  const beforeConfig = createClassifier(null);
  function ownWord(request: SiteRequest<Request>): Caller | null {
    try {
      const word = options.classify?.(request.original);
      return word === undefined ? null : { who: WORDS[word], reason: 'site_classifier' };
    } catch (error) {
      failures.note({ what: 'classify', message: `the site's classifier failed: ${String(error)}; the lists decide` });
      return null;
    }
  }
  /** Where a request comes from: the site's own word first. */
  function whenceOf(request: SiteRequest<Request>): Whence {
    try {
      const word = options.address?.(request.original);
      return word === undefined ? whence(request) : [word];
    } catch (error) {
      failures.note({
        what: 'classify',
        message: `an address could not be read: ${String(error)}; the reader counts as who he says`,
      });
      return [];
    }
  }
  /** By name alone whoever likes is a robot that reads free. */
  function byName(request: SiteRequest<Request>, lists: Classifier): Caller {
    const userAgent = request.header('user-agent') ?? undefined;
    const found = lists(userAgent);
    if (found.who === 'person' || found.who === 'blocked' || userAgent === undefined) return found;
    return (claims.worth(userAgent, () => whenceOf(request)) === 'false' && lists.masquerade()) || found;
  }
  return (request, config) => {
    const lists = config?.classify ?? beforeConfig;
    const own = ownWord(request);
    const found = own ?? byName(request, lists);
    if (found.who !== 'person' && found.who !== 'search' && found.who !== 'robot') return found;
    if (wantsToPay(request)) return { who: 'agent', reason: 'paying' };
    // No browser signs what it asks for: what people drive themselves says nothing of the kind.
    if (found.who === 'person' && isSigned(request)) return { who: 'agent', reason: 'signed' };
    if (own === null && found.who === 'person' && wantsMarkdown(request)) return lists.pretender();
    return found.who === 'person' && options.charge === 'everyone' ? { ...found, who: 'agent' } : found;
  };
}
