import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminProgram } from '../../bin/admin/program.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { routerAddress } from '../../platform/chain/router/split.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { readAdminConfig } from '../../process/config.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { fundGas } from '../../sandbox/parts/chain-setup.ts';
import type { Anvil } from '../support/anvil.ts';
import { startAnvil } from '../support/anvil.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

const NETWORK = 'eip155:84532';
const KEY = `0x${'42'.repeat(32)}` as const;
const FROM = localSigner(KEY).address;
let chain: Anvil;
let urls: TestDatabase;
let database: Database;

beforeAll(async () => {
  [chain, urls] = await Promise.all([startAnvil({ blockTimeSeconds: 1, mixedMining: true }), createDatabase()]);
  database = await openDatabase({ url: urls.appUrl, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await Promise.all([chain.stop(), urls.drop()]);
});

interface Printed {
  readonly state?: string;
  readonly findings?: readonly {
    readonly check: string;
    readonly state: string;
    readonly found: string;
    readonly advice: string | null;
  }[];
  readonly planned?: { readonly from: string; readonly nonce: number; readonly mostWei: string; readonly costWei: string };
  readonly deployed?: { readonly router: string; readonly transaction: string } | null;
}

async function admin(args: readonly string[], network: Record<string, unknown> = {}): Promise<Printed> {
  const networks = [{ id: NETWORK, rpcUrls: [chain.rpcUrl], router: routerAddress, blockTimeMs: 1_000, ...network }];
  const environment = {
    NODE_ENV: 'test',
    DATABASE_URL: urls.appUrl,
    API_KEY_PEPPER: '11'.repeat(32),
    NETWORKS: JSON.stringify(networks),
    RELAYER_PRIVATE_KEYS: JSON.stringify({ [String(networks[0]?.id)]: [KEY] }),
  };
  const printed: unknown[] = [];
  const program = createAdminProgram({
    open: async () => ({ database, config: readAdminConfig(environment) }),
    print: (value) => printed.push(value),
  });
  await program.parseAsync(args, { from: 'user' });
  return printed[0] as Printed;
}
const codeAt = (address: string) => callChain<string>(chain.rpcUrl, 'eth_getCode', [address, 'latest']);
const sentBy = async () => Number(await callChain<string>(chain.rpcUrl, 'eth_getTransactionCount', [FROM, 'latest']));

test('on a chain without the router the doctor says so first, and a deployment shows its cost, sends nothing without --yes, and is compared with what was compiled', async () => {
  expect(await codeAt(routerAddress)).toBe('0x');
  expect(await admin(['router', 'status', NETWORK])).toMatchObject({ state: 'absent', oursState: 'absent' });
  const { findings } = await admin(['doctor']);
  process.exitCode = 0; // the doctor says by it that something failed
  expect(findings?.[0]).toMatchObject({
    check: `router ${NETWORK}`,
    state: 'fail',
    advice: expect.stringContaining('admin router deploy'),
  });

  await expect(admin(['router', 'deploy', NETWORK, '--yes'])).rejects.toThrow(/holds 0 wei and must hold \d+: nothing was sent/);
  await fundGas(chain.rpcUrl, FROM);
  const { planned, deployed } = await admin(['router', 'deploy', NETWORK]);
  expect(planned).toMatchObject({ from: FROM, nonce: 0 });
  expect(BigInt(planned?.mostWei ?? 0)).toBeGreaterThanOrEqual(BigInt(planned?.costWei ?? 0));
  expect(deployed).toBeNull();
  expect([await codeAt(routerAddress), await sentBy()]).toEqual(['0x', 0]);

  const done = await admin(['router', 'deploy', NETWORK, '--yes']);
  expect(done.deployed).toMatchObject({ router: routerAddress, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(await admin(['router', 'status', NETWORK])).toMatchObject({ state: 'installed', oursState: 'installed' });
  const installed = { network: NETWORK, installed: routerAddress, from: FROM, balanceWei: expect.anything() };
  expect(await admin(['router', 'deploy', NETWORK, '--yes'])).toEqual(installed);
  expect(await admin(['router', 'deploy', NETWORK])).toEqual(installed);
  expect(await sentBy()).toBe(1);
});

test('the doctor fails while a relayer key cannot pay for a settlement, and names the key, its network and how much it needs', async () => {
  const gas = async () =>
    (await admin(['doctor'])).findings?.find(({ check, found }) => check.includes(FROM) && found.includes(' wei for gas: '));
  await callChain(chain.rpcUrl, 'anvil_setBalance', [FROM, '0x0']);
  expect(await gas()).toMatchObject({
    check: `relayer ${FROM} on ${NETWORK}`,
    state: 'fail',
    found: '0 wei for gas: 0 settlements at this fee',
    advice: expect.stringMatching(
      new RegExp(
        `^Send at least [1-9]\\d+ wei of the chain's own coin to ${FROM} on ${NETWORK}: until then payments there wait.$`,
      ),
    ),
  });
  await fundGas(chain.rpcUrl, FROM);
  expect(await gas()).toMatchObject({ state: 'ok', advice: null });
  process.exitCode = 0;
});

test('code that differs in one byte is not the router, and a network on another chain is refused before anything is sent', async () => {
  const other = `0x${'77'.repeat(20)}`;
  const code = await codeAt(routerAddress);
  await callChain(chain.rpcUrl, 'anvil_setCode', [other, `${code.slice(0, -2)}01`]);
  expect(await admin(['router', 'status', NETWORK], { router: other })).toMatchObject({
    state: 'differs',
    oursState: 'installed',
  });
  const sent = await sentBy();
  await expect(admin(['router', 'deploy', 'eip155:8453', '--yes'], { id: 'eip155:8453' })).rejects.toThrow(
    'RPC URL 1 answers for chain 84532, not 8453',
  );
  expect(await sentBy()).toBe(sent);
});
