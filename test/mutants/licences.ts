import type { Mutant } from './mutant.ts';

const owner = 'test/integration/licence-owner.test.ts';
const changedHands = 'after a host changed hands, nothing that its former owner sold opens';
const rests = 'a licence rests while its site does not have the host';
const covering = 'test/integration/licence-covering.test.ts';
const fitting = 'of several offers a payment is for the one whose price and recipient it meets exactly';
const guardOfAccounts = 'test/integration/licence-guard.test.ts';
const guard = 'modules/settlement/rules/guard.ts';
const rules = 'test/unit/licence-rules.test.ts';
const repeated = 'what a held licence covers is answered under it and moves nothing';

const epoch = { file: 'test/integration/access-epoch.test.ts', name: 'the very next check of both processes knows' };

/** Bugs around licences: whose they are, what they cover, and what a path is. */
export const LICENCE_MUTANTS: readonly Mutant[] = [
  {
    id: 'licence-of-another-site',
    rule: 25,
    bug: 'a licence that another site sold for this host is taken for one of ours',
    edits: [
      {
        file: 'modules/kernel/licence/licence.ts',
        search: 'if (tenantId !== undefined && tenantId !== question.tenantId) return null;',
        replace: 'void tenantId;',
      },
    ],
    test: { file: owner, name: changedHands },
  },
  {
    id: 'unnamed-token-of-anybody',
    rule: 25,
    bug: 'a token made before tokens named their site is believed without a look at who sold it',
    edits: [
      {
        file: 'modules/licences/use/check.ts',
        search: '!granted.namesTenant && !(await',
        replace: '!granted.namesTenant && tenantId === host && !(await',
      },
    ],
    test: { file: owner, name: changedHands },
  },
  {
    id: 'access-without-owner',
    rule: 24,
    bug: 'access tokens are minted for a host that its seller does not have any more',
    edits: [
      {
        file: 'modules/storefront/use/licences/access.ts',
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
    edits: [{ file: 'modules/licences/store/licences.ts', search: " and tenant.status = 'active')`;", replace: ')`;' }],
    test: { file: owner, name: 'a host whose proof lapsed, and a site that is not active' },
  },
  {
    id: 'removed-host-stays',
    rule: 24,
    bug: 'a host that is removed from a site stays in its list',
    edits: [
      {
        file: 'modules/hosts/store/removal.ts',
        search: "tables.deleteFrom('tenant_host').where('tenantId', '=', tenantId).where('host', '=', host)",
        replace: "tables.selectFrom('tenant_host').select('host').where('tenantId', '=', tenantId).where('host', '=', host)",
      },
    ],
    test: { file: owner, name: changedHands },
  },
  {
    id: 'slashes-as-sent',
    rule: 17,
    bug: 'a path with two slashes is another page, which costs nothing',
    edits: [{ file: 'modules/kernel/hosts/host.ts', search: "return text.replace(/\\/{2,}/g, '/');", replace: 'return text;' }],
    test: { file: 'test/unit/resource.test.ts', name: 'slugs, prefixes and patterns merge their slashes by the same rule' },
  },
  {
    id: 'dots-behind-encoded-slashes',
    rule: 17,
    bug: 'dots that an encoded slash hid from the URL are not resolved: another page, which costs nothing',
    edits: [
      { file: 'modules/kernel/hosts/host.ts', search: "merged.includes('/.') ? resolveDots(merged) : merged", replace: 'merged' },
    ],
    test: { file: 'test/integration/page-spellings.test.ts', name: 'a gate on a server that takes repeated slashes for one' },
  },
  {
    id: 'hour-answers-for-a-year',
    rule: 14,
    bug: 'a held licence answers a purchase of a longer period',
    edits: [
      {
        file: 'modules/licences/store/licences.ts',
        search: ".whereRef('licence.periodUntil', '>=', 'offer.periodUntil')",
        replace: '',
      },
    ],
    test: { file: covering, name: 'an hour’s licence answers no purchase of a year' },
  },
  {
    id: 'licence-before-it-begins',
    rule: 14,
    bug: 'a held licence answers a purchase that begins earlier',
    edits: [
      {
        file: 'modules/licences/store/licences.ts',
        search: ".whereRef('licence.periodFrom', '<=', 'offer.periodFrom')",
        replace: '',
      },
    ],
    test: { file: covering, name: 'an hour’s licence answers no purchase of a year' },
  },
  {
    id: 'offer-of-another-price',
    rule: 16,
    bug: 'a payment is taken for an offer that costs more',
    edits: [
      {
        file: 'modules/licences/store/offers.ts',
        search: 'requestHash, priceMicro: request.priceMicro.toString() }',
        replace: 'requestHash }',
      },
    ],
    test: { file: covering, name: fitting },
  },
  {
    id: 'offer-of-another-recipient',
    rule: 16,
    bug: 'a payment is taken for an offer that goes to others',
    edits: [
      { file: 'modules/licences/store/offers.ts', search: 'newestFirst.find(fits)', replace: 'newestFirst.find(() => true)' },
    ],
    test: { file: covering, name: fitting },
  },
  {
    id: 'repeat-charged-again',
    rule: 14,
    bug: 'what a held licence covers is answered with the first receipt, as if it had been paid again',
    edits: [
      {
        file: guard,
        search: "{ state: 'superseded', successorId: coveredBy, repeatsLicence: true }",
        replace: "{ state: 'superseded', successorId: coveredBy, repeatsLicence: false }",
      },
    ],
    test: { file: rules, name: repeated },
  },
  {
    id: 'repeat-waits-for-other-price',
    rule: 14,
    bug: 'a purchase waits behind an undecided one of another price',
    edits: [
      {
        file: guard,
        search: 'sibling.amountMicro === purchase.amountMicro && isLeading(sibling)',
        replace: 'isLeading(sibling)',
      },
    ],
    test: { file: rules, name: repeated },
  },
  {
    id: 'repeat-waits-for-what-waits',
    rule: 14,
    bug: 'a purchase waits behind one that is over or is held itself',
    edits: [
      {
        file: guard,
        search: 'sibling.amountMicro === purchase.amountMicro && isLeading(sibling)',
        replace: 'sibling.amountMicro === purchase.amountMicro',
      },
    ],
    test: { file: rules, name: repeated },
  },
  {
    id: 'failure-told-too-early',
    rule: 3,
    bug: 'an account is told that a purchase failed while late evidence can still make a licence of it',
    edits: [
      {
        file: 'modules/licences/rules/purchaseNews.ts',
        search: 'if (watched) return',
        replace: "if (watched && state !== 'failed') return",
      },
    ],
    test: {
      file: 'test/integration/purchase-news.test.ts',
      name: 'a failure is told when no late evidence can make a licence of it',
    },
  },
  {
    id: 'purchase-left-after-one-look',
    rule: 20,
    bug: 'the workflow of a purchase ends while its payment is undecided',
    edits: [
      {
        file: 'workflows/purchaseLicence.ts',
        search: 'if (!isOpen) return state;',
        replace: 'if (!isOpen || state) return state;',
      },
    ],
    test: {
      file: 'test/fault/licence-crash.test.ts',
      name: 'a buyer who gave up waiting finds the licence, and one notice of it',
    },
  },
  {
    id: 'held-key-outlives-its-epoch',
    rule: 24,
    bug: 'a key in memory is let in whatever was revoked since',
    edits: [{ file: 'modules/identity/use/keys/authenticate.ts', search: 'if (epoch !== held.epoch) return null;', replace: '' }],
    test: epoch,
  },
  {
    id: 'held-key-outlives-its-end',
    rule: 24,
    bug: 'a key in memory is let in after its end, since nothing was written then',
    edits: [
      {
        file: 'modules/identity/use/keys/authenticate.ts',
        search: 'if (!held || findRefusal(held.state, scope, deps.clock())) return null;',
        replace: 'if (!held) return null;',
      },
    ],
    test: { file: 'test/integration/access-epoch.test.ts', name: 'a key in memory that ends by the clock' },
  },
  {
    id: 'held-licence-outlives-its-epoch',
    rule: 24,
    bug: 'a licence in memory entitles whatever was denied since',
    edits: [
      {
        file: 'modules/licences/use/check.ts',
        search: 'if (known && known.epoch === (await epochOf(database, question.tenantId, epoch))) return true;',
        replace: 'if (known) return true;',
      },
    ],
    test: epoch,
  },
  {
    id: 'deny-list-moves-no-epoch',
    rule: 24,
    bug: 'a licence is denied without moving the epoch of its site',
    edits: [
      {
        file: 'db/migrations/0005_licences.sql',
        search: 'after insert or update on denied_licence',
        replace: 'after update on denied_licence',
      },
    ],
    test: epoch,
  },
  {
    id: 'late-body-by-an-old-proof',
    rule: 24,
    bug: 'a caller that sends its body slowly is judged as of when it was let in',
    edits: [
      {
        file: 'modules/identity/use/keys/accessEpoch.ts',
        search: 'performance.now() - read.atMs <= READ_LIFE_MS',
        replace: 'true',
      },
    ],
    test: { file: 'test/integration/access-epoch.test.ts', name: 'a caller who sends its body late' },
  },
  {
    id: 'licence-guard-by-wallet',
    rule: 14,
    bug: 'two wallets of one account that pay for one licence at once are both charged',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: 'if (licences.length === 0) return [];',
        replace: 'if (licences.length >= 0) return [];',
      },
    ],
    test: { file: guardOfAccounts, name: 'the second wallet of an account waits' },
  },
  {
    id: 'licence-decided-beside-its-account',
    rule: 14,
    bug: 'a settlement locks the purchase of its wallet alone: whoever of its account comes meanwhile waits for what is over',
    edits: [{ file: 'modules/settlement/store/lock.ts', search: 'BUYER_SQL} as payer', replace: "'i.payer'} as payer" }],
    test: { file: guardOfAccounts, name: 'a wallet that comes while the other one’s payment is being settled' },
  },
  {
    id: 'held-of-another-wallet-forgotten',
    rule: 14,
    bug: 'what waits for another wallet of its account is not answered by its settlement, and goes out by the sweeper',
    edits: [
      {
        file: 'modules/settlement/store/held.ts',
        search: 'sales: licences, buyers: licences.map(buyerOf)',
        replace: 'sales: licences.slice(0, 0), buyers: []',
      },
    ],
    test: { file: guardOfAccounts, name: 'the second wallet of an account waits' },
  },
];
