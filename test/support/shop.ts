/** A site of Express with the publisher's package in front of a service under test, and what the chain and the ledger say of its sales. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { contentSettlement } from '../../packages/publisher/src/express.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import type { TestService, TestSite } from './service.ts';

/** A running site. */
export interface Shop {
  /** Where it listens; its pages stand under `/articles/`. */
  readonly url: string;
  /** The public address of a page, as quotes name it. */
  resourceOf(slug: string): string;
  /** Requests that came in, with their headers. */
  readonly requests: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[];
  /** Forgets what it knows of prices, as a process that starts anew: quotes are kept for a minute. */
  forget(): void;
  close(): Promise<void>;
}

const ERC20 = parseAbi(['function balanceOf(address) view returns (uint256)']);

/** Starts the web server of a site, with the package as its users have it. A page named `broken` can be made once, when it is looked at before its offer; all others are `<p>slug</p>`. */
export async function openShop(service: { readonly baseUrl: string }, site: TestSite): Promise<Shop> {
  const requests: Shop['requests'] = [];
  const origin = `https://${site.host}`;
  const open = () => {
    const app = express();
    const documents = { '/robots.txt': true, '/llms.txt': true };
    app.use(contentSettlement({ serviceUrl: service.baseUrl, apiKey: site.key, origin, documents, log: () => undefined }));
    let brokenAsked = 0;
    app.get('/articles/:slug', ({ params: { slug } }, response) => {
      if (slug === 'broken' && brokenAsked++ > 0) response.status(500).send('the page cannot be made');
      else response.send(`<p>${slug}</p>`);
    });
    return app;
  };
  let app = open();
  const server: Server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    app(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    resourceOf: (slug) => `${origin}/articles/${slug}`,
    requests,
    forget: () => {
      app = open();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Test USDC of each address, in their order. */
export async function balancesOf(service: Pick<TestService, 'chain'>, addresses: readonly string[]): Promise<bigint[]> {
  return Promise.all(
    addresses.map(async (address) => {
      const data = encodeFunctionData({ abi: ERC20, functionName: 'balanceOf', args: [address as `0x${string}`] });
      return BigInt(await callChain<string>(service.chain.rpcUrl, 'eth_call', [{ to: service.chain.usdc, data }, 'latest']));
    }),
  );
}
