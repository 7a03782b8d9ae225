import type { Mutant } from './mutant.ts';

const drill = { file: 'test/fault/drill.test.ts', name: 'restored to a moment between broadcast and settlement' };
const lost = 'test/integration/lost-settlements.test.ts';
const ownSite = 'a lost payment is honoured at the site that sold under its recipient before';
const former = 'test/fault/former-primary.test.ts';
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
    id: 'former-primary-is-believed',
    rule: 22,
    bug: 'a primary that was overtaken by its standby is written to again as soon as the new one is away',
    edits: [
      {
        file: 'db/primary.ts',
        search: 'if (newest && newest.timeline >= current.timeline) {',
        replace: 'if (newest) {',
      },
    ],
    test: { file: 'test/fault/failover.test.ts', name: 'a former primary that comes back is not written to' },
  },
  {
    id: 'former-connections-live-on',
    rule: 22,
    bug: 'open connections to a primary that was overtaken are handed out as before: payments are written where they are lost',
    edits: [
      {
        file: 'db/primary.ts',
        search: 'if (isMoved) for (const client of held) client.connection.stream.destroy();',
        replace: 'void isMoved;',
      },
    ],
    test: { file: former, name: 'a primary that hangs while its standby is promoted' },
  },
  {
    id: 'restarted-primary-is-believed',
    rule: 22,
    bug: 'after a lost connection the next one goes to the same server, which may have been started again beside its successor',
    edits: [{ file: 'db/primary.ts', search: 'await primary.settle();', replace: '' }],
    test: { file: former, name: 'a primary that hangs while its standby is promoted' },
  },
  {
    id: 'hanging-primary-is-waited-for',
    rule: 22,
    bug: 'the primary is looked for only when a connection is lost, which one that hangs never does',
    edits: [
      {
        file: 'db/primary.ts',
        search: 'setInterval(() => find().catch(() => undefined), WATCH_MS)',
        replace: 'setInterval(() => undefined, WATCH_MS)',
      },
    ],
    test: { file: former, name: 'a primary that hangs while its standby is promoted' },
  },
  {
    id: 'lower-timeline-is-taken',
    rule: 22,
    bug: 'a new connection is not asked for its timeline: an address that goes back to a former primary is written to',
    edits: [
      {
        file: 'db/primary.ts',
        search: 'if (Number.parseInt(written, 16) < primary.timeline) {',
        replace: 'if (Number.isNaN(primary.timeline)) {',
      },
    ],
    test: { file: former, name: 'an address that goes back to a former primary' },
  },
  {
    id: 'dead-nodes-end-the-start',
    rule: 22,
    bug: 'while no RPC node answers no process starts, so that a reboot then is an outage of all that needs no node',
    edits: [
      {
        file: 'process/networks.ts',
        search: 'if (!isChainUnavailable(outcome.reason)) throw',
        replace: 'throw',
      },
    ],
    test: { file: 'test/integration/chain-nodes.test.ts', name: 'with no network that answers all are closed' },
  },
  {
    id: 'lost-settlement-refused',
    rule: 2,
    bug: 'a buyer whose payment a restore lost is told to pay once more',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'if (!own && wasUsedBefore(look)) throw',
        replace: 'if (wasUsedBefore(look)) throw',
      },
    ],
    test: drill,
  },
  {
    id: 'lost-nonces-adopted-unseen',
    rule: 2,
    bug: 'the nonces of lost transactions are adopted without looking what stood at them: nobody knows what was settled',
    edits: [
      {
        file: 'modules/settlement/store/lostSettlements.ts',
        search: ".whereRef('pairs.to', '>', 'pairs.from')",
        replace: ".whereRef('pairs.to', '<', 'pairs.from')",
      },
    ],
    test: drill,
  },
  {
    id: 'lost-settlement-at-any-site',
    rule: 2,
    bug: 'whoever names the same wallet and price in his pricing takes the lost payments of another site',
    edits: [
      {
        file: 'modules/settlement/store/lostSettlements.ts',
        search: "(tenant_ids = '{}' or ",
        replace: '(true or ',
      },
    ],
    test: { file: lost, name: ownSite },
  },
  {
    id: 'lost-settlement-of-a-test-key',
    rule: 2,
    bug: 'a payment with a test key, which costs nothing, makes a site one of those that sold under a recipient',
    edits: [{ file: 'modules/settlement/store/lostSettlements.ts', search: "p.mode = 'live' and", replace: 'true and' }],
    test: { file: lost, name: ownSite },
  },
  {
    id: 'lost-settlement-of-a-late-site',
    rule: 2,
    bug: 'a payment made since the restore makes a site one of those that sold under a recipient',
    edits: [{ file: 'modules/settlement/store/lostSettlements.ts', search: 'and p.accepted_at < found.block_time', replace: '' }],
    test: { file: lost, name: ownSite },
  },
  {
    id: 'lost-settlement-for-any-account',
    rule: 2,
    bug: 'an account buys a licence with the lost payment of a stranger, whose call data is public',
    edits: [
      {
        file: 'modules/settlement/store/lostSettlements.ts',
        search: ".whereRef('account.wallet', '=', 'lost.payer')",
        replace: '',
      },
    ],
    test: { file: lost, name: 'a lost payment buys a licence for the account of the wallet that paid' },
  },
  {
    id: 'lost-settlement-for-ever',
    rule: 2,
    bug: 'the signature of a lost payment, which everybody can read, buys for ever',
    edits: [
      {
        file: 'modules/settlement/store/lostSettlements.ts',
        search: ".where('foundAt', '>', text<Date>`now() - ",
        replace: ".where('foundAt', '<', text<Date>`now() + ",
      },
    ],
    test: { file: lost, name: 'a day after a lost payment was found it is refused' },
  },
];
