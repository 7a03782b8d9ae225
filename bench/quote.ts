import type { Bench } from './harness/bench.ts';
import { makeFigure } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { rateBesideBare } from './harness/http.ts';
import { sharedService } from './harness/service.ts';

const HOST = 'quotes.example';
const AUTHOR = `0x${'a'.repeat(40)}`;

/** GET /_svc/quote of `bin/api.ts` beside a bare node:http server that answers as many bytes. */
export const quoteBench: Bench = {
  id: 'quote',
  title: 'Quotes',
  run: async ({ quick }) => {
    const service = await sharedService();
    const { key } = await service.site({
      hosts: [HOST],
      pricing: {
        priceUsdc: '0.001',
        articlePrefixes: ['/articles/'],
        creditsInline: { solo: { title: 'Alone', contributors: [{ authorId: 'ann', wallet: AUTHOR }] } },
      },
    });
    const request: HttpRequest = {
      method: 'GET',
      path: `/_svc/quote?resource=${encodeURIComponent(`https://${HOST}/articles/solo`)}`,
      headers: { authorization: `Bearer ${key}` },
    };
    const { rounds, bytes } = await rateBesideBare(service, request, quick);
    return [
      makeFigure({
        id: 'quote.rate',
        what: 'GET /_svc/quote',
        unit: 'req/s',
        referenceName: 'bare node:http',
        rounds,
        target: { atMost: 0.07, of: 'cpu' },
        notes: `one author, body of ${bytes} bytes, 50 connections; judged by the server's CPU, since the client holds up the bare server`,
      }),
    ];
  },
};
