import { expect, test } from 'vitest';
import type { EnforcementSettings } from '../../modules/gate/rules/enforcement.ts';
import { DEFAULT_ENFORCEMENT, normaliseEnforcement } from '../../modules/gate/rules/enforcement.ts';
import type { HostFacts } from '../../modules/hosts/rules/enforcementStatus.ts';
import { judgeHost } from '../../modules/hosts/rules/enforcementStatus.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 21);
const SILENT: HostFacts = {
  host: 'a.example',
  addedAtMs: NOW - 200 * HOUR,
  verifiedAtMs: NOW - 100 * HOUR,
  lapsedAtMs: null,
  hasChallenge: false,
  routingVerifiedAtMs: null,
  quotedAtMs: null,
  verifyCalledAtMs: null,
  observedAtMs: null,
  keyRejectedAtMs: null,
  rejectedAnywhereAtMs: null,
  planGatedAtMs: null,
  failedOpenAtMs: null,
  isPlanGated: false,
  keyUsedAtMs: null,
  hasActiveKey: true,
  probe: null,
};
const judge = (changes: Partial<HostFacts>) => judgeHost({ ...SILENT, ...changes }, NOW);

test('a host is in the app while its gate was heard of within a day, to the millisecond, by quote or by verify', () => {
  expect(judge({ quotedAtMs: NOW - 24 * HOUR + 1 })).toMatchObject({ mode: 'in_app', nextAction: 'none', attention: false });
  expect(judge({ verifyCalledAtMs: NOW - 1 })).toMatchObject({
    mode: 'in_app',
    confidence: 'high',
    basedOn: ['inapp_verify', 'challenge'],
  });
  expect(judge({ quotedAtMs: NOW - 24 * HOUR })).toMatchObject({ mode: 'idle', nextAction: 'wait', attention: false });
});

test('silence asks for attention after 72 hours, and a host never heard of asks for the code', () => {
  expect(judge({ quotedAtMs: NOW - 72 * HOUR })).toMatchObject({ mode: 'idle', nextAction: 'reconnect_sdk', attention: true });
  expect(judge({})).toMatchObject({ mode: 'idle', nextAction: 'install_code', tracks: { in_app: 'missing' } });
  expect(judge({ observedAtMs: NOW })).toMatchObject({ mode: 'idle', basedOn: ['observe', 'challenge'], confidence: 'medium' });
});

test('fleet routing and a live app at once are a conflict, with the record to take away', () => {
  const fleet = { routingVerifiedAtMs: NOW - HOUR };
  expect(judge(fleet)).toMatchObject({ mode: 'fleet', nextAction: 'none', recordToFix: null, tracks: { fleet: 'ok' } });
  expect(judge({ ...fleet, quotedAtMs: NOW })).toMatchObject({
    mode: 'conflict',
    nextAction: 'remove_cname',
    attention: true,
    recordToFix: 'a.example',
  });
});

test('a later probe that sees another place ends the fleet, one that sees nothing does not', () => {
  const at = { routingVerifiedAtMs: NOW - 3 * HOUR };
  const elsewhere = judge({ ...at, probe: { atMs: NOW - HOUR, cname: 'elsewhere', live: 'elsewhere' } });
  expect(elsewhere).toMatchObject({ mode: 'idle', nextAction: 'fix_dns', recordToFix: 'a.example', lastCheckedAtMs: NOW - HOUR });
  expect(judge({ ...at, probe: { atMs: NOW - HOUR, cname: 'unknown', live: 'unknown' } }).mode).toBe('fleet');
  expect(judge({ ...at, probe: { atMs: NOW - HOUR, cname: 'fleet', live: 'fleet' } })).toMatchObject({
    mode: 'fleet',
    confidence: 'high',
  });
});

test('an unproven or lapsed host is unverified whatever is heard of it', () => {
  expect(judge({ verifiedAtMs: null, quotedAtMs: NOW })).toMatchObject({ mode: 'unverified', nextAction: 'verify_host' });
  expect(judge({ verifiedAtMs: null, lapsedAtMs: NOW - HOUR }).tracks.ownership).toBe('stale');
});

test('a key refused after the last sign of the app is to be rotated, one refused before it is not', () => {
  expect(judge({ quotedAtMs: NOW - 2 * HOUR, keyRejectedAtMs: NOW - HOUR })).toMatchObject({
    nextAction: 'rotate_key',
    tracks: { key: 'stale' },
  });
  expect(judge({ quotedAtMs: NOW - HOUR, keyRejectedAtMs: NOW - 2 * HOUR })).toMatchObject({
    nextAction: 'none',
    tracks: { key: 'ok' },
  });
  expect(judge({ keyRejectedAtMs: NOW })).toMatchObject({ nextAction: 'rotate_key' });
  expect(judge({ hasActiveKey: false }).tracks.key).toBe('missing');
});

const MINUTE = 60_000;
test.each([
  ['before the host was added', { keyRejectedAtMs: NOW - 201 * HOUR }, null],
  [
    'minutes after a sign of the app: a straggler beside a working gate',
    { quotedAtMs: NOW - 3 * MINUTE, keyRejectedAtMs: NOW },
    null,
  ],
  [
    'for want of a host, while a key of the site works elsewhere',
    { keyUsedAtMs: NOW - 3 * MINUTE, rejectedAnywhereAtMs: NOW },
    null,
  ],
  ['here, while a key of the site works elsewhere', { keyUsedAtMs: NOW, keyRejectedAtMs: NOW - 1 }, NOW - 1],
  ['for want of a host, while nothing works', { keyUsedAtMs: NOW - HOUR, rejectedAnywhereAtMs: NOW }, NOW],
  ['five minutes after the last sign', { quotedAtMs: NOW - 5 * MINUTE, keyRejectedAtMs: NOW }, NOW],
])('a key refused %s', (_when, facts, keyRejectedAtMs) => {
  const isRejected = keyRejectedAtMs !== null;
  const status = judge(facts);
  expect(status).toMatchObject({ keyRejectedAtMs, tracks: { key: isRejected ? 'stale' : 'ok' } });
  expect(status.nextAction === 'rotate_key').toBe(isRejected);
});

test('a key refused for the plan asks for the plan and not for another key, and for nothing once the plan allows it', () => {
  const gated = { planGatedAtMs: NOW - HOUR, quotedAtMs: NOW - 100 * HOUR };
  expect(judge({ ...gated, isPlanGated: true })).toMatchObject({
    keyRejectedAtMs: NOW - HOUR,
    nextAction: 'upgrade_plan',
    attention: true,
    tracks: { key: 'ok' },
  });
  expect(judge(gated).nextAction).toBe('reconnect_sdk');
});

const withPolicy = (policy: Partial<EnforcementSettings['crawlerPolicy']>): EnforcementSettings => ({
  ...DEFAULT_ENFORCEMENT,
  crawlerPolicy: { ...DEFAULT_ENFORCEMENT.crawlerPolicy, ...policy },
});

test('crawler fragments are trimmed and lower-cased', () => {
  const { crawlerPolicy } = normaliseEnforcement(withPolicy({ block: [' BadBot '], allow: ['goodbot'], charge: ['bot/'] }));
  expect(crawlerPolicy).toEqual({ allow: ['goodbot'], charge: ['bot/'], block: ['badbot'] });
});

test.each([
  ['a fragment of browsers', { block: ['mozilla'] }],
  ['a fragment with a line break', { block: ['bad\r\nbot'] }],
  ['a fragment of 65 characters', { charge: ['x'.repeat(65)] }],
  ['an empty fragment', { allow: [' '] }],
  ['201 fragments', { allow: Array.from({ length: 201 }, (_, n) => `bot-${n}`) }],
  ['a fragment in two lists', { allow: ['somebot'], block: ['SomeBot'] }],
])('%s is refused', (_name, policy) => {
  expect(() => normaliseEnforcement(withPolicy(policy))).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
});

test('the defaults are in the form that is stored', () => {
  expect(normaliseEnforcement(DEFAULT_ENFORCEMENT)).toEqual(DEFAULT_ENFORCEMENT);
});
