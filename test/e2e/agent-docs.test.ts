/** docs/agent-tool.md, pasted block by block as a reader would, on the whole service. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseEnvelope } from '../../packages/agent/src/index.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { AGENT_COMMAND } from '../support/agentProcess.ts';
import { filledIn, openShell, shellBlocks } from '../support/pasted.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

const PAGE = fileURLToPath(new URL('../../docs/agent-tool.md', import.meta.url));
let service: TestService;
let site: TestSite;
let shop: Shop;
let folder: string;
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  shop = await openShop(service, site);
  folder = mkdtempSync(join(tmpdir(), 'pasted-'));
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** `npx` as it is where the package is on a registry. */
function installNpx(): void {
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec ${process.execPath} ${AGENT_COMMAND} "$@"\n`, { mode: 0o755 });
}

test('every command of the page runs as it is written, and costs what it says', async () => {
  installNpx();
  const values = new Map(
    Object.entries({
      PAGE: `${shop.url}/articles/trio`,
      OTHER: `${shop.url}/articles/duo`,
      CONTENT_SETTLEMENT_SERVICE: service.baseUrl,
      HOST: site.host,
    }),
  );
  const environment = {
    PATH: `${folder}:${process.env['PATH']}`,
    CONTENT_SETTLEMENT_HOME: join(folder, 'home'),
    NODE_OPTIONS: '',
  };
  const shell = openShell({ folder, scratch: folder, environment });
  const [key = '', ...blocks] = shellBlocks(PAGE).map((block) => filledIn(block, values));
  const address = /0x[0-9a-fA-F]{40}/.exec(await shell.paste(key, 180_000))?.[0]?.toLowerCase() as `0x${string}`;
  await mintUsdc(service.chain.rpcUrl, address, 1_000_000n);
  const said: string[] = [];
  for (const block of blocks) said.push(await shell.paste(block, 180_000));
  await shell.end();
  expect(values.size).toBe(0);
  expect(readFileSync(join(folder, 'page.html'), 'utf8')).toBe('<p>trio</p>');
  expect(said[0]).toContain('may be bought');
  expect(said[1]).toContain('"spentUsdc": "0.002"');
  const { priceMicro } = JSON.parse(/\{[\s\S]*?\n\}/.exec(said[2] ?? '')?.[0] ?? '{}') as { priceMicro: number };
  expect(priceMicro).toBeGreaterThan(0);
  expect(await balancesOf(service, [address])).toEqual([1_000_000n - 2_000n - BigInt(priceMicro)]);
});

test('the configuration to paste is JSON in one line, and the envelopes of the page are envelopes', () => {
  const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/^```json\n(.*?)\n```$/gms)].map(([, block = '']) => block);
  const [configuration = '', envelope = ''] = blocks;
  expect([configuration.split('\n').length, Object.keys(JSON.parse(configuration))]).toEqual([1, ['mcpServers']]);
  expect(parseEnvelope(envelope)).toMatchObject({
    totalMicro: 5_000_000n,
    hostMicro: 1_000_000n,
    pageMicro: 50_000n,
    approveAboveMicro: 20_000n,
  });
});
