import { afterAll, beforeAll, expect, test } from 'vitest';
import { runServiceAdmin } from '../support/admin.ts';
import type { Backup } from '../support/backup.ts';
import { backUp } from '../support/backup.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { query } from '../support/sql.ts';

let service: TestService;
let site: TestSite;
let backup: Backup;
let restoredUrl: string;
beforeAll(async () => {
  service = await startTestService();
  site = await service.site();
});
afterAll(async () => {
  await service.stop();
  await backup.drop();
});

async function sale(baseUrl: string): Promise<{ readonly ref: string; readonly price: number }> {
  const quote = await askQuote(baseUrl, site.key, 'trio');
  const answer = await sellUntilDecided(baseUrl, site.key, quote, await payFor(await service.payer(100_000n), quote));
  expect(answer.status).toBe(200);
  return { ref: answer.body.settlementRef as string, price: quote.price };
}

const stopAll = () => Promise.all([...service.apis, ...service.workers].map((one) => one.stop()));

/** Runs an admin command on the restored database; what it prints. */
const admin = (...args: string[]) => runServiceAdmin(service, backup.appUrl, ...args);

test('a backup older than twenty settlements comes back: the chain is adopted, the lost money is listed, and sales go on', async () => {
  const kept = [await sale(service.baseUrl), await sale(service.baseUrl)];
  await stopAll();
  backup = await backUp(service.urls);
  const [api] = await Promise.all([service.startApi(), service.startWorker()]);
  const lost: Awaited<ReturnType<typeof sale>>[] = [];
  for (let round = 0; round < 5; round++) lost.push(...(await Promise.all(Array.from({ length: 4 }, () => sale(api.url)))));
  expect(lost).toHaveLength(20);
  await stopAll();

  const states = () => query(backup.appUrl, 'select payment_id, state, tx_hash from payment order by payment_id');
  const before = await states();
  const { findings } = (await admin('doctor')) as { findings: { check: string; state: string; advice: string | null }[] };
  process.exitCode = 0; // the doctor says by it that the chain is ahead and that no worker runs
  expect(findings.filter(({ state }) => state === 'fail').map(({ check }) => check)).toContainEqual(
    expect.stringMatching(/^relayer 0x/),
  );
  interface Found {
    relayers: { before: string; after: string }[];
    lost: { txHash: string; amountMicro: string; legs: { amountMicro: string }[]; tenantIds: string[] }[];
    unread: unknown[];
    unexplained: unknown[];
  }
  const { networks } = (await admin('recover')) as { networks: Found[] };
  const [found] = networks;
  expect(Number(found?.relayers[0]?.after)).toBeGreaterThan(Number(found?.relayers[0]?.before));
  expect(found?.lost.map(({ txHash }) => txHash).sort()).toEqual(lost.map(({ ref }) => ref).sort());
  expect(found?.lost.every(({ tenantIds }) => tenantIds.includes(site.tenantId))).toBe(true);
  const sum = (amounts: readonly { amountMicro: string }[] = []) =>
    amounts.reduce((all, { amountMicro }) => all + Number(amountMicro), 0);
  expect(sum(found?.lost)).toBe(lost.reduce((total, { price }) => total + price, 0));
  expect(sum(found?.lost.flatMap(({ legs }) => legs))).toBe(sum(found?.lost));
  expect(found).toMatchObject({ unread: [], unexplained: [] });
  const settled = (rows: readonly Record<string, unknown>[]) => rows.map((row) => [row['payment_id'], row['tx_hash']]);
  expect(settled(await states())).toEqual(settled(before));
  expect(await admin('recover')).toMatchObject({ networks: [{ lost: found?.lost, unread: [], unexplained: [] }] });

  const environment = { DATABASE_URL: backup.appUrl };
  const [restored] = await Promise.all([service.startApi(environment), service.startWorker(environment)]);
  restoredUrl = restored.url;
  const after = await sale(restored.url);
  const refs = (await states()).map((row) => row['tx_hash']);
  expect(refs).toEqual(expect.arrayContaining([...kept.map(({ ref }) => ref), after.ref]));
  expect(refs).toHaveLength(3);
  const list = (await admin('relayer', 'list')) as { relayers: { hasKey: boolean; minedNonce: number; nextNonce: string }[] };
  expect(list.relayers[0]?.hasKey).toBe(true);
  expect(Number(list.relayers[0]?.nextNonce)).toBe(list.relayers[0]?.minedNonce);
});

test('keys are retired and taken up again, a nonce is filled only while it is free, alerts are dealt with, and sales go on', async () => {
  const [network, address] = ['eip155:84532', service.relayer.toLowerCase()];
  interface Listed {
    relayers: { minedNonce: number; pausedReason: string | null }[];
  }
  const listed = async () => ((await admin('relayer', 'list')) as unknown as Listed).relayers[0];
  expect(await admin('relayer', 'retire', network, address)).toMatchObject({ pausedReason: 'retired' });
  expect((await listed())?.pausedReason).toBe('retired');
  await admin('relayer', 'add', network, address);
  expect((await listed())?.pausedReason).toBeNull();

  await expect(admin('relayer', 'void-nonce', network, address, '0')).rejects.toThrow(/is mined/);
  const [settled] = await query(
    backup.appUrl,
    "select payment_id, state from payment where state in ('settled', 'final') limit 1",
  );
  const paymentId = String(settled?.['payment_id']);
  expect((await admin('payment', 'rebroadcast', paymentId))['done']).toMatch(/is mined: nothing was sent/);
  const free = String((await listed())?.minedNonce);
  await expect(admin('relayer', 'void-nonce', network, address, free)).rejects.toThrow(/the next batch needs it/);
  expect(await admin('relayer', 'nonce', network, address)).toMatchObject({ minedNonce: free, freeNonce: free });
  const beyond = String(Number(free) + 1);
  await expect(admin('relayer', 'nonce', network, address, '--set', beyond)).rejects.toThrow(/avoids both a gap/);
  expect(await admin('relayer', 'nonce', network, address, '--set', free)).toMatchObject({ nextNonce: free, stranded: [] });
  // What a reorg leaves behind after a count was adopted: a nonce below our next one that nothing will ever fill.
  await query(backup.appUrl, 'update relayer set next_nonce = next_nonce + 1 where address = $1', [address]);
  expect((await admin('relayer', 'void-nonce', network, address, free))['done']).toMatch(/accepted|known/);
  await sale(restoredUrl);
  const [same] = await query(backup.appUrl, 'select state from payment where payment_id = $1', [paymentId]);
  expect(['settled', 'final']).toContain(same?.['state']);

  const kinds = async () => ((await admin('alert', 'list')) as { alerts: { kind: string }[] }).alerts.map(({ kind }) => kind);
  expect(await kinds()).toContain('relayer_nonce_adopted');
  expect((await admin('alert', 'resolve', 'relayer_nonce_adopted'))['resolved']).toBeGreaterThan(0);
  expect(await kinds()).not.toContain('relayer_nonce_adopted');
});
