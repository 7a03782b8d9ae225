import type { Mutant } from './mutant.ts';

const drill = { file: 'test/fault/drill.test.ts', name: 'restored to a moment between broadcast and settlement' };
const scripts = 'test/integration/backup.test.ts';

/** Bugs around backups, and a ledger that was restored behind its chain. */
export const RESTORE_MUTANTS: readonly Mutant[] = [
  {
    id: 'segment-written-over',
    rule: 22,
    bug: 'a second server of the same archive writes over the WAL of the first',
    edits: [{ file: 'deploy/postgres/archive.sh', search: 'if [ -e "$kept" ]; then', replace: 'rm -f "$kept"; if false; then' }],
    test: { file: scripts, name: 'takes a segment once, the same again without a word' },
  },
  {
    id: 'torn-segment-ends-the-archive',
    rule: 22,
    bug: 'a segment that cannot be read is taken for the end of the archive: the restore ends early and says nothing',
    edits: [{ file: 'deploy/postgres/fetch.sh', search: 'exit 126', replace: 'exit 1' }],
    test: { file: scripts, name: 'ends the reading where a segment is missing' },
  },
  {
    id: 'lost-settlement-refused',
    rule: 2,
    bug: 'a buyer whose payment a restore lost is told to pay once more',
    edits: [
      {
        file: 'services/settlement/settle.ts',
        search: '    if (!own) throw await no(deps, request, network, { ...USED, sentence });',
        replace: '    if (!own || own) throw await no(deps, request, network, { ...USED, sentence });',
      },
    ],
    test: drill,
  },
  {
    id: 'lost-nonces-adopted-unseen',
    rule: 2,
    bug: 'the nonces of lost transactions are adopted without looking what stood at them: nobody knows what was settled',
    edits: [{ file: 'db/lostSettlements.ts', search: 'where "to" > "from" order by', replace: 'where "to" < "from" order by' }],
    test: drill,
  },
];
