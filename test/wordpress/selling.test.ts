/** The plugin from its settings page to sales on chain, and every way in which the service can be away. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import { importJWK, SignJWT } from 'jose';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { buyPage } from '../../examples/buyer/buyer.ts';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { setEnforcement } from '../../modules/gate/use/enforcement.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { setCreditsToken } from '../../modules/quotes/use/credits/token.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { checksumAddress } from '../../platform/chain/offer.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { WALLETS } from '../support/api.ts';
import { payFor } from '../support/buying.ts';
import { balancesOf } from '../support/shop.ts';
import type { Browser } from './support/browser.ts';
import { logIn } from './support/browser.ts';
import { ADMIN, HOST } from './support/wordpress.ts';
import type { World } from './support/world.ts';
import { startWorld } from './support/world.ts';

const [ANN, BOB, GUEST] = WALLETS.map((wallet) => checksumAddress(wallet as Address)) as [string, string, string];
const PERSON = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const AGENT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)';
/** A page cache at its defaults, as a drop-in. */
const CACHE = fileURLToPath(new URL('site/advanced-cache.php', import.meta.url));
const SETTINGS = '/wp-admin/options-general.php?page=content-settlement';

/** The token of the credits API, as the settings page has shown it. */
let token = '';
let world: World;
let admin: Browser;

beforeAll(async () => {
  world = await startWorld();
  const { database } = world.service;
  await setEnforcement(
    { database },
    {
      tenantId: world.site.tenantId,
      settings: {
        ...DEFAULT_ENFORCEMENT,
        gateScope: { mode: 'prefixes' },
        seoAllowlist: ['googlebot'],
        crawlerPolicy: { allow: ['friendbot'], charge: [], block: ['badbot'] },
      },
    },
  );
  await writePosts();
  admin = await logIn(world.wordpress, ADMIN.user, ADMIN.password);
});

afterAll(() => world?.stop());

/** Three authors and what they wrote, one post a case; permalinks under /stories/. */
async function writePosts(): Promise<void> {
  await world.wordpress.php(`
    global $wp_rewrite;
    $wp_rewrite->set_permalink_structure( '/stories/%postname%/' );
    $wp_rewrite->flush_rules();
    update_option( 'posts_per_rss', 50 );
    wp_update_user( array( 'ID' => 1, 'user_nicename' => 'editor' ) );
    $ids = array();
    foreach ( array( 'ann', 'bob', 'cyd' ) as $name ) {
      $ids[ $name ] = wp_insert_user( array( 'user_login' => $name, 'user_pass' => "$name has a password", 'user_email' => "$name@example.com", 'display_name' => ucfirst( $name ), 'role' => 'author' ) );
    }
    $posts = array( 'two' => 'ann', 'alone' => 'ann', 'unpaid' => 'cyd', 'given' => 'ann', 'breaks' => 'ann', 'gone' => 'ann', 'blank' => 'ann', 'lets-go' => 'ann', 'слово' => 'ann', 'guests' => 'ann', 'later' => 'ann', 'sealed' => 'ann', 'opened' => 'ann', 'half' => 'ann' );
    foreach ( $posts as $title => $author ) {
      $posts[ $title ] = wp_insert_post( array( 'post_title' => 'two' === $title ? 'By two & for all' : $title, 'post_name' => $title, 'post_content' => "The whole text of $title.", 'post_excerpt' => "Short $title.", 'post_status' => 'publish', 'post_author' => $ids[ $author ] ) );
    }
    ContentSettlement\\Credits::store( $posts['two'], array( $ids['ann'] => 2, $ids['bob'] => 1 ), false );
    ContentSettlement\\Credits::store( $posts['half'], array( $ids['ann'] => 1, $ids['cyd'] => 1 ), false );
    ContentSettlement\\Credits::store( $posts['given'], array(), true );
    update_post_meta( $posts['guests'], 'test_coauthors', array( $ids['bob'], array( 'ID' => $posts['alone'], 'user_nicename' => 'visitor', 'display_name' => 'A visitor', 'linked_account' => '' ) ) );
    update_post_meta( $posts['alone'], 'content_settlement_wallet', '${GUEST}' );
  `);
}

/** Rows of the options table that hold a text. */
const storedWith = (text: string): Promise<string[]> =>
  world.wordpress.php(
    `global $wpdb; echo wp_json_encode( $wpdb->get_col( "SELECT option_name FROM $wpdb->options WHERE option_value LIKE '%${text}%'" ) );`,
  );

const tokenIn = (page: string): string => /wpc_[0-9a-f]{48}/.exec(page)?.[0] ?? 'none';

async function tellService(told: string): Promise<void> {
  const { database, secrets } = world.service;
  const secretBox = createSecretBox(Buffer.from(secrets.secretsKey, 'base64url'));
  await setCreditsToken({ database, secretBox }, { tenantId: world.site.tenantId, actor: operatorNamed('ops') }, told);
}

interface Buyer {
  readonly privateKey: `0x${string}`;
  readonly address: Address;
}

async function newBuyer(): Promise<Buyer> {
  const privateKey = newPrivateKey();
  const address = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
  await mintUsdc(world.service.chain.rpcUrl, address, 100_000n);
  return { privateKey, address };
}

const pageOf = (slug: string): string => `${world.wordpress.url}/stories/${encodeURIComponent(slug)}/`;

/** A request, its answer with the text read. */
async function ask(slug: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
  const response = await fetch(pageOf(slug), { redirect: 'manual', ...init, headers: { 'user-agent': AGENT, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A signed payment for the offer of a page. */
async function payment(slug: string, buyer: Buyer): Promise<string> {
  const url = `${world.service.baseUrl}/_svc/quote?resource=${encodeURIComponent(`https://${HOST}/stories/${slug}/`)}`;
  const quote = await fetch(url, { headers: { authorization: `Bearer ${world.site.key}` } });
  return payFor(privateKeyToAccount(buyer.privateKey), (await quote.json()) as Parameters<typeof payFor>[1]);
}

/** Forgets what the plugin remembers of prices, licences and failures. */
async function forget(): Promise<void> {
  await world.wordpress.php(
    `global $wpdb; $wpdb->query( "DELETE FROM $wpdb->options WHERE option_name LIKE '%transient%content_settlement%'" );`,
  );
}

/** Verdicts in the service's own audit, the newest last. */
async function verdicts(slug: string): Promise<string[]> {
  const rows = await world.service.database.query<{ verdict: string }>(
    'select verdict from observation where tenant_id = $1 and slug = $2 order by at',
    [world.site.tenantId, slug],
  );
  return rows.map(({ verdict }) => verdict);
}

const runCron = (): Promise<string> =>
  world.wordpress
    .php('ContentSettlement\\Reports::send_waiting(); echo ContentSettlement\\Reports::count_waiting();')
    .then(String);

test('without settings the plugin changes nothing', async () => {
  expect(await ask('two')).toMatchObject({ status: 200, text: expect.stringContaining('The whole text of two.') });
});

test('the settings page takes address and key of the service, refuses others, and never shows the key again', async () => {
  const fields = { service_url: world.line.url, api_key: world.connectKey };
  const connect = (changes: object) => admin.submit(SETTINGS, 'content_settlement_connect', { ...fields, ...changes });
  expect(await connect({ service_url: 'http://169.254.169.254/' })).toContain('has to begin with https://');
  expect(await connect({ api_key: 'password' })).toContain('That is no key of the service');
  const connected = await connect({});
  expect(connected).toContain('Connected.');
  token = tokenIn(connected);
  expect([await storedWith(token), await storedWith(world.connectKey)]).toEqual([[], ['content_settlement_api_key']]);
  await tellService(token);
  const page = await admin.read(SETTINGS);
  expect([page.includes(world.connectKey), page.includes(token)]).toEqual([false, false]);
  expect(page).toContain('Next: prove that this site is yours.');
});

test('its buttons ask for an administrator and for the page’s own nonce', async () => {
  const body = new URLSearchParams({ action: 'content_settlement_connect', service_url: 'https://evil.example', api_key: '' });
  expect((await admin.request(SETTINGS, { method: 'POST', body })).status).toBe(403);
  const author = await logIn(world.wordpress, 'ann', 'ann has a password');
  expect((await author.request(SETTINGS, { method: 'POST', body })).status).toBe(403);
  expect(await admin.read(SETTINGS)).toContain(world.line.url);
});

test('a robot that comes before the site is proven reads free, and nobody is told that the key is refused', async () => {
  expect((await ask('two')).status).toBe(200);
  const page = await admin.read(SETTINGS);
  expect([page.includes('refuses this site'), page.includes('Last problem')]).toEqual([false, false]);
});

test('one button proves the host: the plugin serves the token, the service finds it, the key loses the right', async () => {
  expect((await fetch(`${world.wordpress.url}/.well-known/svc-challenge/x`)).status).toBe(404);
  expect(await admin.submit(SETTINGS, 'content_settlement_prove', {})).toContain(`${HOST} is proven to be yours.`);
  const self = await fetch(`${world.service.baseUrl}/_svc/tenants/self`, {
    headers: { authorization: `Bearer ${world.connectKey}` },
  });
  expect(await self.json()).toMatchObject({ tenants: [{ hosts: expect.arrayContaining([HOST]) }] });
  expect((await fetch(`${world.wordpress.url}/.well-known/svc-challenge/x`)).status).toBe(404);
});

test('an author enters a wallet in the own profile; a mistyped one is refused', async () => {
  for (const [name, wallet] of [
    ['ann', ANN],
    ['bob', BOB.toLowerCase()],
  ] as const) {
    const author = await logIn(world.wordpress, name, `${name} has a password`);
    const enter = (text: string) => author.submit('/wp-admin/profile.php', 'update', { content_settlement_wallet: text });
    const mistyped = ANN.replace(/[a-f](?=[^a-f]*$)/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    expect(await enter(mistyped)).toContain('The wallet is not a valid address');
    expect(await enter(wallet)).toContain(checksumAddress(wallet.toLowerCase() as Address));
  }
});

const credits = (slug: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
  fetch(`${world.wordpress.url}/wp-json/content-settlement/v1/credits/${encodeURIComponent(slug)}`, { headers });

test('the credits API names authors, wallets and parts; 404 where somebody has no wallet', async () => {
  expect(await (await credits('two')).json()).toEqual({
    title: 'By two & for all',
    contributors: [
      { authorId: 'ann', wallet: ANN, weight: 2 },
      { authorId: 'bob', wallet: BOB, weight: 1 },
    ],
  });
  expect(await (await credits('guests')).json()).toMatchObject({
    contributors: [{ authorId: 'bob' }, { authorId: 'visitor', wallet: GUEST }],
  });
  expect(await (await credits('given')).json()).toEqual({ free: true });
  expect((await credits('слово')).status).toBe(200);
  for (const slug of ['unpaid', 'half', 'no-such-post', '../wp-login.php', 'two/feed'])
    expect((await credits(slug)).status).toBe(404);
});

const clients = {
  '@x402/fetch 2.27': async (url: string, { privateKey }: Buyer) => {
    let headers = new Headers();
    const send: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      headers = response.headers;
      return response;
    };
    const { status, page } = await buyPage(url, privateKey, send);
    return { status, page, headers };
  },
  'x402-fetch 1.2': async (url: string, { privateKey }: Buyer) => {
    const response = await wrapFetchV1(fetch, privateKeyToAccount(privateKey))(url);
    return { status: response.status, page: await response.text(), headers: response.headers };
  },
};

test.each(Object.keys(clients))('stock %s buys a post by two authors: each has his share on chain', async (name) => {
  const buyer = await newBuyer();
  const parties = [buyer.address, ANN, BOB];
  const before = await balancesOf(world.service, parties);
  const bought = await clients[name as keyof typeof clients](pageOf('two'), buyer);
  expect(bought).toMatchObject({ status: 200, page: expect.stringContaining('The whole text of two.') });
  const after = await balancesOf(world.service, parties);
  expect(after.map((balance, index) => balance - (before[index] as bigint))).toEqual([-3_000n, 2_000n, 1_000n]);
  const { headers } = bought;
  expect(headers.get('crawler-charged')).toBe('USD 0.003');
  expect(headers.get('cache-control')).toBe('private, no-store');
  const names = ['payment-response', 'x-payment-response'].filter((one) => headers.has(one));
  expect(names).toEqual([name.startsWith('x402-fetch') ? 'x-payment-response' : 'payment-response']);

  const licence = { authorization: `License ${headers.get('x-licence')}` };
  expect(await ask('two', licence)).toMatchObject({ status: 200, text: expect.stringContaining('The whole text') });
  expect((await ask('alone', licence)).status).toBe(402);
  expect(await balancesOf(world.service, parties)).toEqual(after);
});

/** A fetch that knows where the site's name leads, as a name server would say it. */
const toSite: typeof fetch = async (input, init) => {
  const { url, method, headers } = new Request(input, init);
  const { pathname, search } = new URL(url);
  const sent = { method, headers: { ...Object.fromEntries(headers), 'user-agent': AGENT } };
  const answer = await fetch(world.wordpress.url + pathname + search, sent);
  // Without the address that it was really fetched from: the stock client signs nothing for another one than the offer names.
  return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers });
};

const MARKDOWN = { accept: 'text/markdown, text/html;q=0.9' };
const FORMS: readonly (readonly [ending: string, headers: Record<string, string>])[] = [
  ['/', {}],
  ['.htm', {}],
  ['.md', {}],
  ['.txt', {}],
  ['.json', {}],
  ['.html', {}],
  ['/index.html', {}],
  ['/amp', {}],
  ['/print', {}],
  ['/?amp=1', {}],
  ['/?print=1', {}],
  ['/', MARKDOWN],
];

test.each(FORMS)(
  'as /stories/two%s %j a post is offered unpaid, given for its price, and opened by its licence',
  async (ending, more) => {
    const at = (headers: Record<string, string>) =>
      fetch(`${world.wordpress.url}/stories/two${ending}`, {
        redirect: 'manual',
        headers: { 'user-agent': AGENT, ...more, ...headers },
      });
    const unpaid = await at({});
    expect([unpaid.status, (await unpaid.text()).includes('The whole text of two')]).toEqual([402, false]);
    const offer = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
    expect([offer.resource.url, offer.accepts[0].amount]).toEqual([`https://${HOST}/stories/two/`, '3000']);
    const buyer = await newBuyer();
    const paid = await at({ 'payment-signature': await payment('two', buyer) });
    const page = await paid.text();
    expect([paid.status, page.includes('The whole text of two.')]).toEqual([200, true]);
    const again = await at({ authorization: `License ${paid.headers.get('x-licence')}` });
    expect([again.status, (await again.text()).includes('The whole text of two.')]).toEqual([200, true]);
    expect(await balancesOf(world.service, [buyer.address])).toEqual([97_000n]);
    if (ending !== '.md' && !('accept' in more)) return;
    for (const one of [paid, again]) expect(one.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(page).not.toMatch(/<(p|div|html)\b/);
    expect(paid.headers.get('x-markdown-tokens')).toBe(String(Math.ceil(Buffer.byteLength(page) / 4)));
  },
);

test('a person who asks for a form of a post is sent on to the post, and a post’s own feed stays its comments', async () => {
  const at = (ending: string) =>
    fetch(`${world.wordpress.url}/stories/two${ending}`, { redirect: 'manual', headers: { 'user-agent': PERSON } });
  for (const ending of ['.md', '/amp', '/print']) {
    const answer = await at(ending);
    expect([answer.status, answer.headers.get('location')]).toEqual([301, expect.stringMatching(/\/stories\/two\/$/)]);
  }
  const feed = await at('/feed/');
  expect([feed.status, (await feed.text()).includes('The whole text of two')]).toEqual([200, false]);
  expect((await at('-and-more.md')).status).toBe(404);
});

test('a wallet that bought reads again by the stock sign-in-with-x client without paying; another wallet gets the offer, what was seen on its way nothing', async () => {
  const buyer = await newBuyer();
  const url = `https://${HOST}/stories/two/`;
  await clients['@x402/fetch 2.27'](pageOf('two'), buyer);
  const before = await balancesOf(world.service, [buyer.address]);
  const seen: string[] = [];
  const send: typeof fetch = (input, init) => {
    const proof = new Request(input, init).headers.get('sign-in-with-x');
    if (proof !== null) seen.push(proof);
    return toSite(input, init);
  };
  const signer = privateKeyToAccount(buyer.privateKey);
  for (let time = 0; time < 2; time++) {
    const again = await wrapFetchWithSIWx(send, signer)(url);
    expect([again.status, (await again.text()).includes('The whole text of two.')]).toEqual([200, true]);
    const licence = { authorization: `License ${again.headers.get('x-licence')}` };
    expect((await ask('two', licence)).status).toBe(200);
  }
  expect(await balancesOf(world.service, [buyer.address])).toEqual(before);
  const replayed = await ask('two', { 'sign-in-with-x': seen[0] as string });
  expect([replayed.status, JSON.parse(replayed.text).error]).toEqual([402, 'unknown_credential: the nonce was used']);
  const stranger = privateKeyToAccount((await newBuyer()).privateKey);
  expect((await wrapFetchWithSIWx(toSite, stranger)(url)).status).toBe(402);
  const broken = await ask('two', { 'sign-in-with-x': '%%%' });
  expect([broken.status, JSON.parse(broken.text).error]).toEqual([402, 'unknown_credential: SIGN-IN-WITH-X is not readable']);
});

test('the record of a payment has the hash of the page that WordPress served for it', async () => {
  const buyer = await newBuyer();
  const { headers, page } = await clients['@x402/fetch 2.27'](pageOf('two'), buyer);
  const said = JSON.parse(atob(headers.get('payment-response') as string)).extensions['offer-receipt'].info.record as string;
  expect(await runCron()).toBe('0');
  const record = await fetch(`${world.service.baseUrl}${new URL(said).pathname}?format=json`);
  expect(await record.json()).toMatchObject({
    body: { sha256: createHash('sha256').update(page).digest('hex'), bytes: Buffer.byteLength(page) },
  });
});

test('people, whoever has logged in, search engines and whom the owner lets in read as before, and cost no call', async () => {
  const calls = world.line.asked.length;
  for (const ua of [PERSON, GOOGLE, 'FriendBot/1.0']) {
    const page = await ask('two', { 'user-agent': ua });
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('The whole text of two.') });
    for (const name of ['crawler-price', 'access-control-allow-origin', 'vary']) expect(page.headers.get(name)).toBeNull();
    expect(page.headers.get('cache-control')).toBe('public, max-age=600');
  }
  expect((await admin.request('/stories/two/', { headers: { 'user-agent': AGENT } })).status).toBe(200);
  expect(world.line.asked).toHaveLength(calls);
});

test('an agent gets an offer, whoever looks at it a page that says it in words, a blocked crawler 403', async () => {
  const offered = await ask('two');
  expect(offered.status).toBe(402);
  expect(JSON.parse(offered.text)).toMatchObject({ x402Version: 1, accepts: [{ maxAmountRequired: '3000' }] });
  expect(Object.fromEntries(offered.headers)).toMatchObject({
    'crawler-price': 'USD 0.003',
    'cache-control': 'private, no-store',
    vary: expect.stringContaining('PAYMENT-SIGNATURE'),
    link: expect.stringContaining(`/_svc/discovery/${HOST}/x402.json`),
  });
  const shown = await ask('two', { accept: 'text/html' });
  expect(shown.text).toContain('By two &amp; for all');
  expect(shown.text).toContain('$0.003');
  expect(shown.text).toContain('Ann');
  const refused = await ask('two', { 'user-agent': 'BadBot/2' });
  expect([refused.status, refused.headers.get('crawler-error')]).toEqual([403, 'CrawlerForbidden']);
  const poor = await ask('two', { 'crawler-max-price': 'USD 0.002' });
  expect([poor.status, poor.headers.get('crawler-error')]).toEqual([402, 'InvalidCrawlerMaxPrice']);
  expect(offered.headers.get('crawler-error')).toBeNull();
  const preview = await fetch(`${world.wordpress.url}/stories/two/?preview=1`, { headers: { 'user-agent': AGENT } });
  expect([preview.status, (await preview.text()).includes('The whole text')]).toEqual([402, false]);
  expect((await ask('слово')).status).toBe(402);
});

test('HEAD, a part of a page, POST and two payments in one request are told the price and charged nothing', async () => {
  const buyer = await newBuyer();
  const paying = { 'payment-signature': await payment('two', buyer) };
  const head = await ask('two', paying, { method: 'HEAD' });
  expect(head.status).toBe(402);
  expect(head.headers.get('payment-required')).not.toBeNull();
  expect((await ask('two', { ...paying, range: 'bytes=0-9' })).status).toBe(402);
  expect((await ask('two', paying, { method: 'POST' })).status).toBe(402);
  expect((await ask('two', { ...paying, 'x-payment': await payment('two', buyer) })).text).toContain(
    'two payments in one request',
  );
  expect(await balancesOf(world.service, [buyer.address])).toEqual([100_000n]);
});

test.each(['breaks', 'gone', 'blank', 'lets-go', 'no-such-page'])(
  'a page that cannot be made (%s) costs nothing',
  async (slug) => {
    const buyer = await newBuyer();
    const paid = await ask(slug, { 'payment-signature': await payment(slug === 'no-such-page' ? 'two' : slug, buyer) });
    expect(paid.status === 200 ? slug : 'an error').toBe(slug === 'lets-go' ? slug : 'an error');
    expect(await balancesOf(world.service, [buyer.address])).toEqual([100_000n]);
  },
);

test('a payment that is not taken comes back as a fresh offer with the reason in both of its forms', async () => {
  const poor = { privateKey: newPrivateKey(), address: '0x' as Address };
  const refused = await ask('two', { 'payment-signature': await payment('two', poor) });
  expect(refused.status).toBe(402);
  expect(JSON.parse(refused.text).error).toMatch(/^insufficient_funds/);
  expect(Buffer.from(refused.headers.get('payment-required') ?? '', 'base64').toString()).toContain('insufficient_funds');
});

test('posts of an author without a wallet, and those their editor gives away, are free', async () => {
  expect((await ask('unpaid')).status).toBe(200);
  expect((await ask('given')).status).toBe(200);
});

test('what was decided reaches the audit: denied, read again, blocked, unservable, free', async () => {
  expect(await runCron()).toBe('0');
  expect(await verdicts('two')).toEqual(expect.arrayContaining(['denied', 'paid', 'agent-reread', 'blocked']));
  expect(await verdicts('breaks')).toContain('unservable');
  expect(await verdicts('unpaid')).toContain('served-free');
});

const OTHER_PLACES = {
  home: '/',
  search: '/?s=whole',
  author: '/author/ann/',
  category: '/category/uncategorized/',
  tag: '/tag/told/',
  year: '/2026/',
  'year by query': '/?m=2026',
  'posts by query': '/?post_type=post',
  'page two': '/page/2/',
  feed: '/feed/',
  'feed of an author': '/author/ann/feed/',
  'feed by query': '/?feed=rss2',
  atom: '/feed/atom/',
  'comments of a post': '/stories/two/feed/',
  comments: '/comments/feed/',
  embed: '/stories/two/embed/',
  oEmbed: `/wp-json/oembed/1.0/embed?url=${encodeURIComponent(`https://${HOST}/stories/two/`)}`,
  REST: '/wp-json/wp/v2/posts?per_page=50',
  'REST of a post': '/wp-json/wp/v2/posts?slug=two',
  'REST with a search': '/wp-json/wp/v2/search?search=whole',
  'REST without pretty addresses': '/?rest_route=/wp/v2/posts&per_page=50',
  'a post that shows others': '/stories/roundup/',
  'block of latest posts': '/latest/',
};

test.each(Object.entries(OTHER_PLACES))(
  'the %s of a theme that prints whole texts gives agents no sold text, and people and free readers what it always gave',
  async (_place, path) => {
    await world.wordpress.php(`
      $found = get_page_by_path( 'roundup', OBJECT, 'post' );
      $id = $found ? $found->ID : wp_insert_post( array( 'post_title' => 'roundup', 'post_name' => 'roundup', 'post_content' => '[all_posts]', 'post_status' => 'publish', 'post_author' => 1 ) );
      ContentSettlement\\Credits::store( $id, array(), true );
      $block = '<!-- wp:latest-posts {"postsToShow":50,"displayPostContent":true,"displayPostContentRadio":"full_post"} /-->';
      get_page_by_path( 'latest' ) || wp_insert_post( array( 'post_type' => 'page', 'post_title' => 'latest', 'post_name' => 'latest', 'post_content' => "<!-- wp:group --><div>$block</div><!-- /wp:group -->", 'post_status' => 'publish', 'post_author' => 1 ) );
      wp_set_post_tags( get_page_by_path( 'two', OBJECT, 'post' )->ID, 'told' );
    `);
    const read = async (userAgent: string) => {
      const answer = await fetch(`${world.wordpress.url}${path}`, { redirect: 'manual', headers: { 'user-agent': userAgent } });
      return { text: await answer.text(), cached: answer.headers.get('cache-control') ?? '' };
    };
    for (const userAgent of [AGENT, 'python-requests/2.32.3', 'OpenRAG/1.0', 'badbot', '']) {
      const { text, cached } = await read(userAgent);
      expect([userAgent, /The whole text of/.exec(text)?.[0]]).toEqual([userAgent, undefined]);
      if (text.includes('Short ')) expect([userAgent, cached]).toEqual([userAgent, expect.stringContaining('no-store')]);
    }
    const whole = (text: string): number => text.split('The whole text of').length;
    const { text } = await read(PERSON);
    for (const userAgent of [GOOGLE, 'Feedly/1.0', 'facebookexternalhit/1.1'])
      expect([userAgent, whole((await read(userAgent)).text)]).toEqual([userAgent, whole(text)]);
    if (/^\/(\?s|author\/ann\/$|$|tag|feed|stories\/roundup|latest)/.test(path)) expect(text).toContain('The whole text of');
  },
);

test('a page cache at its defaults gives no agent a sold text that a person saw, and no person what an agent got', async () => {
  const { php, url } = world.wordpress;
  const read = async (path: string, userAgent: string) => {
    const answer = await fetch(`${url}${path}`, { redirect: 'manual', headers: { 'user-agent': userAgent } });
    return { status: answer.status, isKept: answer.headers.get('x-page-cache') === 'hit', text: await answer.text() };
  };
  const trust = (page_cache: boolean): Promise<string> =>
    php(`$settings = get_option( 'content_settlement_settings' ); $settings['page_cache'] = ${page_cache};
      update_option( 'content_settlement_settings', $settings );`);
  const end = `@unlink( WP_CONTENT_DIR . '/advanced-cache.php' ); array_map( 'unlink', glob( sys_get_temp_dir() . '/test-page-cache-*' ) );`;
  await php(`copy( ${JSON.stringify(CACHE)}, WP_CONTENT_DIR . '/advanced-cache.php' );`);
  try {
    const whole = expect.stringContaining('The whole text of two.');
    for (const [person, agent] of [
      [PERSON, AGENT],
      [GOOGLE, 'python-requests/2.32.3'],
      ['facebookexternalhit/1.1', ''],
    ] as const) {
      expect(await read('/stories/two/', person)).toEqual({ status: 200, isKept: false, text: whole });
      expect(await read('/stories/two/', agent)).toMatchObject({ status: 402, isKept: false });
      expect(await read('/stories/two/', person)).toEqual({ status: 200, isKept: false, text: whole });
    }
    for (const path of ['/', '/?s=whole', '/author/ann/', '/feed/', '/stories/roundup/', '/latest/']) {
      expect([path, (await read(path, AGENT)).text]).toEqual([path, expect.not.stringContaining('The whole text of')]);
      expect([path, (await read(path, PERSON)).text]).toEqual([path, expect.stringContaining('The whole text of')]);
      expect([path, (await read(path, AGENT)).text]).toEqual([path, expect.not.stringContaining('The whole text of')]);
    }
    const nothing = '/?s=nobodywrotethis';
    expect([(await read(nothing, PERSON)).isKept, (await read(nothing, PERSON)).isKept]).toEqual([false, true]);
    await trust(true);
    expect([(await read('/stories/two/', PERSON)).isKept, (await read('/stories/two/', PERSON)).isKept]).toEqual([false, true]);
  } finally {
    await trust(false);
    await php(end);
  }
});

test('the token closes the credits API to all but the service, which was told it; a new one, shown once, ends the one before', async () => {
  expect((await credits('two', {})).status).toBe(401);
  expect((await credits('two', { authorization: 'Bearer wpc_wrong' })).status).toBe(401);
  expect((await credits('two')).status).toBe(200);
  const former = token;
  const nonce =
    /content_settlement_token[^>]*>\s*<input[^>]*name="_wpnonce" value="([^"]+)"/.exec(await admin.read(SETTINGS))?.[1] ?? '';
  token = tokenIn(await admin.submit(SETTINGS, 'content_settlement_token', {}));
  expect(await storedWith(token)).toEqual([]);
  const again = new URLSearchParams({ action: 'content_settlement_token', _wpnonce: nonce });
  expect((await admin.request(SETTINGS, { method: 'POST', body: again })).status).toBe(403);
  expect((await credits('two', { authorization: `Bearer ${former}` })).status).toBe(401);
  expect((await credits('two')).status).toBe(200);
  expect(await admin.read(SETTINGS)).not.toContain(token);
  expect((await ask('sealed')).status).toBe(503);
  await tellService(token);
  expect((await ask('opened')).status).toBe(402);
});

test('licences that the service never signed for the page, or for a holder who must prove it, cost it no call; one that it did is good while it is away, before it was ever shown', async () => {
  await forget();
  const bought = await ask('two', { 'payment-signature': await payment('two', await newBuyer()) });
  const licence = bought.headers.get('x-licence') ?? '';
  const [header = '', claims = '', signature = ''] = licence.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const changed = (change: object): string =>
    [header, Buffer.from(JSON.stringify({ ...read(claims), ...change })).toString('base64url'), signature].join('.');
  const turned = signature.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'));
  const show = (text: string, slug = 'two') => ask(slug, { authorization: `License ${text}` });
  const calls = world.line.asked.length;
  const invented = [
    changed({ exp: 9_999_999_999 }),
    changed({ jti: 'another' }),
    `${header}.${claims}.${turned}`,
    `${header}.${claims}.`,
  ];
  for (const one of invented) expect((await show(one)).status).toBe(402);
  expect((await show(licence, 'alone')).status).toBe(402);
  const key = await importJWK(world.service.secrets.licenceKey, 'EdDSA');
  const held = { ...read(claims), cnf: { address: (await newBuyer()).address.toLowerCase() } };
  expect((await show(await new SignJWT(held).setProtectedHeader(read(header)).sign(key))).status).toBe(402);
  expect(world.line.asked.slice(calls).filter((path) => path === '/_svc/license/check')).toEqual([]);
  world.line.mood = 'dead';
  try {
    expect(await show(licence)).toMatchObject({ status: 200, text: expect.stringContaining('The whole text of two.') });
    expect((await show(`${header}.${claims}.${turned}`)).status).not.toBe(200);
  } finally {
    world.line.mood = 'well';
  }
  await forget();
  expect((await show(licence)).status).toBe(200);
});

test('checks of licences that nobody answers give no page away and close none; an old licence holds meanwhile', async () => {
  await forget();
  const bought = await ask('two', { 'payment-signature': await payment('two', await newBuyer()) });
  const licence = { authorization: `License ${bought.headers.get('x-licence')}` };
  const calls = () => world.line.asked.filter((path) => path === '/_svc/license/check').length;
  const before = calls();
  Object.assign(world.line, { mood: 'dead', only: '/_svc/license/check' });
  try {
    for (let time = 0; time < 7; time++) expect((await ask('two', licence)).status).toBe(200);
    expect(calls() - before).toBe(5);
    await world.wordpress.php(
      `global $wpdb; $wpdb->query( "DELETE FROM $wpdb->options WHERE option_name LIKE '%transient%content_settlement_quote_%'" );`,
    );
    expect((await ask('two')).status).toBe(402);
  } finally {
    Object.assign(world.line, { mood: 'well', only: null });
    await forget();
  }
});

test('tokens of one licence have twenty questions a second together, all licences fifty and four at once; above that an agent is told to come back', async () => {
  await forget();
  const bought = await ask('two', { 'payment-signature': await payment('two', await newBuyer()) });
  const [header = '', payload = ''] = (bought.headers.get('x-licence') ?? '').split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const key = await importJWK(world.service.secrets.licenceKey, 'EdDSA');
  const { svc, ...claims } = read(payload);
  /** 0 and 100 to 139 are counted under different names. */
  const licence = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const token = (bought: string, jti: string): Promise<string> =>
    new SignJWT({ ...claims, jti, svc: { ...svc, licence: bought, scope: { patterns: ['/stories/two'] } } })
      .setProtectedHeader(read(header))
      .sign(key);
  const tokens = await Promise.all([
    ...Array.from({ length: 25 }, (_, n) => token(licence(0), `token-${n}`)),
    ...Array.from({ length: 40 }, (_, n) => token(licence(100 + n), 'token')),
  ]);
  const calls = () => world.line.asked.filter((path) => path === '/_svc/license/check').length;
  const before = calls();
  const worth: string[] = await world.wordpress.php(`
    eval( 'namespace ContentSettlement; function time() { return ' . \\time() . '; }' ); // all of it within one second
    global $wpdb;
    $wpdb->query( "DELETE FROM $wpdb->options WHERE option_name LIKE 'content\\_settlement\\_licence\\_%\\_rate'" ); // this second may have seen others
    $worth = static function ( string $token ): string { return ContentSettlement\\Licences::judge( $token, 'https://${HOST}/stories/two/', 'two', '${claims.iss}' ); };
    echo wp_json_encode( array_map( $worth, json_decode( '${JSON.stringify(tokens)}' ) ) );`);
  expect(worth.slice(0, 25)).toEqual([...Array(20).fill('good'), ...Array(5).fill('busy')]);
  expect(worth.slice(25)).toEqual([...Array(30).fill('good'), ...Array(10).fill('busy')]);
  expect(calls() - before).toBe(50);
  await world.wordpress.php(
    `foreach ( range( 0, 3 ) as $place ) { ContentSettlement\\Lock::take( "content_settlement_licence_$place", 90 ); }`,
  );
  const unseen = { authorization: `License ${await token(licence(1), 'token')}` };
  const told = await ask('two', unseen);
  expect([told.status, told.headers.get('payment-required'), told.headers.get('retry-after')]).toEqual([503, null, '5']);
  expect((await ask('two', { 'payment-signature': await payment('two', await newBuyer()) })).status).toBe(200);
  expect(calls() - before).toBe(50);
  await world.wordpress.php(
    `foreach ( range( 0, 3 ) as $place ) { ContentSettlement\\Lock::give_back( "content_settlement_licence_$place" ); }`,
  );
  // In the next second; this one has had its fifty.
  await expect.poll(async () => (await ask('two', unseen)).status, { timeout: 10_000 }).toBe(200);
});

test('four pages are sold at once, others wait for a place; a place that was not given back is free after its time', async () => {
  const places = await world.wordpress.php(`
    use ContentSettlement\\Lock;
    $take = static function (): array { return array_map( static function ( int $place ): bool { return Lock::take( "content_settlement_sale_$place", 90 ); }, range( 0, 3 ) ); };
    echo json_encode( array( $take(), $take() ) );`);
  expect(places).toEqual([Array(4).fill(true), Array(4).fill(false)]);
  const buyer = await newBuyer();
  const paying = { 'payment-signature': await payment('two', buyer) };
  const told = await ask('two', paying);
  expect([told.status, told.headers.get('payment-required'), told.headers.get('retry-after')]).toEqual([503, null, '2']);
  expect((await ask('two', { 'user-agent': PERSON })).status).toBe(200);
  await world.wordpress.php(
    `global $wpdb; $wpdb->query( "UPDATE $wpdb->options SET option_value = option_value - 91 WHERE option_name = 'content_settlement_sale_2_lock'" );`,
  );
  expect((await ask('two', paying)).status).toBe(200);
  expect((await ask('two', paying)).status).toBe(200);
  expect(await balancesOf(world.service, [buyer.address])).toEqual([97_000n]);
});

test.each(['dead', 'hung', 'failing', 'deaf'] as const)(
  'with a service that is %s, people get pages, agents read free and loudly, a payment waits and is charged once',
  async (mood) => {
    const buyer = await newBuyer();
    await forget();
    expect((await ask('two')).status).toBe(402);
    const paying = { 'payment-signature': await payment('two', buyer) };
    world.line.mood = mood;
    try {
      expect((await ask('two', { 'user-agent': PERSON })).status).toBe(200);
      expect(await ask('later')).toMatchObject({ status: 200, text: expect.stringContaining('The whole text of later.') });
      if (mood !== 'hung') {
        const told = await ask('two', paying);
        expect(told).toMatchObject({
          status: 503,
          text: expect.stringContaining('overloaded: please try again shortly, with the same payment'),
        });
        expect(told.headers.get('retry-after')).toMatch(/^\d+$/);
        expect(told.headers.get('payment-required')).toBeNull();
      }
      expect(await admin.read('/wp-admin/')).toContain('the service cannot be reached, so AI agents read for free');
    } finally {
      world.line.mood = 'well';
    }
    await forget();
    const paid = await ask('two', paying);
    expect(paid.status).toBe(200);
    expect((await ask('two', paying)).status).toBe(200);
    expect(await balancesOf(world.service, [buyer.address])).toEqual([97_000n]);
    expect(await admin.read('/wp-admin/')).not.toContain('the service cannot be reached');
  },
);

test('with the service killed readers never notice; one that bought before reads again by its licence; reports come when it is back', async () => {
  const buyer = await newBuyer();
  await forget();
  const bought = await ask('two', { 'payment-signature': await payment('two', buyer) });
  const licence = { authorization: `License ${bought.headers.get('x-licence')}` };
  expect((await ask('two', licence)).status).toBe(200);
  const late = { 'payment-signature': await payment('two', await newBuyer()) };
  await world.service.apis.at(-1)?.kill();
  expect((await ask('two', { 'user-agent': PERSON })).status).toBe(200);
  expect((await ask('two', { 'user-agent': GOOGLE })).status).toBe(200);
  expect((await ask('two', late)).status).toBe(503);
  expect((await ask('later')).status).toBe(200);
  await world.wordpress.php(
    `global $wpdb; $wpdb->query( "UPDATE $wpdb->options SET option_value = option_value - 90 WHERE option_name LIKE '_transient_content_settlement_licence_%'" );`,
  );
  expect((await ask('two', licence)).status).toBe(200);
  expect(Number(await runCron())).toBeGreaterThan(0);
  expect(world.wordpress.log()).toContain('an agent read free');
  await world.service.startApi();
  await forget();
  expect(await runCron()).toBe('0');
  expect(await verdicts('later')).toContain('served-free');
});

test('with the key revoked agents read free, and the admin pages say so', async () => {
  await forget();
  await world.service.database.query("update api_key set revoked_at = now() where tenant_id = $1 and name = 'WordPress'", [
    world.site.tenantId,
  ]);
  const statusOf = async () => {
    await forget();
    return (await ask('alone')).status;
  };
  await expect.poll(statusOf).toBe(200);
  expect((await ask('alone', { 'user-agent': PERSON })).status).toBe(200);
  expect(await admin.read('/wp-admin/')).toContain('refuses this site’s API key');
  expect(
    await admin.submit(SETTINGS, 'content_settlement_connect', { service_url: world.line.url, api_key: world.site.key }),
  ).toContain('Connected.');
  await forget();
  expect((await ask('alone')).status).toBe(402);
});

test('when a quote is old, one of many requests asks for the new one, and the others do not wait', async () => {
  expect((await ask('two')).status).toBe(402);
  await world.wordpress.php(`
    $name = 'content_settlement_quote_' . md5( 'https://${HOST}/stories/two/' );
    set_transient( $name, array( 'at' => time() - 90 ) + get_transient( $name ), 600 );
  `);
  const calls = world.line.asked.length;
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask('two')));
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(402));
  expect(world.line.asked.slice(calls).filter((path) => path === '/_svc/quote')).toHaveLength(1);
});

test('who gets the lock of an old quote when another request has just renewed it reads that one and asks nobody', async () => {
  expect((await ask('two')).status).toBe(402);
  const calls = world.line.asked.length;
  const state = await world.wordpress.php(`
    global $wpdb;
    $name  = 'content_settlement_quote_' . md5( 'https://${HOST}/stories/two/' );
    $fresh = get_transient( $name );
    set_transient( $name, array( 'at' => time() - 90 ) + $fresh, 600 );
    add_filter( 'query', static function ( $query ) use ( $wpdb, $name, $fresh ) {
      static $is_first = true;
      if ( $is_first && str_starts_with( $query, 'INSERT IGNORE' ) ) {
        $is_first = false;
        $wpdb->update( $wpdb->options, array( 'option_value' => serialize( array( 'at' => time() ) + $fresh ) ), array( 'option_name' => "_transient_$name" ) );
      }
      return $query;
    } );
    echo ContentSettlement\\Quotes::of( 'https://${HOST}/stories/two/' )['state'];
  `);
  expect(state).toBe('priced');
  expect(world.line.asked.slice(calls).filter((path) => path === '/_svc/quote')).toEqual([]);
});

test('the box beside a post shares it out: with its nonce, and for others only by who may edit their posts', async () => {
  const shares = await world.wordpress.php(`
    $post = get_page_by_path( 'later', OBJECT, 'post' );
    $ids  = array_map( static function ( $name ) { return get_user_by( 'login', $name )->ID; }, array( 'ann' => 'ann', 'bob' => 'bob' ) );
    $told = array();
    foreach ( array( array( 'admin', false ), array( 'cyd', true ), array( 'ann', true ), array( 'admin', true ) ) as list( $name, $with_nonce ) ) {
      wp_set_current_user( get_user_by( 'login', $name )->ID );
      $nonce  = $with_nonce ? wp_create_nonce( 'content_settlement_authors' ) : 'forged';
      $_POST  = array( 'content_settlement_authors' => $nonce, 'content_settlement_weights' => array( $ids['ann'] => '1', $ids['bob'] => '3', 999 => '5' ) );
      ContentSettlement\\Authors_Box::save( $post->ID );
      $told[] = "$name " . wp_json_encode( wp_list_pluck( ContentSettlement\\Credits::authors_of( $post ), 'weight', 'id' ) );
    }
    echo wp_json_encode( $told );
  `);
  expect(shares).toEqual(['admin {"ann":1}', 'cyd {"ann":1}', 'ann {"ann":1}', 'admin {"ann":1,"bob":3}']);
});

test('whose wallet changes is told by mail', async () => {
  expect(await world.wordpress.php("echo get_option( 'test_last_mail' );")).toMatch(
    /^bob@example.com: Your share of paid reads now goes to/,
  );
});

test('two requests never lose each other’s reports, and more than 500 drop the oldest', async () => {
  const left = await world.wordpress.php(`
    for ( $i = 0; $i < 510; $i++ ) { ContentSettlement\\Reports::add( 'denied', 'https://${HOST}/stories/two/', 'two', 'isbot', "n$i" ); }
    ContentSettlement\\Reports::flush();
    echo wp_json_encode( array( ContentSettlement\\Reports::count_waiting(), ContentSettlement\\Health::read()['dropped_reports'] ) );
  `);
  expect(left[0]).toBe(500);
  expect(left[1]).toBeGreaterThanOrEqual(10);
  expect(await runCron()).toBe('0');
});

test('after five payments that nobody decided the next wait at once, quotes are still asked for, and one tries again after the pause', async () => {
  await forget();
  const states = await world.wordpress.php(`
    use ContentSettlement\\Breaker;
    for ( $i = 0; $i < 5; $i++ ) { Breaker::note( false, Breaker::SALES ); }
    $held = array( Breaker::is_open( Breaker::SALES ), Breaker::is_open() );
    set_transient( Breaker::SALES, array( 'failures' => 5, 'until' => time() - 1 ), 60 );
    $tried = array( Breaker::is_open( Breaker::SALES ), Breaker::is_open( Breaker::SALES ) );
    Breaker::note( true, Breaker::SALES );
    echo json_encode( array( $held, $tried, Breaker::is_open( Breaker::SALES ) ) );`);
  expect(states).toEqual([[true, false], [false, true], false]);
});

test('PHP had nothing to complain of, and the log holds no secret', () => {
  const log = world.wordpress
    .log()
    .split('\n')
    .filter((line) => /PHP (Warning|Notice|Deprecated|Fatal|Parse)/.test(line) && !/this page cannot be made/.test(line));
  expect(log).toEqual([]);
  expect(world.wordpress.log()).not.toContain(world.site.key);
  expect(world.wordpress.log()).not.toContain(world.connectKey);
});

test('uninstalling leaves nothing behind', async () => {
  await world.wordpress.php(`
    require_once ABSPATH . 'wp-admin/includes/plugin.php';
    deactivate_plugins( 'content-settlement/content-settlement.php' );
  `);
  const left = await world.wordpress.php(`
    define( 'WP_UNINSTALL_PLUGIN', 'content-settlement/content-settlement.php' );
    include WP_PLUGIN_DIR . '/content-settlement/uninstall.php';
    wp_cache_flush();
    global $wpdb;
    echo wp_json_encode( array(
      'loaded'  => class_exists( 'ContentSettlement\\Gate', false ),
      'options' => $wpdb->get_col( "SELECT option_name FROM $wpdb->options WHERE option_name LIKE '%content_settlement%'" ),
      'users'   => $wpdb->get_col( "SELECT meta_key FROM $wpdb->usermeta WHERE meta_key LIKE '%content_settlement%'" ),
      'posts'   => $wpdb->get_col( "SELECT meta_key FROM $wpdb->postmeta WHERE meta_key LIKE '%content_settlement%'" ),
      'cron'    => strpos( (string) wp_json_encode( _get_cron_array() ), 'content_settlement' ),
    ) );
  `);
  expect(left).toEqual({ loaded: false, options: [], users: [], posts: [], cron: false });
});
