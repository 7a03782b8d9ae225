import { afterAll, beforeAll, expect, test } from 'vitest';
import { MembersRoster } from '../../api/schemas/members.ts';
import { acceptInvitation, inviteMember } from '../../services/members.ts';
import { startTestApi } from '../support/api.ts';

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
