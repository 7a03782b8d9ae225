import type { Mutant } from './mutant.ts';

const ownSites = 'test/integration/own-sites.test.ts';
const purchase = 'test/integration/test-purchase.test.ts';

/** Bugs around sites that owners add, and purchases that are played. */
export const SITE_MUTANTS: readonly Mutant[] = [
  {
    id: 'test-purchase-is-live',
    rule: 5,
    bug: 'a test purchase goes the way of money',
    edits: [{ file: 'modules/storefront/use/testPurchase.ts', search: "mode: 'mock', scopes", replace: "mode: 'live', scopes" }],
    test: { file: purchase, name: 'a page whose site offers it at its price is sold in test mode' },
  },
  {
    id: 'entities-of-every-site',
    rule: 25,
    bug: 'what an operator looks at of one site is read of all of them',
    edits: [
      {
        file: 'db/orm.ts',
        search: 'cond: ({ tenantId }) => ({ tenantId })',
        replace: 'cond: ({ tenantId }) => (tenantId ? {} : {})',
      },
    ],
    test: { file: 'test/integration/entities.test.ts', name: 'reads rows of the site it is bound to' },
  },
  {
    id: 'namesakes-share-sites',
    rule: 25,
    bug: 'what is added with a token belongs to whoever has this name at any site',
    edits: [
      {
        file: 'modules/tenants/store/owners.ts',
        search: "added.owner_issuer = 'site:' || token.tenant_id",
        replace: 'added.owner_issuer is not null',
      },
    ],
    test: { file: ownSites, name: "what is added with a site's token is that user's of that site" },
  },
  {
    id: 'sites-counted-side-by-side',
    rule: 10,
    bug: 'calls at one time count the same sites, and each adds one',
    edits: [
      {
        file: 'modules/tenants/store/owners.ts',
        search: "await sql.query(`select pg_advisory_xact_lock(hashtextextended('site.create', 0))`);",
        replace: '',
      },
    ],
    test: { file: ownSites, name: 'an owner has as many sites as he may, closed ones counted, however many calls come at once' },
  },
  {
    id: 'suspended-owner-adds-sites',
    rule: 24,
    bug: 'whoever was suspended goes on at a site that he adds',
    edits: [
      {
        file: 'modules/operations/use/createOwnSite.ts',
        search:
          "if (count.suspended > 0) throw new ServiceError('site_suspended', 'a site of yours is suspended: ask the operator first');",
        replace: '',
      },
    ],
    test: { file: ownSites, name: 'all owners together add as many sites a day as the operator allows' },
  },
  {
    id: 'purchases-played-without-end',
    rule: 10,
    bug: 'test purchases make us ask a server as often as an owner likes',
    edits: [
      {
        file: 'modules/storefront/use/testPurchase.ts',
        search: 'if (!(await admitLook(deps.database, counted, deps.hosts.caps.perHour))) {',
        replace: 'if (counted.tenantId === null) {',
      },
    ],
    test: { file: purchase, name: 'a site plays as many purchases an hour as it may have hosts checked' },
  },
];
