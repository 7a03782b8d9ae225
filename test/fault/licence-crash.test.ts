import { Client, Connection } from '@temporalio/client';
import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveHistory } from '../support/histories.ts';
import { checkService } from '../support/invariants.ts';
import { call, signInWith } from '../support/licences.ts';
import { createNamespace } from '../support/namespace.ts';
import { scaled } from '../support/patience.ts';
import { startProxy } from '../support/proxy.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { base64Of, payloadFor } from '../support/verify.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService({ worker: false, environment: { SETTLE_WAIT_MS: '3000' } });
  site = await service.site();
});
afterAll(() => service?.stop());

/** A new account, and everything it sends to buy a licence for a day; `others`: what further wallets sign for the same. */
async function newPurchase(others = 0) {
  const wallet = await service.payer(1_000_000n);
  const { token } = await signInWith(service.baseUrl, wallet);
  const url = `${service.baseUrl}/_svc/licenses`;
  const body = { host: site.host, scope: ['/articles/'], terms: ['search'], periodDays: 1 };
  const offer = await call(url, { token, body });
  const [accepted] = JSON.parse(Buffer.from(offer.headers.get('payment-required') ?? '', 'base64').toString()).accepts;
  const paidBy = async (payer: typeof wallet) => {
    const payload = await payloadFor(service, { ...accepted, price: Number(accepted.amount) }, payer);
    return { payer, headers: { 'payment-signature': base64Of(payload) } };
  };
  const further = [];
  for (let count = 0; count < others; count += 1) further.push(await paidBy(await service.payer(1_000_000n)));
  return { wallet, token, url, body, accepted, further, headers: (await paidBy(wallet)).headers };
}

test.for([
  ['before anything is sent', 'after_sign'],
  ['between settlement on chain and its record', 'after_receipt'],
  ['between record and answer', 'after_record'],
] as const)('a worker killed %s: the licence exists afterwards, paid once', async ([, point]) => {
  const { wallet, token, url, body, headers, accepted } = await newPurchase();

  // What an earlier case left open may meet the point while the worker still starts.
  const doomed = await service.startWorker({ CRASH_AT: point }).catch(() => null);
  const first = call(url, { token, body, headers });
  await doomed?.process.exited;
  const undecided = await first;
  if (undecided.status !== 200) {
    expect(undecided.headers.get('x-svc-error-code')).toBe('settlement_pending');
    expect(undecided.headers.has('payment-required')).toBe(false);
    expect(undecided.body).toMatchObject({ error: expect.stringContaining('settlement_pending') });
  }
  const worker = await service.startWorker();
  await expect
    .poll(async () => (await call(url, { token, body, headers })).status, { timeout: scaled(180_000), interval: 500 })
    .toBe(200);
  const answer = await call(url, { token, body, headers });
  const held = await call(`${url}/held`, { token });
  expect(held.body.licences.map(({ jti }: { jti: string }) => jti)).toEqual([answer.body.jti]);
  expect(await balancesOf(service, [wallet.address])).toEqual([1_000_000n - BigInt(accepted.amount)]);
  const crossings = await service.database.query('select 1 from crossing where payer = $1', [wallet.address.toLowerCase()]);
  expect(crossings).toHaveLength(1);
  await checkService(service);
  await worker.stop();
});

test('wallets of one account that pay for one licence at once, at two processes, are charged once, and all get the licence', async () => {
  const { wallet, token, url, body, headers, accepted, further } = await newPurchase(3);
  const other = await service.startApi();
  const all = [{ payer: wallet, headers }, ...further];
  const payAll = () =>
    Promise.all(
      all.map((one, index) => {
        const door = index % 2 === 0 ? url : `${other.url}/_svc/licenses`;
        return call(door, { token, body, headers: one.headers });
      }),
    );
  for (const answer of await payAll()) expect(answer.headers.get('x-svc-error-code')).toBe('settlement_pending');
  const states = await service.database.query(
    'select state from payment where resource_key = (select resource_key from payment where payer = $1)',
    [wallet.address.toLowerCase()],
  );
  expect(states.map(({ state }) => state).toSorted()).toEqual(['accepted', 'held', 'held', 'held']);

  const worker = await service.startWorker();
  let answers: Awaited<ReturnType<typeof payAll>> = [];
  const settled = async () => {
    answers = await payAll();
    return answers.map(({ status }) => status);
  };
  await expect.poll(settled, { timeout: scaled(180_000), interval: 500 }).toEqual([200, 200, 200, 200]);
  const held = await call(`${url}/held`, { token });
  const jtis = held.body.licences.map(({ jti }: { jti: string }) => jti);
  expect([jtis.length, ...answers.map((answer) => answer.body.jti)]).toEqual([1, ...Array(4).fill(jtis[0])]);
  const left = await balancesOf(
    service,
    all.map(({ payer }) => payer.address),
  );
  expect(left.reduce((sum, one) => sum + one, 0n)).toBe(4_000_000n - BigInt(accepted.amount));
  await checkService(service);
  await worker.stop();
  await other.stop();
});

test('a buyer who gave up waiting finds the licence, and one notice of it, though every worker on the way was killed', async () => {
  const { token, url, body, headers } = await newPurchase();
  const undecided = await call(url, { token, body, headers });
  expect(undecided.headers.get('x-svc-error-code')).toBe('settlement_pending');
  const notices = async () => (await call(`${service.baseUrl}/_svc/accounts/notices`, { token })).body.notices;
  const stateOf = async () => {
    const sql = 'select payment_id, state from payment order by accepted_at desc limit 1';
    return (await service.database.query<{ payment_id: string; state: string }>(sql))[0];
  };
  const slow = { timeout: scaled(180_000), interval: 20 };

  const first = await service.startWorker();
  await expect.poll(async () => (await stateOf())?.state, slow).toMatch(/broadcast|settled|final/);
  await first.kill(); // the purchase is followed, and nobody was told
  const second = await service.startWorker();
  await expect.poll(async () => (await notices()).length, slow).toBe(1);
  await second.kill(); // the account was told, perhaps by a process that died before it recorded that
  const third = await service.startWorker();
  const jti = (await stateOf())?.payment_id;
  const connection = await Connection.connect({ address: service.temporal.address });
  const client = new Client({ connection, namespace: service.temporal.namespace });
  expect(await client.workflow.getHandle(`licence:${jti}`).result()).toMatch(/settled|final/);
  await saveHistory(client, `licence:${jti}`, 'purchaseLicence-undecided');
  await connection.close();

  expect(await notices()).toMatchObject([{ kind: 'licence_granted', jti }]);
  const held = await call(`${url}/held`, { token });
  expect(held.body.licences.map((licence: { jti: string }) => licence.jti)).toEqual([jti]);
  expect((await call(`${url}/${jti}/access`, { token, body: {} })).status).toBe(200);
  await checkService(service);
  await third.stop();
});

test('a purchase at an API that dies right behind its row, or that reaches no Temporal, is followed all the same: the account is told', async () => {
  const proxy = await startProxy(Number(service.temporal.address.split(':')[1]));
  const cutOff = await service.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}`, SETTLE_WAIT_MS: '500' });
  proxy.cut();
  const doomed = await service.startApi({ CRASH_AT: 'after_intake' });
  const unfollowed = () => service.database.query('select from open_purchase where held_until <= now()');
  const before = (await unfollowed()).length; // what a worker that was killed before left
  const buyers = [];
  for (const api of [doomed, cutOff]) {
    const { token, body, headers } = await newPurchase();
    await call(`${api.url}/_svc/licenses`, { token, body, headers }).catch(() => null);
    buyers.push(token);
  }
  await doomed.process.exited;
  expect(await unfollowed()).toHaveLength(before + 2);
  const worker = await service.startWorker();
  for (const token of buyers) {
    const notices = async () => (await call(`${service.baseUrl}/_svc/accounts/notices`, { token })).body.notices;
    await expect.poll(notices, { timeout: scaled(180_000), interval: 200 }).toMatchObject([{ kind: 'licence_granted' }]);
  }
  await expect.poll(unfollowed, { timeout: scaled(60_000), interval: 200 }).toEqual([]);
  await checkService(service);
  await worker.stop();
  await cutOff.stop();
  await proxy.close();
});

test('a purchase whose workflow is lost with the data of Temporal has another one there, which tells its account and ends with it', async () => {
  const { token, url, body, headers } = await newPurchase();
  await rpc('evm_setAutomine', false);
  await rpc('evm_setIntervalMining', 0);
  await call(url, { token, body, headers });
  const sql = 'select payment_id from payment order by accepted_at desc limit 1';
  const jti = (await service.database.query<{ payment_id: string }>(sql))[0]?.payment_id ?? '';
  const slow = { timeout: scaled(180_000), interval: 100 };
  const first = await service.startWorker();
  const held = () => service.database.query('select from open_purchase where payment_id = $1 and held_until > now()', [jti]);
  await expect.poll(held, slow).toHaveLength(1); // its workflow has looked at it
  await first.kill();

  const { namespace } = await createNamespace();
  // As the time goes by in which nobody looks.
  await service.database.query("update open_purchase set held_until = now() - interval '1 minute'");
  await service.database.query('update settlement_batch set held_until = now() where final_at is null');
  const worker = await service.startWorker({ TEMPORAL_NAMESPACE: namespace });
  const connection = await Connection.connect({ address: service.temporal.address });
  const workflow = new Client({ connection, namespace }).workflow.getHandle(`licence:${jti}`);
  const stateOf = () =>
    workflow.describe().then(
      ({ status }) => status.name,
      () => 'none',
    );
  await expect.poll(stateOf, slow).toBe('RUNNING');
  await rpc('evm_setAutomine', true);
  await rpc('evm_setIntervalMining', 1);
  expect(await workflow.result()).toMatch(/settled|final/);
  await connection.close();
  const { notices } = (await call(`${service.baseUrl}/_svc/accounts/notices`, { token })).body;
  expect(notices).toMatchObject([{ kind: 'licence_granted', jti }]);
  expect(await service.database.query('select from open_purchase where payment_id = $1', [jti])).toEqual([]);
  await checkService(service);
  await worker.stop();
});

async function rpc(method: string, ...params: readonly unknown[]): Promise<void> {
  await createPublicClient({ transport: http(service.chain.rpcUrl) }).request({ method, params } as never);
}
