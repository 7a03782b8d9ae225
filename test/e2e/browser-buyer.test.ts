/** The stock clients in a web page of another origin: the browser asks first, and shows them only what it may. */
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { buyPage } from '../../examples/buyer/buyer.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { checkService } from '../support/invariants.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

let service: TestService;
let site: TestSite;
let shop: Shop;
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  shop = await openShop(service, site);
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
});

const ORIGIN = 'https://reader.example';
const listOf = (headers: Headers, name: string) => (headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);

/** `fetch` with the rules of the Fetch standard for another origin; `asked` gets the headers that each preflight asks for. */
function browserFetch(asked: string[][]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const names = [...request.headers.keys()].filter((name) => !['accept', 'content-type', 'user-agent'].includes(name));
    if (names.length > 0) {
      asked.push(names);
      const headers = {
        origin: ORIGIN,
        'access-control-request-method': 'GET',
        'access-control-request-headers': names.join(','),
      };
      const allowed = await fetch(request.url, { method: 'OPTIONS', headers });
      if (!allowed.ok || !isOpen(allowed)) throw new TypeError('Failed to fetch: the preflight is refused');
      const refused = names.filter((name) => !covers(listOf(allowed.headers, 'access-control-allow-headers'), name));
      if (refused.length > 0) throw new TypeError(`Failed to fetch: ${refused.join(', ')} not allowed`);
    }
    request.headers.set('origin', ORIGIN);
    const answer = await fetch(request);
    if (!isOpen(answer)) throw new TypeError('Failed to fetch: another origin');
    const exposed = ['content-type', 'cache-control', ...listOf(answer.headers, 'access-control-expose-headers')];
    const shown = [...answer.headers].filter(([name]) => covers(exposed, name));
    return new Response(await answer.arrayBuffer(), { status: answer.status, headers: shown });
  };
}

/** Without credentials the asterisk stands for every name but `authorization`. */
const covers = (names: readonly string[], name: string): boolean =>
  names.includes(name) || (names.includes('*') && name !== 'authorization');
const isOpen = ({ headers }: Response) => ['*', ORIGIN].includes(headers.get('access-control-allow-origin') ?? '');

test.each(['v1', 'v2'])(
  'a stock %s client in a web page buys, with its preflight allowed and its answer shown',
  async (version) => {
    const privateKey = newPrivateKey();
    const account = privateKeyToAccount(privateKey);
    await mintUsdc(service.chain.rpcUrl, account.address.toLowerCase() as Address, 10_000n);
    const asked: string[][] = [];
    const url = `${shop.url}/articles/trio`;
    if (version === 'v2') {
      const bought = await buyPage(url, privateKey, browserFetch(asked));
      expect(bought).toMatchObject({ status: 200, page: '<p>trio</p>', settlement: { success: true } });
      expect(bought.licence).not.toBeNull();
    } else {
      const bought = await wrapFetchV1(browserFetch(asked), account)(url);
      expect([bought.status, await bought.text()]).toEqual([200, '<p>trio</p>']);
      expect(bought.headers.get('x-payment-response')).not.toBeNull();
    }
    expect(asked).toEqual([expect.arrayContaining(['access-control-expose-headers'])]);
    expect(await balancesOf(service, [account.address])).toEqual([9_000n]);
    await checkService(service);
  },
);
