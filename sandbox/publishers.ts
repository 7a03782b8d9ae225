import { createHash } from 'node:crypto';
import { privateKeyToAddress } from 'viem/accounts';
import type { Plan, Scope, TenantStatus } from '../modules/kernel/access/key.ts';
import { MINTABLE_SCOPES, SCOPES } from '../modules/kernel/access/key.ts';
import type { Address } from '../modules/kernel/money/legs.ts';
import type { PricingInput } from '../modules/tenants/use/tenants.ts';

/** A site the sandbox comes with. */
export interface SeededPublisher {
  readonly name: 'alpha' | 'beta' | 'gamma' | 'delta';
  readonly tenantId: string;
  readonly host: string;
  readonly plan: Plan;
  readonly status: TenantStatus;
  readonly pricing: PricingInput;
  /** Keys by the name they have in `sandbox.json`, with their scopes. */
  readonly keys: Readonly<Record<string, readonly Scope[]>>;
}

/** Wallets of the authors, the same on every machine. Their keys are public, on a chain without value. */
export const AUTHORS = { ann: walletOf('ann'), bob: walletOf('bob'), cyd: walletOf('cyd'), dan: walletOf('dan') } as const;

const { ann, bob, cyd, dan } = AUTHORS;
const SOLO = { title: 'By one author', contributors: [{ authorId: 'ann', wallet: ann }] };

const ALPHA_PRICING: PricingInput = {
  priceUsdc: '0.001',
  citationMultiplier: '5',
  articlePrefixes: ['/articles/'],
  creditsFreeSlugs: ['free'],
  creditsInline: {
    solo: SOLO,
    trio: {
      title: 'By three authors',
      contributors: [
        { authorId: 'ann', wallet: ann, weight: 5 },
        { authorId: 'bob', wallet: bob, weight: 3 },
        { authorId: 'cyd', wallet: cyd, weight: 2 },
      ],
    },
    duo: {
      title: 'By a desk of two, and one more',
      contributors: [
        {
          authorId: 'desk',
          members: [
            { authorId: 'bob', wallet: bob },
            { authorId: 'cyd', wallet: cyd },
          ],
        },
        { authorId: 'dan', wallet: dan },
      ],
    },
    free: { title: 'For everybody', contributors: [{ authorId: 'ann', wallet: ann }] },
  },
};
const SMALL_PRICING: PricingInput = { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: { solo: SOLO } };

/** The name of a key that buys without money. */
export const TEST_KEY = 'test';
const EVERY_KEY = {
  all: SCOPES,
  ...Object.fromEntries(SCOPES.map((scope) => [scope, [scope]])),
  [TEST_KEY]: MINTABLE_SCOPES,
};
const ONE_KEY = { all: SCOPES };

/** The four sites: everything, a neighbour, one below the plan gate, one suspended. */
export const PUBLISHERS: readonly SeededPublisher[] = [
  site('alpha', 1, { plan: 'studio', pricing: ALPHA_PRICING, keys: EVERY_KEY }),
  site('beta', 2, { plan: 'studio' }),
  site('gamma', 3, { plan: 'free' }),
  site('delta', 4, { plan: 'studio', status: 'suspended' }),
];

function site(
  name: SeededPublisher['name'],
  number: number,
  { plan, status = 'active', pricing = SMALL_PRICING, keys = ONE_KEY }: Pick<SeededPublisher, 'plan'> & Partial<SeededPublisher>,
): SeededPublisher {
  return { name, tenantId: `00000000-0000-4000-8000-00000000000${number}`, host: `${name}.example`, plan, status, pricing, keys };
}

function walletOf(author: string): Address {
  const key = createHash('sha256').update(`content-settlement sandbox author ${author}`).digest('hex');
  return privateKeyToAddress(`0x${key}`).toLowerCase() as Address;
}
