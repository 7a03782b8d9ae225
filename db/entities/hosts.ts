import { defineEntity, p } from '@mikro-orm/postgresql';
import type { Capability, ChallengeMethod, CodeArtifact } from '../../modules/hosts/rules/challenge.ts';
import type { ProbeSight } from '../../modules/hosts/rules/enforcementStatus.ts';

export const HostCaution = defineEntity({
  name: 'HostCaution',
  tableName: 'host_caution',
  properties: {
    host: p.text().primary(),
    checks: p.integer().default(0),
    lapsedTenantId: p.uuid().nullable(),
    lapsedAt: p.datetime(3).nullable(),
  },
});

export const HostChallenge = defineEntity({
  name: 'HostChallenge',
  tableName: 'host_challenge',
  properties: {
    tenantId: p.uuid().primary(),
    host: p.text().primary(),
    state: p.text().$type<'open' | 'verified'>().defaultRaw("'open'::text"),
    method: p.text().$type<ChallengeMethod>(),
    token: p.text(),
    tokenIssuedAt: p.datetime(3),
    capability: p.text().$type<Capability>().defaultRaw("'unknown'::text"),
    codeArtifact: p.text().$type<CodeArtifact>().nullable(),
    lookedAt: p.datetime(3).nullable(),
    scheduledChecks: p.integer().default(0),
    nextCheckAt: p.datetime(3).nullable(),
    manualCheckAt: p.datetime(3).nullable(),
    checkedAt: p.datetime(3).nullable(),
    lastReason: p.text().nullable(),
    failingSince: p.datetime(3).nullable(),
    confirmations: p.smallint().default(0),
    openedAt: p.datetime(3),
  },
});

export const HostCheckBucket = defineEntity({
  name: 'HostCheckBucket',
  tableName: 'host_check_bucket',
  properties: {
    account: p.text().primary(),
    kind: p.text().$type<'check' | 'look'>().primary(),
    tokens: p.float().columnType('double precision'),
    filledAt: p.datetime(3),
  },
});

export const HostClaim = defineEntity({
  name: 'HostClaim',
  tableName: 'host_claim',
  properties: {
    host: p.text().primary(),
    tenantId: p.uuid(),
  },
});

export const TenantHost = defineEntity({
  name: 'TenantHost',
  tableName: 'tenant_host',
  properties: {
    tenantId: p.uuid().primary(),
    host: p.text().primary(),
    position: p.integer().default(0),
    verifiedAt: p.datetime(3).nullable(),
    routingVerifiedAt: p.datetime(3).nullable(),
    probedAt: p.datetime(3).nullable(),
    probedCname: p.text().$type<ProbeSight>().nullable(),
    probedLive: p.text().$type<ProbeSight>().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});
