import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { ChainStateUnreadable, callChain, startChain } from '../../sandbox/parts/chain.ts';
import { isAlive } from '../../sandbox/parts/lock.mjs';
import { choosePort } from '../../sandbox/parts/ports.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { lockState } from '../../sandbox/parts/state.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import { createDatabase, startTestChain, useTemporal } from '../support/parts.ts';

const AUTHOR = '0x00000000000000000000000000000000000000aa';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(inject('parts').folder, 'own-'));
});
afterEach(() => {
  removeCluster(join(folder, 'postgres'));
  rmSync(folder, { recursive: true, force: true });
});

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('each database copied from the template has the schema and nothing of another test', async () => {
  const [one, other] = await Promise.all([createDatabase(), createDatabase()]);
  await ask(one.ownerUrl, 'CREATE TABLE mine (id int)');
  expect(await ask(other.ownerUrl, "SELECT 1 FROM pg_tables WHERE tablename = 'mine'")).toEqual([]);
  expect(await ask(other.ownerUrl, "SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1")).toHaveLength(1);
  await Promise.all([one.drop(), other.drop()]);
});

test('the service role may do nothing that no migration granted', async () => {
  const database = await createDatabase();
  onTestFinished(database.drop);
  await ask(database.ownerUrl, 'CREATE TABLE owned (id int)');
  await expect(ask(database.appUrl, 'SELECT * FROM owned')).rejects.toThrow(/permission denied/);
  await expect(ask(database.appUrl, 'CREATE TABLE own (id int)')).rejects.toThrow(/permission denied/);
});

test('Postgres keeps committed rows over a stop and over a kill, durably and without a socket', async () => {
  const options = { folder: join(folder, 'postgres') };
  const first = await startPostgres(options);
  expect(first.isNew).toBe(true);
  expect(await ask(first.superUrl, "SELECT current_setting('fsync') f, current_setting('unix_socket_directories') s")).toEqual([
    { f: 'on', s: '' },
  ]);
  await ask(first.ownerUrl, 'CREATE TABLE kept (id int)');
  await Promise.all([first.stop(), first.stop()]);
  const second = await startPostgres(options);
  expect(second.isNew).toBe(false);
  await ask(second.ownerUrl, 'INSERT INTO kept VALUES (7)');
  process.kill(second.process.pid, 'SIGKILL');
  await second.process.exited;
  const third = await startPostgres(options);
  expect(await ask(third.ownerUrl, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
  await third.stop();
});

test('Temporal keeps closed workflows for at least 30 days', async () => {
  const { address, namespace } = useTemporal();
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBeGreaterThanOrEqual(30 * 86_400);
});

test('the prepared chain has a token, a router and Multicall3, and makes blocks safe while idle', async () => {
  const chain = await startTestChain({ relayers: [AUTHOR], mint: [{ to: AUTHOR, amountMicro: 5n }] });
  onTestFinished(chain.stop);
  for (const address of [chain.usdc, chain.router, chain.multicall]) {
    expect(await callChain(chain.rpcUrl, 'eth_getCode', [address, 'latest'])).not.toBe('0x');
  }
  const balanceOf = { to: chain.usdc, data: `0x70a08231${AUTHOR.slice(2).padStart(64, '0')}` };
  expect(BigInt(await callChain<string>(chain.rpcUrl, 'eth_call', [balanceOf, 'latest']))).toBe(5n);
  const latest = BigInt(await callChain<string>(chain.rpcUrl, 'eth_blockNumber', []));
  await expect
    .poll(async () => BigInt((await callChain<{ number: string }>(chain.rpcUrl, 'eth_getBlockByNumber', ['safe', false])).number))
    .toBeGreaterThanOrEqual(latest);
  const big = { from: (await callChain<string[]>(chain.rpcUrl, 'eth_accounts', []))[0], to: AUTHOR, gas: '0x1000001' };
  await expect(callChain(chain.rpcUrl, 'eth_sendTransaction', [big])).rejects.toThrow(/gas/);
});

test('a chain goes on from its state: blocks, code and nonces', async () => {
  const chain = await startTestChain({}, { folder, keep: true });
  const [faucet] = (await callChain<string[]>(chain.rpcUrl, 'eth_accounts', [])).slice(-1);
  const nonce = await callChain(chain.rpcUrl, 'eth_getTransactionCount', [faucet, 'latest']);
  const block = await callChain<{ hash: string; number: string }>(chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
  await chain.stop();
  const again = await startChain({ folder, keep: true });
  onTestFinished(again.stop);
  expect(await callChain(again.rpcUrl, 'eth_getBlockByNumber', [block.number, false])).toMatchObject({ hash: block.hash });
  expect(await callChain(again.rpcUrl, 'eth_getTransactionCount', [faucet, 'latest'])).toBe(nonce);
  expect(await callChain(again.rpcUrl, 'eth_getCode', [chain.router, 'latest'])).not.toBe('0x');
});

test('a chain whose state was cut short is refused by name, not started anew in silence', async () => {
  writeFileSync(join(folder, 'state.json'), '{"block":');
  await expect(startChain({ folder, keep: true })).rejects.toThrow(ChainStateUnreadable);
});

test('a host of the sandbox’s internet may be a server of this machine, until it is taken away', async () => {
  const server = createHttpServer((request, response) => response.end(`${request.headers.host} ${request.url}`));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const web = await startSandboxWeb(0);
  onTestFinished(web.close);
  const { port } = server.address() as AddressInfo;
  const answerFor = (to: number | null) =>
    fetch(`${web.controlUrl}/sites`, { method: 'POST', body: JSON.stringify({ host: 'blog.sandbox.example', port: to }) });
  const read = () =>
    new Promise<string>((resolve, reject) => {
      const sent = request(`${web.url}/a?b`, { headers: { host: 'blog.sandbox.example' } }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        answer.on('end', () => resolve(text));
      });
      sent.on('error', reject).end();
    });
  expect((await answerFor(port)).status).toBe(200);
  expect(await read()).toBe('blog.sandbox.example /a?b');
  await answerFor(null);
  expect(await read()).toContain('there is no such page');
  web.standBehind('blog.sandbox.example', port);
  expect(await read()).toBe('blog.sandbox.example /a?b');
  const set = { host: 'blog.sandbox.example', path: '/a', body: 'a page that was set' };
  await fetch(`${web.controlUrl}/pages`, { method: 'POST', body: JSON.stringify(set) });
  expect(await read()).toBe('a page that was set');
});

test('a taken port is stepped over, and no port is given twice', async () => {
  const taken = await choosePort();
  const server = createServer().listen(taken, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const ports = await Promise.all([choosePort(taken), choosePort(taken), choosePort(taken)]);
  expect(new Set([taken, ...ports]).size).toBe(4);
  await expect(choosePort(70_000)).rejects.toThrow(RangeError);
});

test('two sandboxes do not run on one state', async () => {
  const release = await lockState(folder);
  await expect(lockState(folder)).rejects.toThrow(/runs already/);
  release();
  (await lockState(folder))();
  mkdirSync(join(folder, 'lock'));
  writeFileSync(join(folder, 'lock', 'pid'), '999999999');
  (await lockState(folder))();
});

test('a part does not outlive a parent that is killed outright', async () => {
  const module = fileURLToPath(new URL('../../sandbox/parts/chain.ts', import.meta.url));
  const program = `const { startChain } = await import(${JSON.stringify(module)});
    console.log((await startChain({ folder: ${JSON.stringify(folder)} })).process.pid); setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (text: Buffer) => resolve(Number(text))));
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
});
