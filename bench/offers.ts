import type { PriceRule } from '../modules/pricing/rules/rule.ts';
import { MAX_RULES } from '../modules/pricing/rules/rule.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { rateBesideBare } from './harness/http.ts';
import { sharedService } from './harness/service.ts';
import { thousandRules } from './thousandRules.ts';

const AUTHORS = ['a', 'b', 'c'].map((digit) => ({ authorId: digit, wallet: `0x${digit.repeat(40)}` }));
const HOST = 'offers.example';
/** As many classes as a site's rules make. */
const RULES: readonly PriceRule[] = Array.from({ length: MAX_RULES }, (_, index) => ({
  id: `rule-${index}`,
  path: `/articles/section-${index}/*`,
  kind: null,
  operators: [],
  categories: [],
  terms: [],
  fromMs: null,
  untilMs: null,
  effect: { price: '0.002' },
}));
const PAGE = `/_svc/quote?resource=${encodeURIComponent(`https://${HOST}/articles/trio`)}&build=402`;
const ASKED = [
  ['offers.page', 'A page offer with every extension', `${PAGE}&signIn=1`, 0.25],
  ['offers.signed', 'The same, signed', `${PAGE}&signIn=1&sign=1`, 0.4],
  ['offers.license', `license.xml of a site with ${MAX_RULES} price rules`, `/_svc/discovery/${HOST}/license.xml`, 0.4],
] as const;

/** What a 402 and a site's terms cost to hand out, beside a bare node:http server that answers as many bytes. */
export const offersBench: Bench = {
  id: 'offers',
  title: 'Offers and terms',
  run: async ({ quick }) => {
    const service = await sharedService();
    const { key } = await service.site({
      hosts: [HOST],
      pricing: {
        priceUsdc: '0.003',
        articlePrefixes: ['/articles/'],
        rules: RULES,
        creditsInline: { trio: { title: 'Three hands', contributors: AUTHORS } },
      },
    });
    const figures: Figure[] = [];
    for (const [id, what, path, atMost] of ASKED) {
      const request: HttpRequest = { method: 'GET', path, headers: { authorization: `Bearer ${key}` } };
      const { rounds, bytes } = await rateBesideBare(service, request, quick);
      const notes = `body of ${bytes} bytes, 50 connections; judged by the server's CPU`;
      figures.push(
        makeFigure({
          id,
          what,
          unit: 'req/s',
          referenceName: 'bare node:http',
          rounds,
          target: { atMost, of: 'cpu' },
          notes,
          ...(id === 'offers.page' ? {} : { isDetail: true }),
        }),
      );
    }
    return [...figures, await thousandRules(quick)];
  },
};
