/** The pages for buyers and about prices, pasted block by block into a shell beside the sandbox, as a reader would. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { stockFetch } from '../support/licences.ts';
import { blocksOf, openShell, shellBlocks } from '../support/pasted.ts';
import type { SandboxRun } from '../support/sandboxRun.ts';
import { hasBegun, startSandbox } from '../support/sandboxRun.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['discovery', 'price-rules', 'being-found', 'receipts', 'licences'] as const;
const pathOf = (page: (typeof PAGES)[number]): string => join(ROOT, 'docs', `${page}.md`);
let run: SandboxRun;
let folder: string;
beforeAll(async () => {
  const { folder: parts } = inject('parts');
  const own = join(parts, 'sandbox-of-docs');
  run = startSandbox(own, ['--no-history']);
  await hasBegun(run, own);
  // A clone, as the pages mean it, in which nothing of ours is written to.
  folder = join(parts, 'clone');
  mkdirSync(folder);
  symlinkSync(own, join(folder, '.sandbox'));
  for (const name of ['node_modules', 'examples']) symlinkSync(join(ROOT, name), join(folder, name));
}, 300_000);
afterAll(async () => {
  if (run?.child.exitCode === null) process.kill(-(run.child.pid as number), 'SIGINT');
  await run?.ended;
});

/** Pastes the commands of a page and then some more; gives what each block said. */
const paste = (page: (typeof PAGES)[number], more: readonly string[] = []): Promise<readonly string[]> =>
  pasteAll([...shellBlocks(pathOf(page)), ...more]);

async function pasteAll(blocks: readonly string[]): Promise<readonly string[]> {
  const environment = { PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`, NODE_OPTIONS: '' };
  const shell = openShell({ folder, scratch: inject('parts').folder, environment });
  try {
    const said: string[] = [];
    for (const block of blocks) said.push(await shell.paste(block, 180_000));
    return said;
  } finally {
    await shell.end();
  }
}

/** Lines of a shell that wait until a command says something, all of which is read; the block has a minute. */
const until = (command: string, says: string): string => `until ${command} | grep '${says}' > /dev/null; do sleep 0.2; done`;
const contract = () => JSON.parse(readFileSync(join(folder, '.sandbox/sandbox.json'), 'utf8'));

test.each(PAGES)('each block of docs/%s.md says what language it is in', (page) => {
  expect(blocksOf(pathOf(page)).filter(({ language }) => language === '')).toEqual([]);
});

test('receipts.md: a page is bought, and its record checked by the script of the page, hash of the body and all', async () => {
  const [script, , stock] = blocksOf(pathOf('receipts')).filter(({ language }) => language === 'js');
  writeFileSync(join(folder, 'check-receipt.mjs'), script?.text ?? '');
  const [said = ''] = await paste('receipts');
  expect([said.includes('NO '), said.includes('yes  the page is the one that the site served')]).toEqual([false, true]);

  const { buyer, examplePublisher } = contract();
  const answer = await stockFetch(privateKeyToAccount(buyer.privateKey))(`${examplePublisher.url}/articles/solo`);
  const headers = JSON.stringify(Object.fromEntries(answer.headers));
  writeFileSync(join(folder, 'stock.mjs'), `const response = new Response(null, { headers: ${headers} });\n${stock?.text}`);
  expect((await pasteAll(['node stock.mjs']))[0]).toContain("resourceUrl: 'https://alpha.example/articles/solo'");
});

test('discovery.md: a page is found, priced and paid for, and its record has the hash of what came', async () => {
  const said = await paste('discovery');
  expect(said).toEqual([
    '',
    expect.stringMatching(/^# alpha\.example\n[\s\S]*HTTP\/1\.1 402 [\s\S]*crawler-price: USD 0\.001\r\n/),
    expect.stringMatching(/amount: '1000',[\s\S]*"priceMicro":3000,/),
    expect.stringContaining('By three authors'),
    expect.stringMatching(/status: '(settled|final)',[\s\S]*amountMicro: 500\n/),
  ]);
  const [, told] = /sha256: '([0-9a-f]{64})'/.exec(said[4] ?? '') ?? [];
  expect(said[4]).toContain(`${told}  page.html`);
});

test('being-found.md: the documents are there, and the site is found once its owner says so', async () => {
  const search = until('curl -s "$SVC/discovery/search?query=essays"', '"serviceName":"alpha.example"');
  const [documents, saved] = await paste('being-found', [search]);
  for (const part of ['{"x402Version":2,', '# alpha.example\n', '{"linkset":[', '"resources":[]'])
    expect(documents).toContain(part);
  expect(saved).toContain('"SetDiscoveryPayload"');
});

test('licences.md: a scope is priced, a use reported, and the purchase of the page buys a licence with a stock client', async () => {
  const { baseUrl, buyer } = contract();
  const [buys] = blocksOf(pathOf('licences')).filter(({ language }) => language === 'ts');
  const given = `import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
const [service, accountToken] = ${JSON.stringify([baseUrl, buyer.accountToken])};
const wallet = privateKeyToAccount('${buyer.privateKey}');
`;
  writeFileSync(join(folder, 'buy-licence.mjs'), given + (buys?.text ?? ''));
  const held = `curl -s -H 'authorization: Bearer ${buyer.accountToken}' "$BASE/_svc/licenses/held"`;
  const [quote, reported, , licences] = await paste('licences', ['node buy-licence.mjs', held]);
  expect([quote, reported]).toEqual([expect.stringContaining('"priceMicro":3000,'), expect.stringContaining('{"ok":true}')]);
  expect(licences).toMatch(/"patterns":\["\/articles\/\*"\].*"terms":\["ai-input"\]/);
});

test('price-rules.md: without rules one price for all, with those of the page another for training, and a refusal', async () => {
  const [asks = ''] = shellBlocks(pathOf('price-rules'));
  const ask = (query: string): string =>
    `curl --silent -i -H "Authorization: Bearer $KEY" "$API/_svc/quote?resource=$PAGE${query}"`;
  const solo = 'PAGE=https://alpha.example/articles/solo';
  const training = until(ask('&category=train&terms=ai-train'), '"price":20000,');
  const none =
    'RULES=$(curl --silent -H "Authorization: Bearer $OWNER" -H "content-type: application/json" "$API/_svc/graphql" -d \'{"query":"mutation { setPriceRules(input: { rules: [] }) { __typename } }"}\'); echo "$RULES"';
  const said = await paste('price-rules', [training, asks, solo, until(ask('&agent=openai.com'), 'agent_refused'), none]);
  const prices = (text = '') => [...text.matchAll(/"price":(\d+),/g)].map(([, price]) => price);
  expect([prices(said[0]), prices(said[1])]).toEqual([
    ['1000', '1000', '1000'],
    ['1000', '5000'],
  ]);
  expect([said[2], prices(said[4]), said.at(-1)]).toEqual([
    expect.stringContaining('"SetPriceRulesPayload"'),
    ['1000', '20000', '1000'],
    expect.stringContaining('"SetPriceRulesPayload"'),
  ]);
});
