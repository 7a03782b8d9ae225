/** Who a request comes from: the site's own word first, then its settings and the lists, then what the request itself asks for. */
import type { Caller } from '../core/who.ts';
import { createClassifier } from '../core/who.ts';
import type { PublisherOptions } from '../options.ts';
import type { SiteRequest } from '../request.ts';
import { wantsMarkdown, wantsToPay } from '../request.ts';
import type { Failures } from '../telling/failures.ts';
import { isSigned } from './signedRequest.ts';
import type { SiteConfig } from './siteConfig.ts';

const WORDS = { human: 'person', agent: 'agent', search: 'search' } as const;

/** Tells who sends a request, by the settings that are known. Never throws. */
export type Readers<Request> = (request: SiteRequest<Request>, config: SiteConfig | null) => Caller;

/** Opens it. */
export function openReaders<Request>(
  options: Pick<PublisherOptions<Request>, 'classify' | 'charge'>,
  failures: Failures,
): Readers<Request> {
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
  return (request, config) => {
    const lists = config?.classify ?? beforeConfig;
    const own = ownWord(request);
    const found = own ?? lists(request.header('user-agent') ?? undefined);
    if (found.who !== 'person' && found.who !== 'search' && found.who !== 'robot') return found;
    if (wantsToPay(request)) return { who: 'agent', reason: 'paying' };
    // No browser signs what it asks for: what people drive themselves says nothing of the kind.
    if (found.who === 'person' && isSigned(request)) return { who: 'agent', reason: 'signed' };
    if (own === null && found.who === 'person' && wantsMarkdown(request)) return lists.pretender();
    return found.who === 'person' && options.charge === 'everyone' ? { ...found, who: 'agent' } : found;
  };
}
