import { expect, test } from 'vitest';
import { siteOf } from '../../graphql/request/context.ts';
import type { Owner } from '../../modules/identity/use/owners/authenticate.ts';
import { ownerKey } from '../../modules/identity/use/owners/authenticate.ts';

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(8)) as [string, string, string];
const owner = (via: Owner['via'], userId: string, ...tenantIds: string[]): Owner => ({ via, userId, tenantIds });

test('what one owner uses up is not counted for one of the same name at another site or at the identity provider', () => {
  const owners = [owner('token', 'alice', A), owner('token', 'alice', B), owner('oidc', 'alice', C), owner('token', 'bob', A)];
  expect(new Set(owners.map(ownerKey)).size).toBe(owners.length);
  const ofSeveral = owners.map((one) =>
    siteOf({ key: null, account: null, owner: { ...one, tenantIds: [...one.tenantIds, C] } }),
  );
  expect(new Set(ofSeveral).size).toBe(owners.length);
});

test('whatever credential an owner shows, it counts for the same one, also when he has added a site', () => {
  expect(ownerKey(owner('token', 'alice', A, B))).toBe(ownerKey(owner('token', 'alice', A)));
  expect(ownerKey(owner('oidc', 'alice', B, A))).toBe(ownerKey(owner('oidc', 'alice')));
});
