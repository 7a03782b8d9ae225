import type { Mutant } from './mutant.ts';

const relay = 'test/integration/relay.test.ts';
const find = 'test/integration/find-pages.test.ts';
const held = 'test/integration/read-held.test.ts';

/** Bugs of pages that are found, asked for, handed on and read again. */
export const PAGE_MUTANTS: readonly Mutant[] = [
  {
    id: 'relayed-against-the-owner',
    rule: 24,
    bug: 'the text of a site is handed on whose owner does not want that',
    edits: [
      { file: 'modules/discovery/store/relay.ts', search: 'return row?.relays ?? false;', replace: 'return row !== undefined;' },
    ],
    test: { file: relay, name: 'a licence goes to the page it is for' },
  },
  {
    id: 'redirected-with-the-licence',
    rule: 25,
    bug: 'a redirect takes the licence, and our own request, wherever the site says',
    edits: [
      {
        file: 'modules/storefront/use/pages/fetch.ts',
        search: '!next || next.origin !== new URL(url).origin ||',
        replace: '!next ||',
      },
    ],
    test: { file: relay, name: 'redirects are followed three times within the host' },
  },
  {
    id: 'any-host-is-asked',
    rule: 25,
    bug: 'a page is asked for at whatever address somebody names',
    edits: [
      {
        file: 'modules/storefront/use/pages/fetch.ts',
        search: "if (!site) throw new ServiceError('not_found', 'this host sells nothing here');",
        replace: 'if (!site) return { site: { tenant: { tenantId: resource.host } } as never, resource };',
      },
    ],
    test: { file: relay, name: 'only a verified host of a live site is ever asked' },
  },
  {
    id: 'absent-page-is-sold',
    rule: 16,
    bug: 'money is asked for a page that is gone',
    edits: [
      {
        file: 'modules/storefront/use/pages/probe.ts',
        search: 'if (answer.ok && answer.offer && isOfferedHere(answer.offer, place.resource))',
        replace: 'if (answer.ok && answer.status >= 402)',
      },
    ],
    test: { file: relay, name: 'a page is asked for as an agent that has not paid' },
  },
  {
    id: 'any-402-is-sold',
    rule: 16,
    bug: 'money is asked for a page behind a wall of somebody else, which our licence does not open',
    edits: [
      {
        file: 'modules/storefront/use/pages/probe.ts',
        search: 'if (answer.ok && answer.offer && isOfferedHere(answer.offer, place.resource))',
        replace: 'if (answer.ok && answer.offer)',
      },
    ],
    test: { file: relay, name: 'a 402 that is not our offer for this very page' },
  },
  {
    id: 'offer-of-another-page-is-sold',
    rule: 16,
    bug: 'money is asked for a page whose address leads to another one, which its licence does not open',
    edits: [
      {
        file: 'modules/storefront/rules/offerSeen.ts',
        search: 'if (offered === null || resourceKeyOf(offered) !== resourceKeyOf(page)) return false;',
        replace: 'if (offered === null || resourceKeyOf(page) === resourceKeyOf(offered).repeat(2)) return false;',
      },
    ],
    test: { file: relay, name: 'a 402 that is not our offer for this very page' },
  },
  {
    id: 'offer-without-legs-is-sold',
    rule: 16,
    bug: 'the offer of another x402 service is taken for ours',
    edits: [
      {
        file: 'modules/storefront/rules/offerSeen.ts',
        search: 'return hasLegsHash(offer) || hasLegsHash(parsed(body));',
        replace: "return hasLegsHash(offer) || body !== '\\0';",
      },
    ],
    test: { file: relay, name: 'a 402 that is not our offer for this very page' },
  },
  {
    id: 'slow-site-holds-all-places',
    rule: 21,
    bug: 'one site that hangs takes every place for pages',
    edits: [{ file: 'modules/storefront/use/pages/fetch.ts', search: 'atOnce: 8, mostOfOne: 2', replace: 'atOnce: 8' }],
    test: { file: relay, name: 'a site that hangs holds two places' },
  },
  {
    id: 'suspended-site-is-searched',
    rule: 24,
    bug: 'pages of a site that does not sell, or has no host, stay in the search',
    edits: [
      {
        file: 'db/migrations/0016_search.sql',
        search: '    delete from searched_page where tenant_id = of_tenant;\n',
        replace: '    null;\n',
      },
    ],
    test: { file: find, name: 'a site that leaves the list, loses its last host' },
  },
  {
    id: 'held-by-anybody',
    rule: 24,
    bug: 'an account reads what another one bought',
    edits: [
      {
        file: 'modules/settlement/store/purchases.ts',
        search: 'where account_id = $2 and tenant_id = $1 and resource_key = $3 and at >= $6',
        replace: 'where $2::uuid is not null and tenant_id = $1 and resource_key = $3 and at >= $6',
      },
    ],
    test: { file: held, name: 'an account reads again what it bought' },
  },
];
