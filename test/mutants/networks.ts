import type { Mutant } from './mutant.ts';

const several = 'test/e2e/networks.test.ts';
const api = 'test/integration/api-networks.test.ts';
const left = 'once the owner leaves a network, what was taken there keeps its answer, and new payments there are refused';
const guarded =
  'while a payment on one network is undecided, the same buyer’s for the same page on another waits, and never moves';

/** Bugs of a site that sells on several networks at once. */
export const NETWORK_MUTANTS: readonly Mutant[] = [
  {
    id: 'gas-of-every-coin-alike',
    rule: 19,
    bug: 'gas of a network whose coin is worth little counts as if it were ether',
    edits: [{ file: 'platform/chain/gas/fees.ts', search: '(costWei * price + unit - 1n) / unit', replace: 'costWei' }],
    test: {
      file: 'test/unit/fees.test.ts',
      name: 'gas of every network counts in the coin of the first, by what a coin of each is worth, and never as nothing',
    },
  },
  {
    id: 'network-not-offered-is-taken',
    rule: 17,
    bug: 'a payment on a network that its quote did not offer is taken',
    edits: [
      {
        file: 'modules/quotes/use/resolveTerms.ts',
        search: 'offered.find(({ network }) => network === named.id)',
        replace:
          '(offered.find(({ network }) => network === named.id) ?? { ...named, network: named.id, payTo: payment.authorization.to })',
      },
    ],
    test: { file: api, name: 'a network that the quote did not offer is refused, though it is configured and was chosen since' },
  },
  {
    id: 'recipient-of-the-first-network',
    rule: 18,
    bug: 'a payment must go to the recipient on the first network, whichever it names',
    edits: [
      {
        file: 'modules/quotes/use/resolveTerms.ts',
        search: 'const found = named === null ? offered[0] : offered.find(({ network }) => network === named.id);',
        replace: 'const found = offered[0];',
      },
    ],
    test: { file: api, name: 'the network that the payment names is the one whose recipient, token and router it must meet' },
  },
  {
    id: 'left-network-is-taken',
    rule: 17,
    bug: 'a quote made before is good for a network that its site left',
    edits: [
      {
        file: 'modules/quotes/use/resolveTerms.ts',
        search: '(named !== null && !takesNetwork({ networks }, tenant, named.id))',
        replace: 'takesNetwork === undefined',
      },
    ],
    test: { file: several, name: left },
  },
  {
    id: 'left-network-sells-licences',
    rule: 16,
    bug: 'a licence is sold on a network that its site left',
    edits: [
      {
        file: 'modules/storefront/use/licences/buy.ts',
        search: 'isOffered && takesNetwork(deps, tenant, named.id) ? named',
        replace: 'isOffered || takesNetwork(deps, tenant, named.id) || named ? named',
      },
    ],
    test: { file: several, name: left },
  },
  {
    id: 'left-network-forgets-its-payments',
    rule: 12,
    bug: 'a payment that was settled is refused when it is shown again, since its site left the network',
    edits: [
      {
        file: 'modules/settlement/use/accept/verify.ts',
        search: 'tenant, taken }',
        replace: 'tenant, ...(taken === null && { taken }) }',
      },
    ],
    test: { file: several, name: left },
  },
  {
    id: 'guard-of-one-network',
    rule: 14,
    bug: 'a payment on another network does not wait for the undecided one of the same buyer and page',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: 'join payment_intake as i using (tenant_id, kind, mode, purpose)',
        replace: 'join payment_intake as i using (tenant_id, kind, mode, purpose, network)',
      },
    ],
    test: { file: several, name: guarded },
  },
  {
    id: 'receipt-names-another-network',
    rule: 14,
    bug: 'a receipt names the network that was paid for nothing beside a transaction of another',
    edits: [
      {
        file: 'modules/settlement/use/answer/answer.ts',
        search: 'presentedBy(deps, paid)',
        replace: 'presentedBy(deps, holder)',
      },
    ],
    test: { file: several, name: guarded },
  },
];
