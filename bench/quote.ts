import type { PriceRule } from '../modules/pricing/rules/rule.ts';
import { MAX_RULES } from '../modules/pricing/rules/rule.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { rateBesideBare } from './harness/http.ts';
import { sharedService } from './harness/service.ts';

const AUTHOR = `0x${'a'.repeat(40)}`;

/** As many rules as a site may have, most of them for paths like the one that is asked for, and with stars. */
const RULES: readonly PriceRule[] = Array.from({ length: MAX_RULES }, (_, index) => ({
  id: `rule-${index}`,
  path: index % 4 === 0 ? `/articles/s*o*${index}*a*b$` : `/articles/section-${index}/*`,
  kind: null,
  operators: [`agent-${index}.example`],
  categories: [],
  terms: [],
  fromMs: null,
  untilMs: null,
  effect: { price: '0.002' },
}));
const SITES = [
  { id: 'quote.rate', what: 'GET /_svc/quote', host: 'quotes.example', rules: null, query: '' },
  {
    id: 'quote.rules',
    what: `GET /_svc/quote of a site with ${MAX_RULES} price rules, for a verified agent`,
    host: 'rules.example',
    rules: RULES,
    query: '&agent=agent-7.example&category=train&terms=ai-input',
  },
] as const;

/** GET /_svc/quote of `bin/api.ts`, without price rules and with as many as may be, beside a bare node:http server that answers as many bytes. */
export const quoteBench: Bench = {
  id: 'quote',
  title: 'Quotes',
  run: async ({ quick }) => {
    const service = await sharedService();
    const figures: Figure[] = [];
    for (const { id, what, host, rules, query } of SITES) {
      const { key } = await service.site({
        hosts: [host],
        pricing: {
          priceUsdc: '0.001',
          articlePrefixes: ['/articles/'],
          rules,
          creditsInline: { solo: { title: 'Alone', contributors: [{ authorId: 'ann', wallet: AUTHOR }] } },
        },
      });
      const request: HttpRequest = {
        method: 'GET',
        path: `/_svc/quote?resource=${encodeURIComponent(`https://${host}/articles/solo`)}${query}`,
        headers: { authorization: `Bearer ${key}` },
      };
      const { rounds, bytes } = await rateBesideBare(service, request, quick);
      const notes = `one author, body of ${bytes} bytes, 50 connections; judged by the server's CPU, since the client holds up the bare server`;
      figures.push(
        makeFigure({
          id,
          what,
          unit: 'req/s',
          referenceName: 'bare node:http',
          rounds,
          target: { atMost: 0.07, of: 'cpu' },
          notes,
          ...(rules === null ? {} : { isDetail: true }),
        }),
      );
    }
    return figures;
  },
};
