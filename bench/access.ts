import { privateKeyToAccount } from 'viem/accounts';
import { newPrivateKey } from '../process/serviceSecrets.ts';
import { mintUsdc } from '../sandbox/parts/chain-setup.ts';
import { call, signInWith, stockFetch } from '../test/support/licences.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import { makeFigure } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { answerBytes, requestMedianOn, startBareServer } from './harness/http.ts';
import { sharedService } from './harness/service.ts';
import { catalogue } from './licenceQuote.ts';

const HOST = 'access.example';
const PAGES = 100;

/** POST /_svc/licenses/{jti}/access of a licence that was bought with the stock client. */
export const accessBench: Bench = {
  id: 'access',
  title: 'Access tokens',
  run: async ({ quick }) => {
    const service = await sharedService();
    await service.site({
      hosts: [HOST],
      pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: catalogue(PAGES) },
    });
    const worker = await service.startWorker();
    const wallet = privateKeyToAccount(newPrivateKey());
    await mintUsdc(service.chain.rpcUrl, wallet.address.toLowerCase() as `0x${string}`, 10_000_000n);
    const { token } = await signInWith(service.baseUrl, wallet);
    const wanted = { host: HOST, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' };
    const bought = await call(`${service.baseUrl}/_svc/licenses`, { token, body: wanted, send: stockFetch(wallet) });
    if (bought.status !== 200) throw new Error(`buying answers ${bought.status}: ${JSON.stringify(bought.body)}`);
    await worker.stop();
    const request: HttpRequest = {
      method: 'POST',
      path: `/_svc/licenses/${bought.body.jti}/access`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ host: HOST, paths: ['/articles/page-1*'] }),
    };
    const bare = await startBareServer(await answerBytes(service.baseUrl, request));
    try {
      const count = quick ? 3 : 200;
      const rounds = await alternate({
        rounds: quick ? 1 : 3,
        sides: {
          ours: () => requestMedianOn(service.parts(), service.baseUrl, request, count),
          reference: () => requestMedianOn(bare.parts, bare.url, request, count),
        },
      });
      return [
        makeFigure({
          id: 'access.token',
          what: `POST /_svc/licenses/{jti}/access, narrowed from ${PAGES} pages, p50`,
          unit: 'ms',
          referenceName: 'bare node:http',
          rounds,
          isDetail: true,
          target: { atMost: 5, of: 'ours' },
        }),
      ];
    } finally {
      await bare.stop();
    }
  },
};
