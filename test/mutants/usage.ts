import type { Mutant } from './mutant.ts';

const usage = 'test/integration/usage.test.ts';
const nobody = 'nobody reports for a licence of somebody else';
const write = 'modules/storefront/store/recordUsage.ts';

/** Bugs around what buyers report of their use. */
export const USAGE_MUTANTS: readonly Mutant[] = [
  {
    id: 'usage-of-anybodys-licence',
    rule: 25,
    bug: 'an account reports for a licence that another one holds',
    edits: [{ file: write, search: ".where('held.accountId', '=', of.accountId)", replace: '' }],
    test: { file: usage, name: nobody },
  },
  {
    id: 'usage-of-any-page',
    rule: 25,
    bug: 'a licence reports uses of pages that it does not cover',
    edits: [
      {
        file: 'modules/storefront/use/usage/report.ts',
        search: 'if (slug === null) throw',
        replace: 'if (slug === undefined) throw',
      },
    ],
    test: { file: usage, name: nobody },
  },
  {
    id: 'usage-under-a-denied-licence',
    rule: 24,
    bug: 'a licence that was revoked goes on reporting',
    edits: [
      {
        file: 'modules/storefront/use/usage/report.ts',
        search: 'if (!alive?.alive) return refuseToken();',
        replace: 'void alive;',
      },
    ],
    test: { file: usage, name: 'what was revoked' },
  },
  {
    id: 'usage-without-a-day',
    rule: 10,
    bug: 'a licence of one page writes rows without end',
    edits: [{ file: write, search: "if (place > most) return 'full';", replace: 'void most;' }],
    test: { file: usage, name: 'a page lets write fifty reports a day' },
  },
];
