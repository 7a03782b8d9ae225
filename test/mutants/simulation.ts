import type { Mutant } from './mutant.ts';

const replay = { file: 'test/property/replay.test.ts', name: 'each request is one of four on both sides' };
const real = { file: 'test/integration/simulate-price-rules.test.ts', name: 'random rules over random windows' };

/** Bugs of what price rules are said to have brought: an owner sets prices by these figures. */
export const SIMULATION_MUTANTS: readonly Mutant[] = [
  {
    id: 'missed-is-earned',
    rule: 17,
    bug: 'who did not pay is said to pay the new price',
    edits: [
      {
        file: 'modules/pricing/rules/replay.ts',
        search: "was === 'paid' ? 'paid' : 'missed'",
        replace: "was === 'refused' ? 'missed' : 'paid'",
      },
    ],
    test: replay,
  },
  {
    id: 'one-price-for-many',
    rule: 17,
    bug: 'requests that are alike pay once together',
    edits: [{ file: 'modules/pricing/rules/replay.ts', search: 'BigInt(hits) * said.micro', replace: 'said.micro' }],
    test: replay,
  },
  {
    id: 'simulated-by-the-rules-of-another-time',
    rule: 17,
    bug: 'requests are asked by rules that were not in force when they came',
    edits: [
      { file: 'modules/reports/use/simulate.ts', search: 'atMs ?? moments[group.span - 1] ?? fromMs', replace: 'atMs ?? fromMs' },
    ],
    test: real,
  },
  {
    id: 'corrections-are-earned',
    rule: 23,
    bug: 'a payment that a reorganisation took back is said to have earned',
    edits: [
      {
        file: 'modules/reports/store/audit/askedGroups.ts',
        search: 'group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 having sum(o.count) > 0',
        replace: 'and o.count > 0 group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10',
      },
    ],
    test: real,
  },
];
