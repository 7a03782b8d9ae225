import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseWallet } from '../../bin/admin/options.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { readCredits } from '../../modules/quotes/rules/creditsContract.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { payeeRule } from '../../modules/tenants/use/payees.ts';
import { createTenant, setPricing } from '../../modules/tenants/use/tenants.ts';
import { checksumAddress } from '../../platform/chain/offer.ts';
import { ALPHA_PRICING } from '../support/api.ts';
import { startTestGraphql } from '../support/graphql.ts';

/** Every door that takes a wallet reads it by one rule. */

const LOWER = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const RIGHT = checksumAddress(LOWER as Address);
const WRONG = RIGHT.replace('0x5aA', '0x5AA');
const SLUG = 'essay';
const creditsOf = (wallet: string) => ({ contributors: [{ authorId: 'desk', members: [{ authorId: 'ann', wallet }] }] });

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let tenantId: string;
let owner: string;
let buyer: string;
let host: string;
beforeAll(async () => {
  graph = await startTestGraphql();
  ({ tenantId, host } = await graph.api.site());
  owner = await graph.owner(tenantId);
  ({ token: buyer } = await createBuyerAccount(graph.api.deps));
});
afterAll(() => graph.stop());

/** The sentence a door refuses with; null: taken. */
async function caught(work: () => unknown): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

async function mutation(name: string, input: object): Promise<string | null> {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const query = `mutation ($input: ${title}Input!) { it: ${name}(input: $input) { __typename ... on Refusal { message } } }`;
  const { data, errors } = await graph.ask(owner, query, { input });
  expect(errors).toEqual([]);
  return data.it.message ?? null;
}

let sites = 0;
/** A door, whether it names authors, and what it says to a wallet. */
const DOORS: readonly (readonly [string, boolean, (wallet: string) => Promise<string | null>])[] = [
  ['setPageCredits', true, (wallet) => mutation('setPageCredits', { slug: SLUG, credits: creditsOf(wallet) })],
  ['setCredits', true, (wallet) => mutation('setCredits', { pages: [{ slug: SLUG, credits: creditsOf(wallet) }] })],
  ['importPages', true, (wallet) => mutation('importPages', { pages: [{ slug: SLUG, path: '/e', credits: creditsOf(wallet) }] })],
  ['setPrices', false, (wallet) => mutation('setPrices', { defaultPayee: { authorId: 'ann', wallet } })],
  [
    'admin tenant create --credits',
    true,
    (wallet) =>
      caught(() => {
        const pricing = { ...ALPHA_PRICING, creditsInline: { [SLUG]: creditsOf(wallet) } };
        return createTenant(graph.api.deps, { hosts: [`new-${sites++}.example`], pricing });
      }),
  ],
  [
    'admin tenant pricing',
    true,
    (wallet) => caught(() => setPricing(graph.api.deps, { tenantId, pricing: { creditsInline: { [SLUG]: creditsOf(wallet) } } })),
  ],
  [
    'admin licences import',
    true,
    (wallet) =>
      caught(() => importPages(graph.api.deps, { tenantId, pages: [{ slug: SLUG, path: '/e', credits: creditsOf(wallet) }] })),
  ],
  ['a credits API', true, (wallet) => caught(() => readCredits(creditsOf(wallet), { ...payeeRule(), page: SLUG }))],
  ['admin --wallet', false, (wallet) => caught(() => parseWallet(wallet))],
  [
    'POST /_svc/licenses',
    false,
    async (holder) => {
      const request = { host, scope: ['/articles/solo'], terms: ['search'], periodDays: 1, kind: 'read', holder };
      const { status, body } = await graph.api.post('/_svc/licenses', buyer, request);
      return status === 400 ? JSON.stringify(body) : null;
    },
  ],
];

test.each(DOORS)(
  'a wallet with a wrong checksum is refused by %s, with both spellings, and one case throughout is taken',
  async (_, namesAuthors, door) => {
    const refusal = await door(WRONG);
    expect(refusal).toContain(WRONG);
    expect(refusal).toContain(RIGHT);
    if (namesAuthors) expect(refusal).toContain(`author ann of page ${SLUG}`);
    for (const wallet of [LOWER, `0x${LOWER.slice(2).toUpperCase()}`, RIGHT]) expect(await door(wallet)).toBeNull();
  },
);
