import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { HostCaps } from '../../modules/hosts/store/caps.ts';
import { admitCheck, admitLook, refundCheck } from '../../modules/hosts/store/caps.ts';
import { openChallenge } from '../../modules/hosts/store/hosts.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { ALPHA_PRICING } from '../support/api.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2030, 0, 1);
const OPEN: HostCaps = { perHour: 1_000, perHost: 1_000, gapMs: 0 };
let own: TestDatabase;
let database: Database;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 8 });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

async function tenantOf(ownerUserId: string = randomUUID()): Promise<string> {
  const hosts = [`${randomUUID().slice(0, 13)}.example`];
  return (await createTenant({ database }, { hosts, plan: 'studio', pricing: ALPHA_PRICING, ownerUserId })).tenantId;
}

async function open(tenantId: string, host = `${randomUUID().slice(0, 13)}.example`): Promise<string> {
  const at = new Date(NOW_MS);
  const challenge = { tenantId, host, method: 'well-known', token: 't'.repeat(43), limit: 500 } as const;
  await openChallenge(database, { ...challenge, at, staleBefore: new Date(0), firstCheckAt: new Date(NOW_MS + 600_000) });
  return host;
}

test('an account gets its checks of an hour at once and then one every two minutes, over all its sites', async () => {
  const owner = randomUUID();
  const [one, two] = [await tenantOf(owner), await tenantOf(owner)];
  const caps = { ...OPEN, perHour: 30 };
  const keys = [
    { tenantId: one, host: await open(one) },
    { tenantId: two, host: await open(two) },
  ] as const;
  const first = await Promise.all(
    Array.from({ length: 40 }, (_, index) => admitCheck(database, { ...keys[index % 2 === 0 ? 0 : 1], atMs: NOW_MS }, caps)),
  );
  expect(first.filter(({ ok }) => ok)).toHaveLength(30);
  const refused = await admitCheck(database, { ...keys[0], atMs: NOW_MS }, caps);
  expect(refused).toEqual({ ok: false, waitMs: 120_000 });
  expect(await admitCheck(database, { ...keys[0], atMs: NOW_MS + 119_000 }, caps)).toEqual({ ok: false, waitMs: 1_000 });
  expect(await admitCheck(database, { ...keys[0], atMs: NOW_MS + 120_000 }, caps)).toEqual({ ok: true });
  expect((await admitCheck(database, { ...keys[1], atMs: NOW_MS + 120_000 }, caps)).ok).toBe(false);
  const later = await Promise.all(
    Array.from({ length: 35 }, () => admitCheck(database, { ...keys[0], atMs: NOW_MS + 10 * HOUR_MS }, caps)),
  );
  expect(later.filter(({ ok }) => ok)).toHaveLength(30);
});

test('an account of the same name at another issuer has an hour of its own', async () => {
  const name = randomUUID();
  const caps = { ...OPEN, perHour: 1 };
  const admit = async (ownerIssuer: string) => {
    const pricing = ALPHA_PRICING;
    const site = { hosts: [`${randomUUID()}.example`], plan: 'studio', pricing, ownerUserId: name, ownerIssuer } as const;
    const { tenantId } = await createTenant({ database }, site);
    return (await admitCheck(database, { tenantId, host: await open(tenantId), atMs: NOW_MS }, caps)).ok;
  };
  expect(await admit('https://one.example')).toBe(true);
  expect(await admit('https://two.example')).toBe(true);
  expect(await admit('https://one.example')).toBe(false);
});

test('a hostname has one total for all sites, and what is refused leads to its automatic check', async () => {
  const [one, two] = [await tenantOf(), await tenantOf()];
  const host = await open(one);
  await open(two, host);
  const caps = { ...OPEN, perHost: 5 };
  const checks = [one, one, two, two, one, two].map((tenantId) => admitCheck(database, { tenantId, host, atMs: NOW_MS }, caps));
  const answers = await Promise.all(checks);
  expect(answers.filter(({ ok }) => ok)).toHaveLength(5);
  expect(answers.find(({ ok }) => !ok)).toEqual({ ok: false, waitMs: 600_000 });
});

test('two checks of a challenge keep their distance, whoever comes first', async () => {
  const tenantId = await tenantOf();
  const check = { tenantId, host: await open(tenantId) };
  const caps = { ...OPEN, gapMs: 2_000 };
  const answers = await Promise.all(Array.from({ length: 5 }, () => admitCheck(database, { ...check, atMs: NOW_MS }, caps)));
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  expect(await admitCheck(database, { ...check, atMs: NOW_MS + 1_500 }, caps)).toEqual({ ok: false, waitMs: 500 });
  expect(await admitCheck(database, { ...check, atMs: NOW_MS + 2_000 }, caps)).toEqual({ ok: true });
});

test('a refused check is counted nowhere, and one that was never made is given back', async () => {
  const tenantId = await tenantOf();
  const check = { tenantId, host: await open(tenantId), atMs: NOW_MS };
  const caps = { perHour: 2, perHost: 2, gapMs: 0 };
  await admitCheck(database, check, caps);
  await admitCheck(database, check, caps);
  for (let again = 0; again < 3; again++) expect((await admitCheck(database, check, caps)).ok).toBe(false);
  await refundCheck(database, check, caps);
  expect(await admitCheck(database, check, caps)).toEqual({ ok: true });
  expect((await admitCheck(database, check, caps)).ok).toBe(false);
});

test('looks at sites have a share of their own', async () => {
  const tenantId = await tenantOf();
  const check = { tenantId, host: await open(tenantId), atMs: NOW_MS };
  expect([await admitLook(database, check, 1), await admitLook(database, check, 1)]).toEqual([true, false]);
  expect(await admitCheck(database, check, { ...OPEN, perHour: 1 })).toEqual({ ok: true });
});

test('a site may have only so many open challenges, and the one it has can be opened again', async () => {
  const tenantId = await tenantOf();
  const at = new Date(NOW_MS);
  const base = { tenantId, method: 'well-known', token: 't'.repeat(43), at, staleBefore: new Date(0), firstCheckAt: at } as const;
  expect(await openChallenge(database, { ...base, host: 'one.example', limit: 1 })).toBe(true);
  expect(await openChallenge(database, { ...base, host: 'two.example', limit: 1 })).toBe(false);
  expect(await openChallenge(database, { ...base, host: 'one.example', limit: 1 })).toBe(true);
});
