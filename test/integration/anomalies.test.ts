import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { confirmAlertAddress, setAlertAddress } from '../../modules/anomalies/use/address.ts';
import type { AnomalyDeps } from '../../modules/anomalies/use/deps.ts';
import { createRule, deleteRule, listRules, updateRule } from '../../modules/anomalies/use/rules.ts';
import { sweepRules } from '../../modules/anomalies/use/sweep.ts';
import { insertMail } from '../../modules/mail/store/mails.ts';
import type { MailDeps } from '../../modules/mail/use/sendDue.ts';
import { sendAlertMails } from '../../modules/mail/use/sendDue.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createMailer } from '../../platform/mail.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import type { Pepper } from '../../platform/tokens/pepper.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { setConfirmedAddress } from '../support/addresses.ts';
import { insertTenant } from '../support/ledger.ts';
import type { MailSink } from '../support/mail-sink.ts';
import { startMailSink } from '../support/mail-sink.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { query } from '../support/sql.ts';
import { listDeliveries } from '../support/webhookLog.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 5, 1, 10, 17);
const secretBox = createSecretBox(Buffer.alloc(32, 5));
const outbound = createOutbound();
let own: TestDatabase;
let database: Database;
let sink: MailSink;
let nowMs = START;
let deps: AnomalyDeps & MailDeps;
let mailer: ReturnType<typeof createMailer>;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 6 });
  sink = await startMailSink();
  mailer = createMailer({ url: sink.url, from: 'alerts@service.example' });
  deps = { database, mailer, secretBox, clock: () => nowMs, warn: () => undefined };
});
beforeEach(async () => {
  nowMs = START;
  await database.query('delete from anomaly_rule');
});
afterAll(async () => {
  mailer.close();
  await sink.stop();
  await outbound.close();
  await database.close();
  await own.drop();
});

const PEPPER = 'p'.repeat(32);
const addresses = (pepper: Pepper = pepperOf({ apiKeyPepper: PEPPER })) => ({ database, pepper, clock: () => nowMs });
const mailsOf = (tenantId: string) =>
  database.query<{ to_address: string; detail: string }>(
    'select to_address, detail from alert_mail where tenant_id = $1 order by created_at, mail_id',
    [tenantId],
  );
const codeIn = (text: string | undefined): string => /^\w+\.[\w-]{22}$/m.exec(text ?? '')?.[0] ?? '';

/** Denied requests of an agent at a moment in the running hour, which is read from the rows. */
async function addDenied(tenantId: string, atMs: number, hits: number): Promise<void> {
  for (let place = 0; place < hits; place++) {
    await database.query(
      `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, agent, at, micro)
       values ($1, $2, 'alpha.example', 'solo', 'denied', 'agent', 'other', $3, 10)`,
      [tenantId, randomUUID(), new Date(atMs)],
    );
  }
}

async function subscribe(tenantId: string): Promise<string> {
  const request = { url: 'https://receiver.example/hook', eventTypes: ['anomaly.detected'] } as const;
  return (await createEndpoint({ database, secretBox, outbound }, tenantId, request)).endpointId;
}

async function eventsOf(tenantId: string): Promise<{ event_id: string; type: string; detailed: object; summary: object }[]> {
  return await database.query(
    'select event_id, type, detailed, summary from webhook_event where tenant_id = $1 order by created_at',
    [tenantId],
  );
}

test('a breach that stands over 50 sweeps fires once a throttle window, each event once for each endpoint, with one e-mail', async () => {
  const tenantId = await insertTenant(database);
  const endpointId = await subscribe(tenantId);
  await setConfirmedAddress(database, tenantId, 'owner@alpha.example');
  await createRule({ database }, tenantId, { metric: 'denied', rangeKey: '1h', threshold: 3 });
  for (let sweep = 0; sweep < 50; sweep++) {
    nowMs = START + sweep * 5 * MINUTE;
    if (sweep % 6 === 0) await addDenied(tenantId, nowMs - 1_000, 3);
    await Promise.all([sweepRules(deps), sweepRules(deps)]); // two sweeps at once see the same breach
  }
  const events = await eventsOf(tenantId);
  expect(events).toHaveLength(5);
  expect(new Set(events.map(({ event_id: id }) => id)).size).toBe(5);
  const sentence = 'Denied requests in the last hour: 3. The threshold is 3.';
  expect(events[0]?.detailed).toEqual({ metric: 'denied', detail: sentence, rangeKey: '1h', threshold: 3 });
  expect(events[0]?.summary).toEqual(events[0]?.detailed);
  expect(await listDeliveries({ database }, tenantId, endpointId)).toHaveLength(5);
  expect(await sendAlertMails(deps)).toBe(5);
  expect(await sendAlertMails(deps)).toBe(0);
  expect(sink.mails).toHaveLength(5);
  expect(sink.mails[0]).toContain(sentence);
  expect(sink.mails[0]).toContain('To: owner@alpha.example');
  expect(new Set(sink.mails.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1])).size).toBe(5);
});

test('a rule that is over its breach is armed again and fires for the next one', async () => {
  const tenantId = await insertTenant(database);
  const { ruleId } = await createRule({ database }, tenantId, { metric: 'agent_hits', rangeKey: '1h', threshold: 2 });
  const phase = async () => (await listRules({ database }, tenantId, nowMs))[0]?.phase;
  await addDenied(tenantId, nowMs - 1_000, 2);
  expect(await sweepRules(deps)).toMatchObject({ events: 1, failures: 0 });
  expect(await phase()).toBe('breached');
  nowMs += 120 * MINUTE;
  expect(await sweepRules(deps)).toMatchObject({ events: 0 });
  expect(await phase()).toBe('armed');
  await addDenied(tenantId, nowMs - 1_000, 2);
  expect(await sweepRules(deps)).toMatchObject({ events: 1 });
  expect(await eventsOf(tenantId)).toHaveLength(2);
  await deleteRule({ database }, tenantId, ruleId);
  expect(await sweepRules(deps)).toMatchObject({ rules: 0 });
});

test('a rule looks at its own site and host only, and not while it is disabled or the site suspended', async () => {
  const [tenantId, other] = [await insertTenant(database), await insertTenant(database)];
  await addDenied(other, nowMs - 1_000, 5);
  const rule = { metric: 'denied', rangeKey: '1h', threshold: 1 } as const;
  await createRule({ database }, tenantId, rule);
  expect(await sweepRules(deps)).toMatchObject({ rules: 1, events: 0 });
  await createRule({ database }, other, { ...rule, host: 'beta.example' });
  expect(await sweepRules(deps)).toMatchObject({ rules: 2, events: 0 });
  const { ruleId } = await createRule({ database }, other, { ...rule, enabled: false });
  expect(await sweepRules(deps)).toMatchObject({ rules: 2, events: 0 });
  await database.query("update tenant set status = 'suspended' where tenant_id = $1", [other]);
  await updateRule({ database }, other, ruleId, { enabled: true });
  expect(await sweepRules(deps)).toMatchObject({ rules: 1, events: 0 });
  await database.query("update tenant set status = 'active' where tenant_id = $1", [other]);
  expect(await sweepRules(deps)).toMatchObject({ rules: 3, events: 1 });
});

test('a rule with another threshold begins armed', async () => {
  const tenantId = await insertTenant(database);
  const { ruleId } = await createRule({ database }, tenantId, { metric: 'missed_micro', rangeKey: '6h', threshold: 20 });
  await addDenied(tenantId, nowMs - 1_000, 2);
  expect(await sweepRules(deps)).toMatchObject({ events: 1 });
  await updateRule({ database }, tenantId, ruleId, { threshold: 15 });
  expect(await listRules({ database }, tenantId, nowMs)).toMatchObject([{ phase: 'armed', threshold: 15 }]);
  nowMs += MINUTE;
  expect(await sweepRules(deps)).toMatchObject({ events: 1 });
});

test('nonsense is refused, a site has twenty rules, and nobody reaches the rule of another site', async () => {
  const [tenantId, other] = [await insertTenant(database), await insertTenant(database)];
  const rule = { metric: 'denied', rangeKey: '1h', threshold: 1 } as const;
  const { ruleId } = await createRule({ database }, tenantId, rule);
  for (const bad of [
    { metric: 'x' },
    { rangeKey: '2h' },
    { rangeKey: 'toString' },
    { threshold: 0 },
    { host: 'UPPER.example' },
  ]) {
    await expect(createRule({ database }, tenantId, { ...rule, ...bad } as never)).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
  }
  await expect(updateRule({ database }, other, ruleId, { threshold: 2 })).rejects.toMatchObject({ code: 'not_found' });
  await expect(deleteRule({ database }, other, ruleId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(setAlertAddress(addresses(), tenantId, 'a@b.example, c@d.example')).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
  const made = await Promise.allSettled(Array.from({ length: 22 }, () => createRule({ database }, tenantId, rule)));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(19);
});

test('an e-mail that the server does not take is tried again later, and none is kept without an address or sent without a server', async () => {
  const tenantId = await insertTenant(database);
  await setConfirmedAddress(database, tenantId, 'owner@alpha.example');
  await createRule({ database }, tenantId, { metric: 'denied', rangeKey: '1h', threshold: 1 });
  await addDenied(tenantId, nowMs - 1_000, 1);
  await sweepRules(deps);
  const before = sink.mails.length;
  expect(await sendAlertMails({ ...deps, mailer: null })).toBe(0);
  sink.refuse(true);
  expect(await sendAlertMails(deps)).toBe(0);
  sink.refuse(false);
  expect(await sendAlertMails(deps)).toBe(0); // not due yet
  await database.query('update alert_mail set due_at = now() where tenant_id = $1', [tenantId]);
  expect(await sendAlertMails(deps)).toBe(1);
  expect(sink.mails.length).toBe(before + 1);
  await setAlertAddress(addresses(), tenantId, null);
  nowMs += 61 * MINUTE;
  await addDenied(tenantId, nowMs - 1_000, 1);
  expect(await sweepRules(deps)).toMatchObject({ events: 1 });
  expect(await sendAlertMails(deps)).toBe(0);
});

test('a mail server that hangs over one e-mail keeps the next from no other sender, and who is stopped takes no more', async () => {
  const tenantId = await insertTenant(database);
  for (const mailId of ['hangs-1', 'hangs-2', 'hangs-3']) {
    const mail = { mailId, toAddress: 'ann@alpha.example', subject: mailId, detail: 'Welcome.', sealed: null };
    await insertMail(database, { tenantId, ...mail });
  }
  const [hanging, answered, stop] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), new AbortController()];
  const send = () => {
    hanging.resolve();
    return answered.promise;
  };
  const first = sendAlertMails({ ...deps, mailer: { send } }, stop.signal);
  await hanging.promise;
  expect(await sendAlertMails(deps)).toBe(2);
  await insertMail(database, {
    tenantId,
    mailId: 'hangs-4',
    toAddress: 'ann@alpha.example',
    subject: '',
    detail: '',
    sealed: null,
  });
  stop.abort();
  answered.resolve();
  expect(await first).toBe(1);
  expect(await sendAlertMails(deps)).toBe(1);
});

test('an address gets a code and no alert before it has agreed; a changed address has to agree anew, whoever changed it', async () => {
  const tenantId = await insertTenant(database);
  const alert = async (): Promise<string[]> => {
    await database.query('delete from anomaly_rule');
    await database.query("delete from alert_mail where mail_id not like 'confirm-%'");
    await createRule({ database }, tenantId, { metric: 'denied', rangeKey: '1h', threshold: 1 });
    await addDenied(tenantId, nowMs - 1_000, 1);
    await sweepRules(deps);
    return (await mailsOf(tenantId)).flatMap(({ to_address: to, detail }) => (codeIn(detail) === '' ? [to] : []));
  };
  await setAlertAddress(addresses(), tenantId, 'ann@alpha.example');
  const [mail] = await mailsOf(tenantId);
  expect(mail).toMatchObject({ to_address: 'ann@alpha.example', detail: expect.not.stringContaining('{site}') });
  expect(await alert()).toEqual([]);
  expect(await confirmAlertAddress(addresses(), tenantId, codeIn(mail?.detail))).toBe('ann@alpha.example');
  await confirmAlertAddress(addresses(), tenantId, codeIn(mail?.detail));
  expect(await alert()).toEqual(['ann@alpha.example']);
  await setAlertAddress(addresses(), tenantId, 'ann@alpha.example');
  expect(await mailsOf(tenantId)).toHaveLength(2); // one code, one alert: what is confirmed is not asked again
  // A new address gets none before it is confirmed.
  await database.query("update tenant set alert_email = 'bob@alpha.example' where tenant_id = $1", [tenantId]);
  expect(await alert()).toEqual([]);
});

test('a code is good for its site, its address and 24 hours, under the pepper before as well', async () => {
  const [tenantId, other] = [await insertTenant(database), await insertTenant(database)];
  await setAlertAddress(addresses(), tenantId, 'ann@alpha.example');
  await setAlertAddress(addresses(), other, 'ann@alpha.example');
  const [code, ofOther] = [codeIn((await mailsOf(tenantId))[0]?.detail), codeIn((await mailsOf(other))[0]?.detail)];
  const late = code.replace(/^\w+/, (end) => (Number.parseInt(end, 36) + 1).toString(36));
  for (const bad of [ofOther, late, '', '.', code.slice(0, -1), `${code}A`, `${code}.`, code.toUpperCase()]) {
    await expect(confirmAlertAddress(addresses(), tenantId, bad), bad).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
  const elsewhere = addresses(pepperOf({ apiKeyPepper: 'q'.repeat(32) }));
  await expect(confirmAlertAddress(elsewhere, tenantId, code)).rejects.toMatchObject({ code: 'invalid_parameter' });
  nowMs += 24 * 60 * MINUTE;
  await expect(confirmAlertAddress(addresses(), tenantId, code)).rejects.toMatchObject({ code: 'invalid_parameter' });
  nowMs -= 2_000;
  await setAlertAddress(addresses(), tenantId, 'bob@alpha.example');
  await expect(confirmAlertAddress(addresses(), tenantId, code)).rejects.toMatchObject({ code: 'invalid_parameter' });
  await setAlertAddress(addresses(), tenantId, 'ann@alpha.example');
  const rotated = pepperOf({ apiKeyPepper: 'q'.repeat(32), apiKeyPepperPrevious: PEPPER });
  expect(await confirmAlertAddress(addresses(rotated), tenantId, code)).toBe('ann@alpha.example');
});

test('a site sends three codes a day, to whatever addresses; taking the address away is always possible', async () => {
  const tenantId = await insertTenant(database);
  for (const email of ['a@alpha.example', 'b@alpha.example', 'b@alpha.example']) {
    await setAlertAddress(addresses(), tenantId, email);
  }
  const again = () =>
    database.transaction((sql) => setAlertAddress({ ...addresses(), database: sql }, tenantId, 'c@alpha.example'));
  await expect(again()).rejects.toMatchObject({ code: 'throttled', kind: 'throttled' });
  expect(await mailsOf(tenantId)).toHaveLength(3);
  await setAlertAddress(addresses(), tenantId, null);
  await expect(again()).rejects.toMatchObject({ code: 'throttled' });
  await database.query('delete from alert_mail where tenant_id = $1', [tenantId]);
  await expect(again()).rejects.toMatchObject({ code: 'throttled' });
  await query(own.ownerUrl, "update used_once set expires_at = expires_at - interval '24 hours' where owner_id = $1", [tenantId]);
  await again();
});
