import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { WALLETS } from '../support/api.ts';
import { listAuditEntries } from '../support/auditEntries.ts';
import type { OwnedWorld } from '../support/owner-world.ts';
import { startOwnerWorld } from '../support/owner-world.ts';

let stage: Awaited<ReturnType<typeof startOwnerWorld>>;
let other: OwnedWorld;
beforeAll(async () => {
  stage = await startOwnerWorld();
  other = await stage.world();
});
afterAll(() => stage.stop());

const wallet = WALLETS[1] as string;
const credits = { contributors: [{ authorId: 'bob', wallet }] };

/** One mutation: what it is asked, what it answers, and what the log says of it. */
interface Case {
  readonly name: string;
  readonly action: string;
  readonly input: (world: OwnedWorld) => object | Promise<object>;
  readonly fields: string;
  readonly before: unknown;
  readonly after: unknown;
  /** Members of the answer that must not stand in the log. */
  readonly secrets?: readonly string[];
  /** Done before it, so that there is something to change. */
  readonly first?: readonly [name: string, input: (world: OwnedWorld) => object];
  /** The input names something of a site: that of another site is not found. */
  readonly isOwnThing?: true;
}

/** The code that stands in the e-mail to a site's new address for alerts; other text when there is none. */
async function codeSentBy(tenantId: string): Promise<string> {
  const rows = await stage.database.query<{ detail: string }>('select detail from alert_mail where tenant_id = $1', [tenantId]);
  return /^\w+\.[\w-]{22}$/m.exec(rows[0]?.detail ?? '')?.[0] ?? 'none';
}

const any = expect.anything();
const CASES: readonly Case[] = [
  {
    name: 'mintKey',
    action: 'key.mint',
    input: () => ({ name: 'reader', scopes: ['TENANT_READ', 'AUDIT_READ'] }),
    fields: 'keyId token',
    before: null,
    after: expect.objectContaining({ name: 'reader', scopes: ['tenant.read', 'audit.read'], revokedAt: null }),
    secrets: ['token'],
  },
  {
    name: 'mintConnectKey',
    action: 'key.mint_connect',
    input: () => ({ name: 'blog' }),
    fields: 'keyId token',
    before: null,
    after: expect.objectContaining({ scopes: ['tenant.read', 'domain.manage'], expiresAt: any }),
    secrets: ['token'],
  },
  {
    name: 'revokeKey',
    action: 'key.revoke',
    input: ({ keyId }) => ({ keyId }),
    fields: 'keyId',
    before: { revokedAt: null },
    after: { revokedAt: expect.stringMatching(/^20/) },
    isOwnThing: true,
  },
  {
    name: 'setPrices',
    action: 'price.set',
    input: () => ({ priceUsdc: '0.02', citationMultiplier: '3' }),
    fields: 'version',
    before: { priceUsdc: '0.001', citationMultiplier: null },
    after: { priceUsdc: '0.02', citationMultiplier: '3' },
  },
  {
    name: 'setCreditsToken',
    action: 'credits.set_token',
    first: ['setPrices', () => ({ creditsApiUrl: 'https://credits.example.com/v1' })],
    input: () => ({ token: 'secret-query-of-credits' }),
    fields: 'origin',
    before: { origin: null, setAt: null },
    after: { origin: 'https://credits.example.com', setAt: any },
  },
  {
    name: 'setArticlePrefixes',
    action: 'prefixes.set',
    input: () => ({ prefixes: ['/news/'] }),
    fields: 'version',
    before: { articlePrefixes: ['/articles/'] },
    after: { articlePrefixes: ['/news/'] },
  },
  {
    name: 'setFreeSlugs',
    action: 'slugs.set_free',
    input: () => ({ slugs: null }),
    fields: 'version',
    before: { creditsFreeSlugs: ['free'] },
    after: { creditsFreeSlugs: null },
  },
  {
    name: 'setPriceRules',
    action: 'rules.set',
    input: () => ({ rules: [{ id: 'news', path: '/articles/solo$', effect: 'PRICE', priceUsdc: '0.05' }] }),
    fields: 'version',
    before: { rules: null },
    after: { rules: [expect.objectContaining({ id: 'news', effect: { price: '0.05' } })] },
  },
  {
    name: 'setReadAgain',
    action: 'price.set_read_again',
    input: () => ({ hours: 24 }),
    fields: 'version',
    before: { readAgainHours: null },
    after: { readAgainHours: 24 },
  },
  {
    name: 'setCredits',
    action: 'credits.set',
    input: () => ({ pages: [{ slug: 'only', credits }] }),
    fields: 'version',
    before: { creditsInline: expect.objectContaining({ solo: any, trio: any }) },
    after: { creditsInline: { only: credits } },
  },
  {
    name: 'setPageCredits',
    action: 'credits.set_page',
    input: () => ({
      slug: 'new',
      credits: { title: 'New', contributors: [{ authorId: 'desk', members: [{ authorId: 'bob', wallet, weight: 2.5 }] }] },
    }),
    fields: 'version',
    before: { creditsInline: {} },
    after: {
      creditsInline: {
        new: { title: 'New', contributors: [{ authorId: 'desk', members: [{ authorId: 'bob', wallet, weight: 2.5 }] }] },
      },
    },
  },
  {
    name: 'removePageCredits',
    action: 'credits.remove_page',
    input: () => ({ slug: 'solo' }),
    fields: 'version',
    before: { creditsInline: { solo: any } },
    after: { creditsInline: {} },
  },
  {
    name: 'importPages',
    action: 'page.import',
    input: () => ({
      pages: [
        { slug: 'old', path: '/articles/older' },
        { slug: 'fresh', path: '/articles/fresh', title: 'Fresh', credits },
      ],
    }),
    fields: 'imported',
    before: { old: { path: '/articles/old', credits: any } },
    after: { old: { path: '/articles/older', credits: null }, fresh: { path: '/articles/fresh', title: 'Fresh', credits } },
  },
  {
    name: 'removePages',
    action: 'page.remove',
    input: () => ({ slugs: ['old', 'never'] }),
    fields: 'removed',
    before: { old: any },
    after: {},
  },
  {
    name: 'setLicenceOffering',
    action: 'offering.set',
    input: () => ({
      sellsTraining: true,
      periodFactors: [
        { upToDays: 30, factor: '1' },
        { upToDays: 366, factor: '4' },
      ],
    }),
    fields: 'sellsTraining',
    before: { sellsTraining: false, periodFactors: null },
    after: { sellsTraining: true, periodFactors: any },
  },
  {
    name: 'setDiscovery',
    action: 'discovery.set',
    input: () => ({ summary: 'Essays about bridges', tags: ['bridges', 'old stones'], relay: true }),
    fields: 'discovery { summary tags relay }',
    before: { listing: null },
    after: { listing: { summary: 'Essays about bridges', tags: ['bridges', 'old stones'], relays: true } },
  },
  {
    name: 'setCrawlerPolicy',
    action: 'gate.set_crawler_policy',
    input: () => ({ allow: ['Archive-Bot'], charge: ['gptbot'], block: ['badbot'] }),
    fields: 'allow charge block',
    before: { crawlerPolicy: { allow: [], charge: [], block: [] } },
    after: { crawlerPolicy: { allow: ['archive-bot'], charge: ['gptbot'], block: ['badbot'] } },
  },
  {
    name: 'setVisitorClass',
    action: 'gate.set_visitor_class',
    input: () => ({ visitorClass: 'PREVIEW', policy: 'CHARGE' }),
    fields: 'visitorClass policy',
    before: { visitorClasses: { preview: 'read' } },
    after: { visitorClasses: { preview: 'charge' } },
  },
  {
    name: 'setSeoAllowlist',
    action: 'gate.set_seo_allowlist',
    input: () => ({ fragments: ['googlebot'] }),
    fields: 'fragments',
    before: { seoAllowlist: expect.arrayContaining(['bingbot']) },
    after: { seoAllowlist: ['googlebot'] },
  },
  {
    name: 'setGateScope',
    action: 'gate.set_scope',
    input: () => ({ mode: 'SITE', excludePrefixes: ['/assets/'], forms: ['.md'] }),
    fields: 'mode forms',
    before: { gateScope: { mode: 'prefixes' }, forms: expect.arrayContaining(['.md', '/amp']) },
    after: { gateScope: { mode: 'site', excludePrefixes: ['/assets/'] }, forms: ['.md'] },
  },
  {
    name: 'setNetworks',
    action: 'networks.set',
    input: () => ({ networks: ['eip155:84532'] }),
    fields: 'networks { taken configured }',
    before: { networks: null },
    after: { networks: ['eip155:84532'] },
  },
  {
    name: 'setReceipts',
    action: 'receipts.set',
    input: () => ({ isPublic: false }),
    fields: 'isPublic',
    before: { receiptsPublic: true },
    after: { receiptsPublic: false },
  },
  {
    name: 'setLegalDetails',
    action: 'legal.set',
    input: () => ({ legalName: 'Meridian Media GmbH', legalAddress: 'Invalidenstraße 1, 10115 Berlin' }),
    fields: 'legalName legalAddress',
    before: { legalName: null, legalAddress: null },
    after: { legalName: 'Meridian Media GmbH', legalAddress: 'Invalidenstraße 1, 10115 Berlin' },
  },
  {
    name: 'openHost',
    action: 'host.open',
    input: () => ({ host: 'new-host.example.com', method: 'DNS_TXT' }),
    fields: 'host present { name value }',
    before: null,
    after: { verified: false, challenge: { state: 'open', method: 'dns-txt' } },
  },
  {
    name: 'checkHost',
    action: 'host.check',
    first: ['openHost', () => ({ host: 'checked-host.example.com' })],
    input: () => ({ host: 'checked-host.example.com' }),
    fields: 'host verified reason',
    before: null,
    after: { verified: false, reason: 'timeout' },
  },
  {
    name: 'removeHost',
    action: 'host.remove',
    input: ({ host }) => ({ host }),
    fields: 'host',
    before: { verified: true, challenge: null },
    after: null,
    isOwnThing: true,
  },
  {
    name: 'inviteMember',
    action: 'member.invite',
    input: () => ({ authorId: 'bob', email: 'Bob@example.com' }),
    fields: 'authorId inviteToken expiresAt',
    before: null,
    after: { email: 'bob@example.com', userId: null, inviteExpiresAt: any },
    secrets: ['inviteToken'],
  },
  {
    name: 'makeStatementLink',
    action: 'statement.link',
    input: () => ({ authorId: 'ann', month: '2026-10', days: 7 }),
    fields: 'authorId url expiresAt',
    before: null,
    after: { month: '2026-10', timeZone: 'UTC', expiresAt: any },
    secrets: ['url'],
  },
  {
    name: 'makeRowsLink',
    action: 'rows.link',
    input: () => ({ query: '{ tenant { legs { nodes { at } } } }', hours: 1 }),
    fields: 'url expiresAt',
    before: null,
    after: { query: '{ tenant { legs { nodes { at } } } }', expiresAt: any },
    secrets: ['url'],
  },
  {
    name: 'revokeInvitation',
    action: 'member.revoke_invite',
    input: () => ({ authorId: 'ann' }),
    fields: 'authorId',
    before: expect.objectContaining({ email: 'ann@example.com' }),
    after: null,
  },
  {
    name: 'removeMember',
    action: 'member.remove',
    input: () => ({ authorId: 'ann' }),
    fields: 'authorId',
    before: expect.objectContaining({ email: 'ann@example.com' }),
    after: null,
  },
  {
    name: 'eraseMember',
    action: 'member.erase',
    input: () => ({ authorId: 'ann' }),
    fields: 'authorId',
    before: null,
    after: null,
  },
  {
    name: 'createEndpoint',
    action: 'endpoint.create',
    input: () => ({
      url: 'https://hooks.example.com/secret-path?token=secret-query',
      eventTypes: ['ANOMALY_DETECTED'],
      profile: 'SUMMARY',
    }),
    fields: 'endpointId secret',
    before: null,
    after: expect.objectContaining({
      origin: 'https://hooks.example.com',
      eventTypes: ['anomaly.detected'],
      profile: 'summary',
      enabled: true,
    }),
    secrets: ['secret'],
  },
  {
    name: 'updateEndpoint',
    action: 'endpoint.update',
    input: ({ endpointId, host }) => ({ endpointId, profile: 'SUMMARY', hostFilter: [host] }),
    fields: 'endpointId enabled profile',
    before: { profile: 'detailed', hostFilter: null },
    after: { profile: 'summary', hostFilter: [any] },
    isOwnThing: true,
  },
  {
    name: 'disableEndpoint',
    action: 'endpoint.disable',
    input: ({ endpointId }) => ({ endpointId }),
    fields: 'endpointId enabled',
    before: { enabled: true, disabledReason: null },
    after: { enabled: false, disabledReason: 'owner' },
    isOwnThing: true,
  },
  {
    name: 'enableEndpoint',
    action: 'endpoint.enable',
    first: ['disableEndpoint', ({ endpointId }) => ({ endpointId })],
    input: ({ endpointId }) => ({ endpointId }),
    fields: 'endpointId enabled',
    before: { enabled: false, disabledReason: 'owner' },
    after: { enabled: true, disabledReason: null },
    isOwnThing: true,
  },
  {
    name: 'deleteEndpoint',
    action: 'endpoint.delete',
    input: ({ endpointId }) => ({ endpointId }),
    fields: 'endpointId',
    before: expect.objectContaining({ origin: 'https://hooks.example.com' }),
    after: null,
    isOwnThing: true,
  },
  {
    name: 'rotateEndpointSecret',
    action: 'endpoint.rotate_secret',
    input: ({ endpointId }) => ({ endpointId, overlapMs: 1_000 }),
    fields: 'endpointId secret',
    before: { secrets: [{ createdAt: any, expiresAt: null }] },
    after: {
      secrets: [
        { createdAt: any, expiresAt: any },
        { createdAt: any, expiresAt: null },
      ],
    },
    secrets: ['secret'],
    isOwnThing: true,
  },
  {
    name: 'pingEndpoint',
    action: 'endpoint.ping',
    input: ({ endpointId }) => ({ endpointId }),
    fields: 'eventId deliveryId',
    before: null,
    after: { eventId: expect.stringMatching(/^evt_ping_/), deliveryId: any },
    isOwnThing: true,
  },
  {
    name: 'redeliver',
    action: 'delivery.redeliver',
    input: ({ deliveryId }) => ({ deliveryId }),
    fields: 'deliveryId',
    before: null,
    after: { deliveryId: expect.stringMatching(/^dlv_/) },
    isOwnThing: true,
  },
  {
    name: 'replayEvents',
    action: 'endpoint.replay',
    input: ({ endpointId }) => ({ endpointId, from: 0, to: 1 }),
    fields: 'deliveries next',
    before: null,
    after: { deliveries: 0, next: null, range: { fromMs: 0, toMs: 1 } },
    isOwnThing: true,
  },
  {
    name: 'recoverDeliveries',
    action: 'endpoint.recover',
    input: ({ endpointId }) => ({ endpointId, since: 0 }),
    fields: 'deliveries isMore',
    before: null,
    after: { deliveries: 0, isMore: false, sinceMs: 0 },
    isOwnThing: true,
  },
  {
    name: 'pauseEndpoint',
    action: 'endpoint.pause',
    input: ({ endpointId }) => ({ endpointId, hours: 2 }),
    fields: 'endpointId pausedUntil deliveries',
    before: { pausedUntil: null },
    after: { pausedUntil: any },
    isOwnThing: true,
  },
  {
    name: 'resumeEndpoint',
    action: 'endpoint.resume',
    input: ({ endpointId }) => ({ endpointId }),
    fields: 'endpointId pausedUntil',
    before: expect.any(Object),
    after: expect.any(Object),
    isOwnThing: true,
  },
  {
    name: 'skipEndpointWait',
    action: 'endpoint.skip',
    input: ({ endpointId }) => ({ endpointId }),
    fields: 'endpointId deliveries',
    before: {},
    after: {},
    isOwnThing: true,
  },
  {
    name: 'createAnomalyRule',
    action: 'rule.create',
    input: () => ({ metric: 'MISSED_MICRO', range: 'LAST_24H', threshold: 5000 }),
    fields: 'ruleId',
    before: null,
    after: { metric: 'missed_micro', rangeKey: '24h', threshold: 5000, host: null, enabled: true },
  },
  {
    name: 'updateAnomalyRule',
    action: 'rule.update',
    input: ({ ruleId }) => ({ ruleId, threshold: 99, enabled: false }),
    fields: 'ruleId',
    before: { threshold: 10, enabled: true },
    after: { threshold: 99, enabled: false },
    isOwnThing: true,
  },
  {
    name: 'deleteAnomalyRule',
    action: 'rule.delete',
    input: ({ ruleId }) => ({ ruleId }),
    fields: 'ruleId',
    before: expect.objectContaining({ metric: 'denied' }),
    after: null,
    isOwnThing: true,
  },
  {
    name: 'setAlertAddress',
    action: 'alerts.set_address',
    input: () => ({ email: 'alerts@example.com' }),
    fields: 'email',
    before: { email: null },
    after: { email: 'alerts@example.com' },
  },
  {
    name: 'confirmAlertAddress',
    action: 'alerts.confirm_address',
    first: ['setAlertAddress', () => ({ email: 'alerts@example.com' })],
    input: async ({ tenantId }) => ({ code: await codeSentBy(tenantId) }),
    fields: 'email',
    before: { isConfirmed: false },
    after: { isConfirmed: true },
  },
  {
    name: 'revokeLicence',
    action: 'licence.revoke',
    input: ({ jti }) => ({ jti }),
    fields: 'jti',
    before: { revokedAt: null },
    after: { revokedAt: any },
    isOwnThing: true,
  },
  {
    name: 'denyToken',
    action: 'licence.deny_token',
    input: ({ jti }) => ({ jti: `${jti}.1` }),
    fields: 'jti',
    before: { denied: false },
    after: { denied: true },
  },
  {
    name: 'testPurchase',
    action: 'page.test',
    input: () => ({ slug: 'solo' }),
    fields: 'passed',
    before: null,
    after: { passed: false, failed: 'access' }, // test keys are off here
  },
];

const log = (tenantId: string) => listAuditEntries(stage.database, tenantId);
const titled = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;

test.each(CASES.map((one) => [one.name, one] as const))('%s works and writes one entry, without a secret', async (name, one) => {
  const world = await stage.world();
  if (one.first) await stage.mutate(world.ownerToken, one.first[0], one.first[1](world));
  const noted = (await log(world.tenantId)).length;
  const { result, errors } = await stage.mutate(world.ownerToken, name, await one.input(world), one.fields);
  expect(errors).toEqual([]);
  expect(result).toMatchObject({ __typename: `${titled(name)}Payload` });
  const entries = await log(world.tenantId);
  expect(entries).toHaveLength(noted + 1);
  expect(entries[0]).toMatchObject({ action: one.action, actor: { userId: `owner-of-${world.tenantId}`, via: 'token' } });
  expect({ before: entries[0]?.before, after: entries[0]?.after }).toEqual({ before: one.before, after: one.after });
  const text = JSON.stringify(entries);
  for (const secret of one.secrets ?? []) {
    expect(result[secret]).toMatch(/.{20}/);
    expect(text).not.toContain(result[secret]);
  }
  expect(text).not.toMatch(/secret-path|secret-query|svc_owner_|whsec_/);
});

test.each(CASES.map((one) => [one.name, one] as const))('%s is refused to keys and on sites of others', async (name, one) => {
  const world = await stage.world();
  const input = await one.input(world);
  const asKey = await stage.mutate(world.key, name, input, one.fields);
  expect(asKey).toMatchObject({ result: null, errors: [{ code: 'scope_missing' }] });
  const onTheirs = await stage.mutate(other.ownerToken, name, { ...input, tenantId: world.tenantId }, one.fields);
  expect(onTheirs.result).toMatchObject({ __typename: 'NotFound', code: 'not_found' });
  if (one.isOwnThing) {
    const ofTheirs = await stage.mutate(other.ownerToken, name, input, one.fields);
    expect(ofTheirs.result).toMatchObject({ __typename: 'NotFound', code: 'not_found' });
  }
  expect(await log(world.tenantId)).toEqual([]);
});

test('every mutation of the schema stands among these cases', async () => {
  const { schema } = await import('../../graphql/schema/schema.ts');
  const beside = [
    'createSite', // of no site that is there yet: own-sites.test.ts
    'setBudget',
    'decideApproval',
    'mintAgentKey',
    'revokeAgentKey',
    'setBudgetAlerts', // of an account: graphql-account.test.ts
  ];
  expect(Object.keys(schema.getMutationType()?.getFields() ?? {}).toSorted()).toEqual(
    [...CASES.map(({ name }) => name), ...beside].toSorted(),
  );
});

test('a suspended site is only read: each mutation is forbidden, and nothing is written', async () => {
  const world = await stage.world();
  await setTenantStatus(stage.deps, { tenantId: world.tenantId, status: 'suspended' });
  for (const one of CASES) {
    const { result, errors } = await stage.mutate(world.ownerToken, one.name, await one.input(world), one.fields);
    expect([one.name, result, errors[0]?.code]).toEqual([one.name, null, 'site_suspended']);
  }
  expect(await log(world.tenantId)).toEqual([]);
});

const BAD: readonly (readonly [string, (world: OwnedWorld) => object, string])[] = [
  ['mintKey', () => ({ name: '', scopes: ['TENANT_READ'] }), 'InvalidInput'],
  ['mintKey', () => ({ name: 'x', scopes: [] }), 'InvalidInput'],
  ['mintKey', () => ({ name: 'x', scopes: ['TENANT_READ'], expiresAt: 1 }), 'InvalidInput'],
  ['mintKey', () => ({ name: 'x', scopes: ['TENANT_READ'], test: true }), 'InvalidInput'],
  ['setLegalDetails', () => ({ legalName: '   ' }), 'InvalidInput'],
  ['setLegalDetails', () => ({ legalName: 'Meridian \u202eHbmG' }), 'InvalidInput'],
  ['setLegalDetails', () => ({ legalAddress: 'Street 1\u2028Total: 9' }), 'InvalidInput'],
  ['revokeKey', () => ({ keyId: "'; drop table api_key; --" }), 'NotFound'],
  ['revokeKey', () => ({ keyId: '00000000-0000-4000-8000-000000000000' }), 'NotFound'],
  ['setPrices', () => ({}), 'InvalidInput'],
  ['setPrices', () => ({ priceUsdc: '-1' }), 'InvalidInput'],
  ['setPrices', () => ({ priceUsdc: '1e3' }), 'InvalidInput'],
  ['setPrices', () => ({ priceUsdc: '0.0000001' }), 'InvalidInput'],
  ['setPrices', () => ({ priceUsdc: '999999999999' }), 'InvalidInput'],
  ['setPrices', () => ({ citationMultiplier: '0' }), 'InvalidInput'],
  ['setPrices', () => ({ creditsApiUrl: 'https://169.254.169.254/credits' }), 'InvalidInput'],
  ['setPrices', () => ({ creditsApiUrl: 'http://credits.example.com' }), 'InvalidInput'],
  ['setPrices', () => ({ priceUsdc: '0.0009' }), 'InvalidInput'],
  ['setPrices', () => ({ defaultPayee: { authorId: 'house', wallet: '0x1' } }), 'InvalidInput'],
  ['setCreditsToken', () => ({ token: 'two words' }), 'InvalidInput'],
  ['setCreditsToken', () => ({ token: 'without-an-api' }), 'InvalidInput'],
  ['setArticlePrefixes', () => ({ prefixes: ['articles'] }), 'InvalidInput'],
  ['setFreeSlugs', () => ({ slugs: ['a\u0000b'] }), 'InvalidInput'],
  ['setPriceRules', () => ({ rules: [{ id: 'r', path: 'news', effect: 'FREE' }] }), 'InvalidInput'],
  [
    'setCredits',
    () => ({
      pages: [
        { slug: 'a', credits },
        { slug: 'a', credits },
      ],
    }),
    'InvalidInput',
  ],
  ['setPageCredits', () => ({ slug: 'a', credits: { contributors: [] } }), 'InvalidInput'],
  ['setPageCredits', () => ({ slug: 'a', credits: { contributors: [{ authorId: 'x', wallet: '0x0' }] } }), 'InvalidInput'],
  ['setPageCredits', () => ({ slug: 'a', credits: { contributors: [{ authorId: 'x', wallet, weight: -1 }] } }), 'InvalidInput'],
  [
    'setPageCredits',
    () => ({ slug: 'a', credits: { contributors: [{ authorId: 'x', wallet, members: [{ authorId: 'y', wallet }] }] } }),
    'InvalidInput',
  ],
  [
    'setPageCredits',
    () => ({ slug: 'a', credits: { contributors: [{ authorId: 'x', wallet: stage.deps.networks.first.router }] } }),
    'InvalidInput',
  ],
  ['setNetworks', () => ({ networks: [] }), 'InvalidInput'],
  ['setNetworks', () => ({ networks: ['eip155:1'] }), 'InvalidInput'],
  ['removePageCredits', () => ({ slug: 'never' }), 'NotFound'],
  ['importPages', () => ({ pages: [] }), 'InvalidInput'],
  ['importPages', () => ({ pages: [{ slug: 'a', path: 'x' }] }), 'InvalidInput'],
  [
    'importPages',
    () => ({
      pages: [
        { slug: 'a', path: '/x' },
        { slug: 'b', path: '/x' },
      ],
    }),
    'Conflict',
  ],
  ['setLicenceOffering', () => ({ sellsTraining: true, periodFactors: [{ upToDays: -1, factor: '1' }] }), 'InvalidInput'],
  ['setDiscovery', () => ({ summary: ' ' }), 'InvalidInput'],
  ['setDiscovery', () => ({ summary: 'a', tags: ['x', 'x'] }), 'InvalidInput'],
  ['setDiscovery', () => ({ summary: 'a', tags: ['t\u00e9'] }), 'InvalidInput'],
  ['setCrawlerPolicy', () => ({ allow: ['bot'], charge: ['bot'], block: [] }), 'InvalidInput'],
  ['setCrawlerPolicy', () => ({ allow: [], charge: [], block: ['mozilla'] }), 'InvalidInput'],
  ['setCrawlerPolicy', () => ({ allow: ['a\r\nb'], charge: [], block: [] }), 'InvalidInput'],
  ['setGateScope', () => ({ mode: 'SITE', excludePrefixes: ['assets'] }), 'InvalidInput'],
  ['openHost', () => ({ host: 'localhost' }), 'InvalidInput'],
  ['openHost', () => ({ host: 'co.uk' }), 'InvalidInput'],
  ['openHost', ({ host }) => ({ host }), 'Conflict'],
  ['openHost', () => ({ host: other.host }), 'Conflict'],
  ['checkHost', () => ({ host: '127.0.0.1' }), 'InvalidInput'],
  ['removeHost', () => ({ host: 'never.example.com' }), 'NotFound'],
  ['inviteMember', () => ({ authorId: 'x', email: 'no address' }), 'InvalidInput'],
  ['inviteMember', () => ({ authorId: 'x', email: 'ann@example.com' }), 'Conflict'],
  ['revokeInvitation', () => ({ authorId: 'nobody' }), 'NotFound'],
  ['createEndpoint', () => ({ url: 'https://10.0.0.1/hook' }), 'InvalidInput'],
  ['createEndpoint', () => ({ url: 'https://hooks.example.com/x', channel: 'SLACK' }), 'InvalidInput'],
  ['createEndpoint', () => ({ url: 'https://hooks.example.com/x', eventTypes: [] }), 'InvalidInput'],
  ['updateEndpoint', ({ endpointId }) => ({ endpointId, description: 'a\u0000b' }), 'InvalidInput'],
  ['updateEndpoint', ({ endpointId }) => ({ endpointId, hostFilter: [] }), 'InvalidInput'],
  ['rotateEndpointSecret', ({ endpointId }) => ({ endpointId, overlapMs: -1 }), 'InvalidInput'],
  ['replayEvents', ({ endpointId }) => ({ endpointId, from: 2, to: 1 }), 'InvalidInput'],
  ['replayEvents', ({ endpointId }) => ({ endpointId, from: 0, to: 1, after: 'elsewhere' }), 'InvalidInput'],
  ['redeliver', () => ({ deliveryId: 'dlv_never' }), 'NotFound'],
  ['createAnomalyRule', () => ({ metric: 'PAYMENT_FAILURE_RATE', range: 'LAST_1H', threshold: 2 }), 'InvalidInput'],
  ['createAnomalyRule', () => ({ metric: 'DENIED', range: 'LAST_1H', threshold: 0 }), 'InvalidInput'],
  ['setAlertAddress', () => ({ email: 'a@b.c, d@e.f' }), 'InvalidInput'],
  ['confirmAlertAddress', () => ({ code: 'guess' }), 'NotFound'],
  ['denyToken', () => ({ jti: 'a b' }), 'InvalidInput'],
];

test('bad input is a typed result with a code and a sentence, and changes and logs nothing', async () => {
  const world = await stage.world();
  for (const [name, input, typename] of BAD) {
    const { result, errors } = await stage.mutate(world.ownerToken, name, input(world));
    expect([name, result?.__typename, errors], JSON.stringify(input(world))).toEqual([name, typename, []]);
    expect(result.message).not.toMatch(/select|insert|syntax|undefined/i);
  }
  expect(await log(world.tenantId)).toEqual([]);
});

test('mintKey gives no key domain.manage', async () => {
  const world = await stage.world();
  const { errors } = await stage.mutate(
    world.ownerToken,
    'mintKey',
    { name: 'x', scopes: ['TENANT_READ', 'DOMAIN_MANAGE'] },
    'keyId',
  );
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringContaining('"DOMAIN_MANAGE" does not exist in "MintableScope"'),
  ]);
  expect(await log(world.tenantId)).toEqual([]);
});

test('a key minted 20 times over is a conflict, also when many mint at once, and each success stands in the log', async () => {
  const world = await stage.world();
  const mint = () => stage.mutate(world.ownerToken, 'mintKey', { name: 'many', scopes: ['TENANT_READ'] }, 'keyId');
  const results = await Promise.all(Array.from({ length: 25 }, mint));
  const kinds = results.map(({ result }) => result.__typename as string);
  expect(kinds.filter((kind) => kind === 'MintKeyPayload')).toHaveLength(18); // two were there
  expect(kinds.filter((kind) => kind === 'Conflict')).toHaveLength(7);
  expect(await log(world.tenantId)).toHaveLength(18);
});

test('a price that is set is in the next snapshot, and the same price again changes nothing but the version', async () => {
  const world = await stage.world();
  const set = () => stage.mutate(world.ownerToken, 'setPrices', { priceUsdc: '0.5' }, 'version');
  const first = (await set()).result.version;
  expect((await stage.deps.snapshots.tenant(world.tenantId, first))?.pricings[0]?.pricing.readMicro).toBe(500_000n);
  expect((await set()).result.version).toBe(first + 1);
  expect((await log(world.tenantId))[0]).toMatchObject({ before: {}, after: {} });
});

test('credits of all pages that leave pages out say how many lost theirs, those of one page none, and those taken away one', async () => {
  const world = await stage.world();
  const change = async (name: string, input: object) => {
    const { result } = await stage.mutate(world.ownerToken, name, input, 'lostCredits');
    return result.lostCredits as number;
  };
  const page = (slug: string) => ({ slug, credits });
  await change('setCredits', { pages: ['a', 'b', 'c'].map(page) });
  expect([
    await change('setPageCredits', page('d')),
    await change('setCredits', { pages: [page('a'), page('e')] }),
    await change('removePageCredits', { slug: 'e' }),
    await change('setCredits', { pages: [] }),
  ]).toEqual([0, 3, 1, 1]);
});

test('a host that is removed is quoted no more, and may be proven by its next owner', async () => {
  const world = await stage.world();
  await stage.mutate(world.ownerToken, 'removeHost', { host: world.host.toUpperCase() });
  const rows = await stage.database.query<{ version: number }>('select version from tenant where tenant_id = $1', [
    world.tenantId,
  ]);
  expect((await stage.deps.snapshots.tenant(world.tenantId, rows[0]?.version ?? 0))?.hosts).toEqual([]);
  const opened = await stage.mutate(
    other.ownerToken,
    'openHost',
    { host: world.host, method: 'META_TAG' },
    'present { name value }',
  );
  expect(opened.result.present).toContainEqual({ name: 'type', value: 'TXT' });
});
