/** Tells what the gate decided: the service by a report, and the site by its own hook. */
import type { Verdict } from '../core/decide.ts';
import type { Caller } from '../core/who.ts';
import type { Judgement } from '../judge.ts';
import type { Page } from '../knowing/pages.ts';
import type { PublisherOptions } from '../options.ts';
import { quietly } from './failures.ts';
import type { Reports } from './reports.ts';

/** Takes what was decided. */
export interface Teller {
  /** Reports what became of a page; nothing where it has no address, or the site reports nothing. `priceMicro` in micro-USDC. */
  report(page: Page | null, told: Told): void;
  /** Calls the site's hook; what it throws changes nothing. */
  decided(method: string, judgement: Judgement): void;
}

interface Told {
  readonly verdict: Verdict | 'unservable';
  readonly caller: Caller;
  readonly priceMicro?: number;
}

/** Opens it. */
export function openTeller<Request>(
  options: Pick<PublisherOptions<Request>, 'report' | 'onDecision'> & { readonly now: () => number },
  reports: Pick<Reports, 'add'>,
): Teller {
  return {
    report: (page, { verdict, caller, priceMicro }) => {
      if (options.report === 'none' || page === null) return;
      const { resource, kind, userAgent, signed } = page;
      const classifiedAs = caller.who === 'person' ? 'human' : 'agent';
      reports.add({
        resource,
        kind,
        verdict,
        classifiedAs,
        at: options.now(),
        agent: { ua: userAgent.slice(0, 512), classifyReason: caller.reason, ...signed },
        ...(priceMicro === undefined ? {} : { priceMicro }),
      });
    },
    decided: (method, { decision, caller, page, price }) => {
      const { who, reason } = caller;
      quietly(() =>
        options.onDecision?.({
          act: decision.act === 'look' ? 'serve' : decision.act,
          who,
          reason,
          method,
          resource: page?.resource ?? null,
          ...(decision.act === 'serve' ? { as: decision.as } : {}),
          ...(price?.state === 'priced' ? { priceMicro: price.quote.price } : {}),
          ...(price?.state === 'free' && price.because !== null ? { because: price.because } : {}),
        }),
      );
    },
  };
}
