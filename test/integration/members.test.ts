import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MembersRoster } from '../../api/schemas/members.ts';
import { eraseSiteMember, inviteSiteMember } from '../../modules/identity/use/manageMembers.ts';
import { acceptInvitation, inviteMember } from '../../modules/identity/use/members.ts';
import { takeDueMails } from '../../modules/mail/store/mails.ts';
import { sendAlertMails } from '../../modules/mail/use/sendDue.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { createMailer } from '../../platform/mail.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { startTestApi } from '../support/api.ts';
import { startMailSink } from '../support/mail-sink.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const rosterOf = async (key: string) => {
  const { status, body } = await api.request('/_svc/members', { key });
  expect(status).toBe(200);
  expect(MembersRoster.parse(body)).toEqual(body);
  return body;
};

test('the roster shows an invitation while it is open and never after it was accepted', async () => {
  const site = await api.site({ ownerUserId: 'org-7' });
  const { tenantId } = site;
  expect(await rosterOf(site.key)).toEqual({ org: 'org-7', authors: [] });
  const { inviteToken } = await inviteMember(api.deps, { tenantId, authorId: 'ann', email: ' Ann@Example.org ' });
  expect(Buffer.from(inviteToken, 'base64url')).toHaveLength(32);
  const invited = { tenantId, authorId: 'ann', email: 'ann@example.org', userId: null, accepted: false, inviteToken };
  expect((await rosterOf(site.key)).authors).toEqual([invited]);
  expect(await acceptInvitation(api.deps, { inviteToken, userId: 'user-ann' })).toEqual({ tenantId, authorId: 'ann' });
  expect((await rosterOf(site.key)).authors).toEqual([{ ...invited, userId: 'user-ann', accepted: true, inviteToken: null }]);
  await expect(acceptInvitation(api.deps, { inviteToken, userId: 'user-eve' })).rejects.toMatchObject({ code: 'not_found' });
  const again = inviteMember(api.deps, { tenantId, authorId: 'ann', email: 'ann@example.org' });
  await expect(again).rejects.toMatchObject({ code: 'conflict' });
});

test('of twenty that accept at once exactly one does', async () => {
  const { tenantId } = await api.site();
  const { inviteToken } = await inviteMember(api.deps, { tenantId, authorId: 'bob', email: 'bob@example.org' });
  const users = Array.from({ length: 20 }, (_, n) => acceptInvitation(api.deps, { inviteToken, userId: `user-${n}` }));
  const results = await Promise.allSettled(users);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('an invitation ends after seven days and when a new one replaces it', async () => {
  const site = await api.site();
  const { tenantId } = site;
  const first = await inviteMember(api.deps, { tenantId, authorId: 'cyd', email: 'cyd@example.org' });
  const second = await inviteMember(api.deps, { tenantId, authorId: 'cyd', email: 'cyd@example.org' });
  expect((await rosterOf(site.key)).authors).toMatchObject([{ inviteToken: second.inviteToken }]);
  const accept = (inviteToken: string) => acceptInvitation(api.deps, { inviteToken, userId: 'user-cyd' });
  await expect(accept(first.inviteToken)).rejects.toMatchObject({ code: 'not_found' });
  api.time.offsetMs += 7 * 24 * 3_600_000 + 1_000;
  await expect(accept(second.inviteToken)).rejects.toMatchObject({ code: 'not_found' });
  expect((await rosterOf(site.key)).authors).toMatchObject([{ accepted: false, inviteToken: null }]);
  api.time.offsetMs = 0;
});

test('the database holds no invitation token, and an e-mail belongs to one author of a site', async () => {
  const { tenantId } = await api.site();
  const { inviteToken } = await inviteMember(api.deps, { tenantId, authorId: 'dan', email: 'dan@example.org' });
  const rows = await api.deps.database.query(
    'select to_jsonb(m) as row from member m union all select to_jsonb(h) from member_invite_hash h',
  );
  expect(JSON.stringify(rows)).not.toContain(inviteToken);
  const taken = inviteMember(api.deps, { tenantId, authorId: 'eve', email: 'DAN@example.org' });
  await expect(taken).rejects.toMatchObject({ code: 'conflict' });
  const nowhere = inviteMember(api.deps, { tenantId: crypto.randomUUID(), authorId: 'eve', email: 'eve@example.org' });
  await expect(nowhere).rejects.toMatchObject({ code: 'not_found' });
  for (const bad of [
    { authorId: '', email: 'a@b' },
    { authorId: 'x', email: 'no address' },
  ]) {
    await expect(inviteMember(api.deps, { tenantId, ...bad })).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
});

test('an author accepts by the e-mail: its link leads to a page, its token is good once, and the log of the site says so', async () => {
  const site = await api.site();
  const { tenantId } = site;
  const { database } = api.deps;
  const secretBox = createSecretBox(randomBytes(32));
  const deps = { ...api.deps, mail: { secretBox, baseUrl: api.url } };
  const { inviteToken } = await inviteSiteMember(
    deps,
    { tenantId, actor: operatorNamed('ops') },
    { authorId: 'fay', email: 'Fay@example.org' },
  );
  const stored = () => database.query('select to_jsonb(m) as mail from alert_mail as m where tenant_id = $1', [tenantId]);
  const holds = async () => {
    const text = JSON.stringify(await stored());
    return [inviteToken, Buffer.from(inviteToken).toString('hex')].some((form) => text.includes(form));
  };
  expect(await holds()).toBe(false);

  const sink = await startMailSink();
  const mailer = createMailer({ url: sink.url, from: 'alerts@service.example' });
  const sending = { database, mailer, secretBox, clock: Date.now, warn: () => undefined };
  expect(await sendAlertMails(sending)).toBe(1);
  expect(await sendAlertMails(sending)).toBe(0);
  expect(await holds()).toBe(false);
  expect(await stored()).toMatchObject([{ mail: { sealed: null } }]);
  mailer.close();
  await sink.stop();
  const mail = (sink.mails[0] ?? '').replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
  expect(mail).toMatch(/^To: fay@example\.org\r?$/m);
  expect(mail).toContain(`Invitation from ${site.host}`);
  const link = new URL(/https?:\S+\/_svc\/members\/accept#\S+/.exec(mail)?.[0] ?? '');
  expect(link.hash).toBe(`#${inviteToken}`);

  const page = await fetch(link);
  expect([page.status, page.headers.get('content-type'), page.headers.get('referrer-policy')]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-referrer',
  ]);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; .*frame-ancestors 'none'$/,
  );
  const accept = (token: unknown) =>
    fetch(`${api.url}/_svc/members/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inviteToken: token }),
    });
  expect((await accept('x')).status).toBe(400);
  expect((await accept(randomBytes(32).toString('base64url'))).status).toBe(404);
  const answers = await Promise.all(Array.from({ length: 5 }, () => accept(inviteToken)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  expect(await answers.find(({ ok }) => ok)?.json()).toEqual({ accepted: true, tenantId, authorId: 'fay' });
  expect((await rosterOf(site.key)).authors).toMatchObject([{ authorId: 'fay', accepted: true, inviteToken: null }]);
  const log = await database.query("select actor_via, target from audit_log where tenant_id = $1 and action = 'member.accept'", [
    tenantId,
  ]);
  expect(log).toEqual([{ actor_via: 'invitation', target: 'fay' }]);
});

test('one address gets three invitations a day of a site, a site sends a hundred, and what is refused invites nobody', async () => {
  const { tenantId } = await api.site();
  const mail = { secretBox: createSecretBox(randomBytes(32)), baseUrl: api.url };
  const invite = (authorId: string, email: string) =>
    inviteSiteMember({ ...api.deps, mail }, { tenantId, actor: operatorNamed('ops') }, { authorId, email });
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => invite('gus', 'gus@example.org')));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  await expect(invite('gus', 'Gus+4@example.org')).rejects.toMatchObject({ code: 'throttled' });
  await api.deps.database.query(
    `insert into used_once (owner_id, kind, key, expires_at) select $1, 'invitation', '00 invitation-' || n, now() + interval '1 day'
       from generate_series(1, 97) as n`,
    [tenantId],
  );
  await expect(invite('hal', 'hal@example.org')).rejects.toMatchObject({ code: 'throttled' });
  const members = await api.deps.database.query('select author_id from member where tenant_id = $1', [tenantId]);
  expect(members).toEqual([{ author_id: 'gus' }]);
});

test('who erases an author and invites the same address again comes to the same limit', async () => {
  const { tenantId } = await api.site();
  const call = { tenantId, actor: operatorNamed('ops') };
  const mail = { secretBox: createSecretBox(randomBytes(32)), baseUrl: api.url };
  const round = async (email: string): Promise<void> => {
    await inviteSiteMember({ ...api.deps, mail }, call, { authorId: 'ivy', email });
    await eraseSiteMember(api.deps, call, 'ivy');
  };
  for (const email of ['ivy@example.org', 'ivy+1@example.org', 'IVY+2@example.org']) await round(email);
  await expect(round('ivy@example.org')).rejects.toMatchObject({ code: 'throttled' });
  await expect(round('ivy+3@example.org')).rejects.toMatchObject({ code: 'throttled' });
  await round('joe@example.org');
  const left = await api.deps.database.query('select to_address from alert_mail where tenant_id = $1', [tenantId]);
  expect(left).toEqual([]);
});

test('a sealed e-mail that the server does not take comes up again a minute later, then as webhooks do, eight times in all', async () => {
  const { tenantId } = await api.site();
  const { database } = api.deps;
  const mail = { secretBox: createSecretBox(randomBytes(32)), baseUrl: api.url };
  const call = { tenantId, actor: operatorNamed('ops') };
  await inviteSiteMember({ ...api.deps, mail }, call, { authorId: 'kim', email: 'kim@example.org' });
  const waits: number[] = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    const taken = await takeDueMails(database, 1_000);
    if (!taken.some((one) => one.tenantId === tenantId)) break;
    const [row] = await database.query<{ minutes: number }>(
      'select round(extract(epoch from due_at - clock_timestamp()) / 60)::int as minutes from alert_mail where tenant_id = $1',
      [tenantId],
    );
    waits.push(row?.minutes ?? 0);
    await database.query("update alert_mail set due_at = now() - interval '1 second' where tenant_id = $1", [tenantId]);
  }
  expect(waits).toEqual([1, 5, 30, 120, 300, 600, 600, 1]);
});
