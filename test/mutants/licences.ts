import type { Mutant } from './mutant.ts';

const owner = 'test/integration/licence-owner.test.ts';
const changedHands = 'after a host changed hands, nothing that its former owner sold opens';
const rests = 'a licence rests while its site does not have the host';

/** Bugs around licences: whose they are, what they cover, and what a path is. */
export const LICENCE_MUTANTS: readonly Mutant[] = [
  {
    id: 'licence-of-another-site',
    rule: 25,
    bug: 'a licence that another site sold for this host is taken for one of ours',
    edits: [
      {
        file: 'domain/licence.ts',
        search: 'if (site !== undefined && site !== question.tenantId) return null;',
        replace: 'void site;',
      },
    ],
    test: { file: owner, name: changedHands },
  },
  {
    id: 'unnamed-token-of-anybody',
    rule: 25,
    bug: 'a token made before tokens named their site is believed without a look at who sold it',
    edits: [{ file: 'services/licenceCheck.ts', search: 'granted.namesSite ? null : granted.issuedAtSeconds', replace: 'null' }],
    test: { file: owner, name: changedHands },
  },
  {
    id: 'access-without-owner',
    rule: 24,
    bug: 'access tokens are minted for a host that its seller does not have any more',
    edits: [
      {
        file: 'services/licences/access.ts',
        search: 'if (!licence?.isOpen || licence.revokedAt',
        replace: 'if (!licence || licence.revokedAt',
      },
    ],
    test: { file: owner, name: rests },
  },
  {
    id: 'access-of-a-suspended-site',
    rule: 24,
    bug: 'access tokens are minted for a site that is not active',
    edits: [{ file: 'db/licences/licences.ts', search: " and tenant.status = 'active') as is_open", replace: ') as is_open' }],
    test: { file: owner, name: 'a host whose proof lapsed, and a site that is not active' },
  },
  {
    id: 'removed-host-stays',
    rule: 24,
    bug: 'a host that is removed from a site stays in its list',
    edits: [
      {
        file: 'db/hostRemoval.ts',
        search: "'delete from tenant_host where tenant_id = $1 and host = $2'",
        replace: "'select 1 from tenant_host where tenant_id = $1 and host = $2'",
      },
    ],
    test: { file: owner, name: changedHands },
  },
  {
    id: 'slashes-as-sent',
    rule: 17,
    bug: 'a path with two slashes is another page, which costs nothing',
    edits: [{ file: 'domain/host.ts', search: "return text.replace(/\\/{2,}/g, '/');", replace: 'return text;' }],
    test: { file: 'test/unit/resource.test.ts', name: 'slugs, prefixes and patterns merge their slashes by the same rule' },
  },
];
