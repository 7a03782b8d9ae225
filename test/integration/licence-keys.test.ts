import { afterAll, beforeAll, expect, test } from 'vitest';
import { openKeyring, refreshKeyring } from '../../modules/licences/use/keyring.ts';
import { mintReReadLicence } from '../../modules/licences/use/mint.ts';
import { publicHalf } from '../../platform/tokens/jws.ts';
import { runAdmin } from '../support/admin.ts';
import { newSigningKey, WALLETS } from '../support/api.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { insertPurchases } from '../support/reports.ts';
import { reReadFacts } from '../support/reReads.ts';

/** Retiring a licence key. An API process reads the keys again every 30 seconds; here it does when the test says so. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: { tenantId: string; host: string; key: string };
beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site({ plan: 'studio' });
  const legs = [{ toAddress: WALLETS[0]!, amountMicro: 700, authorId: 'ann' }];
  const { tenantId, host } = site;
  await insertPurchases(graph.api.deps.database, [
    { tenantId, host, slug: 'solo', kind: 'read', steps: 1, legs, atMs: Date.UTC(2026, 9, 7) },
  ]);
});
afterAll(() => graph?.stop());

const admin = (...args: string[]) => runAdmin(graph.api, 'licence-key', ...args);
const retire = (...args: string[]) => admin('retire', ...args);
const database = () => graph.api.deps.database;
const states = async () => {
  const { keys } = (await admin('list')) as { keys: { kid: string; state: string }[] };
  return Object.fromEntries(keys.map(({ kid, state }) => [kid, state]));
};
type Ring = Awaited<ReturnType<typeof openKeyring>>;

const entitles = async (license: string): Promise<boolean> => {
  const body = { license, resource: `https://${site.host}/articles/solo`, slug: 'solo' };
  return (await graph.api.post('/_svc/license/check', site.key, body)).body.entitled;
};

async function makeLink(): Promise<string> {
  const asked = { authorId: 'ann', month: '2026-10', timeZone: 'Europe/Berlin' };
  const { data } = await graph.ask(
    await graph.owner(site.tenantId),
    'mutation ($input: MakeStatementLinkInput!) { makeStatementLink(input: $input) { ... on MakeStatementLinkPayload { url } } }',
    { input: asked },
  );
  return new URL(data.makeStatementLink.url).hash.slice(1);
}

async function openLink(token: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${graph.api.url}/_svc/statement`, { method: 'POST', headers, body: JSON.stringify({ token }) });
  await answer.arrayBuffer();
  return answer.status;
}

/** What another process publishes that has these private keys. */
const publish = (privateKeys: readonly ReturnType<typeof newSigningKey>[], nextAfterMs?: number): Promise<Ring> =>
  openKeyring(database(), { privateKeys, clock: Date.now, ...(nextAfterMs === undefined ? {} : { nextAfterMs }) });

test('a stolen key that is retired ends its licences and statement links when processes next read the keys; the next one signs at once', async () => {
  const { keyring } = graph.api.deps;
  const { kid } = keyring.current();
  const facts = reReadFacts(graph.api, site);
  const [licence, link] = [await mintReReadLicence(keyring, facts), await makeLink()];
  expect([await entitles(licence), await openLink(link)]).toEqual([true, 200]);

  const alone = /put a new one first in LICENCE_KEYS of every API process/;
  for (const more of [[], ['--stolen']]) await expect(retire(kid, ...more)).rejects.toMatchObject({ code: 'conflict', text: expect.stringMatching(alone) }); // biome-ignore format: one line
  const nextKey = newSigningKey();
  const { kid: nextKid } = await publicHalf(nextKey);
  const other = await publish([nextKey]);
  await expect(retire(kid)).rejects.toMatchObject({
    code: 'conflict',
    text: expect.stringMatching(new RegExp(`signs until ${nextKid} does, from 20`)),
  });
  expect(await states()).toEqual({ [kid]: 'signs', [nextKid]: 'next' });
  expect(() => other.current()).toThrow(/no key can sign/);

  const retired = await retire(kid, '--stolen');
  expect(retired).toMatchObject({ kid, state: 'retired', retiredAt: expect.any(String) });
  expect(await states()).toEqual({ [kid]: 'retired', [nextKid]: 'signs' });
  expect([await entitles(licence), await openLink(link)]).toEqual([true, 200]);
  for (const ring of [keyring, other]) await refreshKeyring(database(), ring);
  expect([await entitles(licence), await openLink(link)]).toEqual([false, 404]);
  await expect(mintReReadLicence(keyring, facts)).rejects.toMatchObject({ code: 'signing_key_unavailable' });
  const shown = (await graph.api.request('/.well-known/jwks.json')).body.keys;
  expect(shown.map((key: { kid: string }) => key.kid)).toEqual([nextKid]);
  expect(other.current().kid).toBe(nextKid);
  expect(await entitles(await mintReReadLicence(other, { ...facts, kid: nextKid }))).toBe(true);

  expect(await retire(kid)).toEqual(retired);
  const { items } = (await runAdmin(graph.api, 'audit', 'list')) as { items: Record<string, unknown>[] };
  expect(items.filter(({ action }) => action === 'licence.retire_key')).toMatchObject([
    { target: kid, before: { state: 'signs', signs: kid }, after: { state: 'retired', signs: nextKid } },
  ]);
});

test('a key that another one follows is retired as it is; its private half signs nothing again, and an unknown id is refused', async () => {
  const [before = ''] = Object.entries(await states()).find(([, state]) => state === 'signs') ?? [];
  const lastKey = newSigningKey();
  const ring = await publish([lastKey], 0);
  expect(await states()).toMatchObject({ [before]: 'former', [ring.current().kid]: 'signs' });
  expect(await retire(before)).toMatchObject({ kid: before, state: 'retired' });
  const again = newSigningKey();
  const { kid } = await publicHalf(again);
  await publish([again]);
  expect(await retire(kid)).toMatchObject({ kid, state: 'retired' });
  expect((await publish([again], 0)).jwks().keys.map((key) => key.kid)).toEqual([ring.current().kid]);
  await expect(retire('-no-such-key')).rejects.toMatchObject({ code: 'not_found' });
});
