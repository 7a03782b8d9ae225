import { expect, test } from 'vitest';
import { generateToken, isWellFormedToken, publisherPrefix } from '../../modules/identity/use/keys/keys.ts';
import type { KeyState } from '../../modules/kernel/access/key.ts';
import { hasApiAccess, PLANS, requireAccess } from '../../modules/kernel/access/key.ts';

const KEY: KeyState = {
  tenantId: 't',
  keyId: 'k',
  mode: 'live',
  scopes: ['tenant.read'],
  expiresAtMs: null,
  revokedAtMs: null,
  plan: 'studio',
  status: 'active',
  version: 1,
};

function codeOf(changes: Partial<KeyState> | null): string {
  try {
    requireAccess(changes && { ...KEY, ...changes }, 'tenant.read', 1_000);
    return 'let in';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test('the first thing that is wrong decides: key, plan, suspension, scope', () => {
  const everything = { plan: 'free', status: 'suspended', scopes: [] } as const;
  expect(codeOf(null)).toBe('unknown_credential');
  expect(codeOf({ ...everything, revokedAtMs: 1 })).toBe('unknown_credential');
  expect(codeOf({ ...everything, expiresAtMs: 1_000 })).toBe('unknown_credential');
  expect(codeOf({ ...everything, status: 'closed' })).toBe('unknown_credential');
  expect(codeOf(everything)).toBe('plan_gate');
  expect(codeOf({ ...everything, plan: 'scale' })).toBe('site_suspended');
  expect(codeOf({ scopes: ['audit.read'] })).toBe('scope_missing');
  expect(codeOf({ expiresAtMs: 1_001, status: 'pending' })).toBe('let in');
});

test('API access begins at Studio', () => {
  expect(PLANS.map(hasApiAccess)).toEqual([false, false, true, true, true]);
  expect(hasApiAccess(null)).toBe(false);
});

test('a fresh key has 32 random bytes and a checksum that any one changed character breaks', () => {
  const token = generateToken('svc_live_');
  expect(token).toMatch(/^svc_live_[0-9A-Za-z]{49}$/);
  expect(generateToken('svc_live_')).not.toBe(token);
  expect(isWellFormedToken(token, 'svc_live_')).toBe(true);
  for (let place = 9; place < token.length; place++) {
    const changed = `${token.slice(0, place)}${token[place] === 'x' ? 'y' : 'x'}${token.slice(place + 1)}`;
    expect(isWellFormedToken(changed, 'svc_live_')).toBe(false);
  }
  expect(publisherPrefix(generateToken('svc_test_'), false)).toBeNull();
  expect(publisherPrefix(generateToken('svc_test_'), true)).toBe('svc_test_');
  expect(publisherPrefix(generateToken('svc_buyer_'), true)).toBeNull();
});
