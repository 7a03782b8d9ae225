/** Alerts of budgets, and e-mails beside them: signed, sent once under one id whatever dies, one account's hanging receiver beside another's. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { listAlerts, raiseBudgetAlerts } from '../../modules/budgets/store/alerts.ts';
import { removeAlertUrl, setAlertUrl } from '../../modules/budgets/use/alerts.ts';
import { insertMail } from '../../modules/mail/store/mails.ts';
import { saveHistory } from '../support/histories.ts';
import { insertTenant } from '../support/ledger.ts';
import type { MailSink } from '../support/mail-sink.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { WebhookWorker, WebhookWorkerOptions } from '../support/webhook-worker.ts';
import { startWebhookWorker } from '../support/webhook-worker.ts';

const LIMIT = 1_000_000n;
const DAY = {
  period: 'day',
  periodStart: new Date('2026-11-23T00:00:00Z'),
  periodEnd: new Date('2026-11-24T00:00:00Z'),
} as const;

let own: TestDatabase;
let database: Database;
let options: WebhookWorkerOptions;
let worker: WebhookWorker;
let sink: MailSink;
const receivers: Receiver[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  const alertLimits = { requestTimeoutMs: 5_000, leaseMs: 6_000, passMs: 4_000, pollMs: 50, mostOfEach: 4 };
  sink = await startMailSink();
  options = { databaseUrl: own.appUrl, temporal: await createNamespace(), windowMs: 300, alertLimits, mailUrl: sink.url };
  worker = await startWebhookWorker(options);
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  for (const child of children) child.kill('SIGKILL');
  await worker.stop();
  await sink.stop();
  await database.close();
  await own.drop();
});

/** An account whose alerts go to a receiver of its own. */
async function openAccount() {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const accountId = randomUUID();
  await database.query('insert into buyer_account (account_id) values ($1)', [accountId]);
  const { secret } = await setAlertUrl(worker, accountId, receiver.url);
  const spend = (beforeMicro: bigint, spentMicro: bigint, limitMicro = LIMIT) =>
    database.transaction((sql) => raiseBudgetAlerts(sql, { accountId, ...DAY, limitMicro, beforeMicro, spentMicro }));
  const alerts = () => listAlerts(database, accountId, 100);
  return { receiver, accountId, secret, spend, alerts };
}

/** Asks until `look` gives something; the test's own time limit bounds it. */
async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const percents = ({ received }: Receiver): number[] => received.map(({ body }) => JSON.parse(body).data.percent);

function verify({ headers, body }: Received, secret: string): void {
  const [, time, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? [];
  expect(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')).toBe(digest);
  expect(Math.abs(Date.now() / 1_000 - Number(time))).toBeLessThan(300);
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(text).digest('base64')}`);
}

test('each threshold of a period is told once, in order and signed, however often spending goes back and forth over it', async () => {
  const { receiver, accountId, secret, spend, alerts } = await openAccount();
  await spend(0n, LIMIT / 2n);
  await spend(LIMIT / 2n, 100n);
  await spend(100n, (LIMIT * 9n) / 10n);
  await Promise.all([spend(100n, LIMIT), spend(100n, LIMIT)]);
  const told = await eventually(async () => {
    const rows = await alerts();
    return rows.length === 3 && rows.every(({ state }) => state === 'delivered') && rows;
  });
  expect(percents(receiver)).toEqual([50, 80, 100]);
  for (const one of receiver.received) verify(one, secret);
  const ids = receiver.received.map(({ headers }) => headers['svc-id']);
  expect(new Set(ids)).toEqual(new Set(told.map(({ eventId }) => eventId)));
  expect(JSON.parse(receiver.received[1]?.body ?? '')).toMatchObject({
    id: ids[1],
    type: 'budget.alert',
    data: { account: accountId, period: 'day', spentMicro: 900_000, limitMicro: 1_000_000 },
  });
  await spend(0n, LIMIT * 2n, LIMIT * 2n);
  await receiver.until(6);
  expect(percents(receiver).slice(3)).toEqual([50, 80, 100]);
});

test('a receiver that fails is asked again under the same id, with the same bytes and a new signature', async () => {
  const { receiver, secret, spend, alerts } = await openAccount();
  receiver.answer((response, count) => {
    response.statusCode = count === 1 ? 500 : 204;
    response.end();
  });
  await spend(0n, LIMIT / 2n);
  await receiver.until(2);
  const [first, second] = receiver.received as [Received, Received];
  expect(second.body).toBe(first.body);
  expect(second.headers['svc-id']).toBe(first.headers['svc-id']);
  verify(second, secret);
  const [alert] = await eventually(async () => {
    const rows = await alerts();
    return rows[0]?.state === 'delivered' && rows;
  });
  expect(alert).toMatchObject({ attempts: 2, reason: null });
});

test('an alert that the receiver refuses for good is not sent again', async () => {
  const { receiver, spend, alerts } = await openAccount();
  receiver.answer((response) => {
    response.statusCode = 410;
    response.end();
  });
  await spend(0n, LIMIT / 2n);
  const [alert] = await eventually(async () => {
    const rows = await alerts();
    return rows[0]?.state === 'failed' && rows;
  });
  expect(alert).toMatchObject({ attempts: 1, reason: 'status_410' });
});

test('accounts whose receivers hang hold one place each, and another account is told meanwhile', async () => {
  const hanging = [await openAccount(), await openAccount(), await openAccount()];
  for (const { receiver, spend } of hanging) {
    receiver.answer(() => {});
    await spend(0n, LIMIT); // three alerts each, more than there are places
  }
  await Promise.all(hanging.map(({ receiver }) => receiver.until(1)));
  const quick = await openAccount();
  await quick.spend(0n, LIMIT / 2n);
  await quick.receiver.until(1);
  for (const { receiver, accountId } of hanging) {
    expect(receiver.mostAtOnce).toBe(1);
    expect(receiver.received).toHaveLength(1);
    await removeAlertUrl(worker, accountId);
  }
});

test('an e-mail goes out as soon as it is written, beside a receiver that hangs', async () => {
  const { receiver, accountId, spend } = await openAccount();
  receiver.answer(() => {});
  await spend(0n, LIMIT / 2n);
  await receiver.until(1);
  const mail = { mailId: 'invitation-1', toAddress: 'ann@alpha.example', subject: 'Invitation', detail: 'Welcome.' };
  await insertMail(database, { tenantId: await insertTenant(database), ...mail, sealed: null });
  const to = await eventually(async () => /^To: (.*)$/im.exec(sink.mails[0] ?? '')?.[1]?.trim());
  expect(to).toBe('ann@alpha.example');
  await removeAlertUrl(worker, accountId);
});

test('an account that takes its address away is sent nothing more, and finds what it was to be told in its list', async () => {
  const { receiver, accountId, spend, alerts } = await openAccount();
  await removeAlertUrl(worker, accountId);
  await removeAlertUrl(worker, accountId);
  await spend(0n, LIMIT / 2n);
  expect(await alerts()).toMatchObject([{ percent: 50, state: 'unsent' }]);
  const { secret } = await setAlertUrl(worker, accountId, receiver.url);
  await spend(LIMIT / 2n, (LIMIT * 8n) / 10n);
  await receiver.until(1);
  verify(receiver.received[0] as Received, secret);
  expect(percents(receiver)).toEqual([80]);
});

test('a worker killed between POST and record: told again with the same id and bytes, written down once', async () => {
  const { receiver, spend, alerts } = await openAccount();
  await worker.stop();
  receiver.answer((response, count) => {
    if (count === 1) return void children.at(-1)?.kill('SIGKILL');
    response.end('ok');
  });
  const program = fileURLToPath(new URL('../support/webhook-worker.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await spend(0n, LIMIT / 2n);
  await receiver.until(1);
  await ended;
  worker = await startWebhookWorker(options);
  const rows = await eventually(async () => {
    const all = await alerts();
    return all[0]?.state === 'delivered' && all;
  });
  expect(rows).toMatchObject([{ percent: 50, attempts: 1 }]);
  expect(receiver.received).toHaveLength(2);
  expect(new Set(receiver.received.map(({ headers }) => headers['svc-id'])).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  await saveHistory(worker.client, 'sendMessages', 'sendMessages', await firstRun('sendMessages'));
});

async function firstRun(workflowId: string): Promise<string | undefined> {
  const description = await worker.client.workflow.getHandle(workflowId).describe();
  return description.raw.workflowExecutionInfo?.firstRunId ?? undefined;
}
