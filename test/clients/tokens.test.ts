/** Supertab's published clients, unmodified, find the terms of a page, get a token for them and open the page; the chain says that its authors were paid. */
import type { Server } from 'node:http';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PrivateKeyAccount } from 'viem/accounts';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccountClient } from '../../modules/identity/use/accounts/clients.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { WALLETS } from '../support/api.ts';
import { signInWith, stockFetch } from '../support/licences.ts';
import { askForToken } from '../support/olp.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';
import { buyWith, noteBought, runnable } from './program.ts';
import type { HeldClient } from './table.ts';
import { TOKEN_BUYERS } from './table.ts';

/** What a licence over three priced pages costs. */
const LICENCE = 3_000n;

let service: TestService;
let site: TestSite;
let shop: Shop;
let front: Awaited<ReturnType<typeof openFront>>;
beforeAll(async () => {
  service = await startTestService({ environment: { PUBLIC_BASE_URL: '' } }); // clients go where the documents say
  site = await service.site();
  shop = await openShop(service, site);
  front = await openFront(shop.url);
});
afterAll(async () => {
  await front?.close();
  await shop?.close();
  await service?.stop();
});

/** The site by its own name, to a client that takes this for its proxy or for the site's address. `hidden` paths are 404 there. */
async function openFront(to: string) {
  const asked: string[] = [];
  const hidden = new Set<string>();
  const server: Server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', to);
    asked.push(pathname);
    if (hidden.has(pathname)) return response.writeHead(404).end();
    const passed = send(new URL(pathname + search, to), { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    return request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, hidden, close };
}

/** An account of a new wallet with an OAuth client of its own. */
async function newAccount(amountMicro: bigint) {
  const privateKey = newPrivateKey();
  const wallet: PrivateKeyAccount = privateKeyToAccount(privateKey);
  if (amountMicro > 0n) await mintUsdc(service.chain.rpcUrl, wallet.address.toLowerCase() as Address, amountMicro);
  const { accountId } = await signInWith(service.baseUrl, wallet);
  const deps = { database: service.database, pepper: pepperOf(service.secrets) };
  const { clientId, clientSecret } = await createAccountClient(deps, { accountId });
  return { privateKey, wallet, clientId, clientSecret: clientSecret ?? '' };
}
type Account = Awaited<ReturnType<typeof newAccount>>;

/** The client of Python finds names by a proxy, that of Node is told where the site is. */
function environmentOf({ kit }: HeldClient, { clientId, clientSecret }: Account) {
  const by =
    kit === 'supertab'
      ? { SITE_ORIGIN: `https://${site.host}`, SITE_AT: front.url }
      : { http_proxy: front.url, HTTP_PROXY: front.url, no_proxy: '127.0.0.1', NO_PROXY: '127.0.0.1' };
  return { OLP_CLIENT_ID: clientId, OLP_CLIENT_SECRET: clientSecret, ...by };
}

function pagesFor({ kit }: HeldClient, ...slugs: readonly string[]): readonly string[] {
  const scheme = kit === 'supertab' ? 'https' : 'http'; // a proxy sees through http alone
  return slugs.map((slug) => `${scheme}://${site.host}/articles/${slug}`);
}

/** Buys the licence as a stock x402 client does, for a client that cannot pay. */
async function buyLicence({ wallet, ...client }: Account): Promise<void> {
  const at = (url: string): string => url.replace(`https://${site.host}`, shop.url);
  const bought = await askForToken(`https://${site.host}/articles/trio`, { ...client, send: stockFetch(wallet), at });
  expect(bought.status).toBe(200);
}

const HERE = runnable(TOKEN_BUYERS);
// A file without a test is a failure, and which client is missing has been said: `NOT RUN: …`.
test.skipIf(HERE.length > 0)('no client that gets tokens is here', () => undefined);

describe.each(HERE)('$name $version', (client) => {
  test("gets from a page's address to its token, the page opens, its authors are paid, and a second page of the same terms moves no money", async () => {
    const account = await newAccount(5n * LICENCE);
    const parties = [account.wallet.address, ...WALLETS];
    const before = await balancesOf(service, parties);
    const paysItself = client.kit === 'supertab';
    if (paysItself) front.hidden.add('/license.xml');
    else await buyLicence(account);
    front.asked.length = 0;
    const env = environmentOf(client, account);
    const said = await buyWith(client, { privateKey: account.privateKey, env }, ...pagesFor(client, 'trio', 'duo', 'free'));
    front.hidden.clear();
    expect(said).toMatchObject(['trio', 'duo', 'free'].map((slug) => ({ status: 200, page: `<p>${slug}</p>` })));
    const [trio, duo, free] = said.map(({ receipt }) => receipt);
    expect([duo, free]).toEqual([trio, null]);
    expect(trio?.split('.')).toHaveLength(3);
    const found = paysItself ? ['/license.xml', '/robots.txt'] : ['/license.xml'];
    expect(front.asked.filter((path) => !path.startsWith('/articles/'))).toEqual(found);
    const moved = (await balancesOf(service, parties)).map((micro, at) => micro - (before[at] ?? 0n));
    expect(moved[0]).toBe(-LICENCE);
    expect(moved.slice(1).every((micro) => micro > 0n)).toBe(true);
    expect(moved.reduce((sum, micro) => sum + micro, 0n)).toBe(0n);
    noteBought(client);
  });

  test('without a licence and without money it reports our 402 and the reason, and nothing moves', async () => {
    const account = await newAccount(0n);
    const before = await balancesOf(service, WALLETS);
    const env = environmentOf(client, account);
    const [said] = await buyWith(client, { privateKey: account.privateKey, env }, ...pagesFor(client, 'trio'));
    expect(said).toMatchObject({ status: 0, page: expect.stringMatching(/402.*unauthorized_client/) });
    expect(await balancesOf(service, WALLETS)).toEqual(before);
  });

  test('with the secret of another client it reports our 401', async () => {
    const [account, other] = [await newAccount(0n), await newAccount(0n)];
    const env = environmentOf(client, { ...account, clientSecret: other.clientSecret });
    const [said] = await buyWith(client, { privateKey: account.privateKey, env }, ...pagesFor(client, 'trio'));
    expect(said).toMatchObject({ status: 0, page: expect.stringMatching(/401.*invalid_client/) });
  });
});
