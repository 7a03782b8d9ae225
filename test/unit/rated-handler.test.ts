import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { rateHandler } from '../../api/rated.ts';
import { bearerOf } from '../../graphql/request/handler.ts';
import { openRates } from '../../platform/pacing/rates.ts';

test('wrong credentials of every length that GraphQL looks at count for the address that shows them', async () => {
  const perSecond = { address: 1, refused: 3, key: 1, tenant: 1, account: 1, account_address: 1 };
  const rates = openRates({ limits: { perSecond, burstSeconds: 1 }, clock: () => 0 });
  for (const chars of [40, 4_096, 4_097, 8_192]) {
    let looked = 0;
    const handler = (_request: IncomingMessage, response: ServerResponse): void => {
      looked += 1;
      response.statusCode = 401;
    };
    const deps = { rates, bearerOf, addressOf: () => `address ${chars}`, refuse: () => undefined };
    const handle = rateHandler(handler, deps as unknown as Parameters<typeof rateHandler>[1]);
    for (let n = 0; n < 10; n += 1) {
      const request = { headers: { authorization: `Bearer ${String(n).padEnd(chars, 'x')}` } };
      await handle(request as IncomingMessage, { req: { socket: {} } } as unknown as ServerResponse);
    }
    expect([chars, looked]).toEqual([chars, 3]);
  }
});
