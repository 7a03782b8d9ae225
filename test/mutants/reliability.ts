import type { Mutant } from './mutant.ts';

const facilitator = 'test/fault/facilitator.test.ts';
const late = 'test/fault/facilitator-late.test.ts';
const operator = 'test/fault/operator.test.ts';
const refusals = 'test/integration/refusals.test.ts';
const processes = 'test/fault/processes.test.ts';
const nodes = 'test/integration/chain-nodes.test.ts';

/** Bugs in what meets outages, restarts, receivers and a facilitator (faults 21 to 45). */
export const RELIABILITY_MUTANTS: readonly Mutant[] = [
  {
    id: 'frozen-node-is-asked',
    rule: 15,
    bug: 'a node that stands still is asked about the present while another one is ahead',
    edits: [
      {
        file: 'platform/chain/rpc/choice.ts',
        search: 'up.filter((node) => plausible.includes(node) && isNear(node) && !node.isStill).sort(byHead)',
        replace: 'up',
      },
    ],
    test: { file: nodes, name: 'a frozen URL never says that a funded buyer has no money' },
  },
  {
    id: 'standstill-is-the-present',
    rule: 15,
    bug: 'an only node whose head has not moved for long is believed about the present',
    edits: [{ file: 'platform/chain/rpc/choice.ts', search: 'isNear(node) && !node.isStill', replace: 'isNear(node)' }],
    test: { file: nodes, name: 'an only node whose head has stood still for long' },
  },
  {
    id: 'foreign-chain-is-asked',
    rule: 15,
    bug: 'a URL that comes back with another chain behind it is asked',
    edits: [{ file: 'platform/chain/rpc/node.ts', search: 'if (this.isForeign) return this.#pause();', replace: '' }],
    test: { file: nodes, name: 'a URL on another chain is refused at the start' },
  },
  {
    id: 'no-hedge',
    rule: 15,
    bug: 'a silent node is waited for until its time limit',
    edits: [
      { file: 'platform/chain/rpc/hedge.ts', search: 'timer = setTimeout(startNext, delayMs)', replace: 'timer = undefined' },
    ],
    test: { file: nodes, name: 'a first URL that hangs costs a call its hedge delay at most' },
  },
  {
    id: 'behind-since-the-last-look',
    rule: 10,
    bug: 'a node that fell behind after it was looked at refuses a buyer whose money came since',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'if (!first.some(isContested)) return first;',
        replace: 'if (first.length > 0) return first;',
      },
    ],
    test: { file: nodes, name: 'a node that fell far behind since the last look does not refuse a buyer who has money since' },
  },
  {
    id: 'clock-is-always-right',
    rule: 10,
    bug: 'an API whose clock would refuse every payment is ready',
    edits: [{ file: 'modules/kernel/clock.ts', search: 'if (database === null ||', replace: 'if (database !== null ||' }],
    test: { file: 'test/integration/api-process.test.ts', name: 'an API whose clock is ten minutes ahead is not ready' },
  },
  {
    id: 'locks-without-limit',
    rule: 24,
    bug: 'a migration that waits for a lock stops live writes until it gets it',
    edits: [{ file: 'db/migrate.ts', search: 'const LOCK_TIMEOUT_MS = 2_000;', replace: 'const LOCK_TIMEOUT_MS = 0;' }],
    test: { file: 'test/integration/upgrade.test.ts', name: 'a migration that waits for a lock lets live writes pass' },
  },
  {
    id: 'another-schema-is-taken',
    rule: 24,
    bug: 'a database that another text of a migration made is migrated on',
    edits: [
      {
        file: 'db/migrate.ts',
        search: 'digests.has(name) && digests.get(name) !== digest',
        replace: 'digests.get(name) === null',
      },
    ],
    test: { file: 'test/integration/upgrade.test.ts', name: 'a database that an earlier text of a migration made is refused' },
  },
  {
    id: 'intervals-for-ever',
    rule: 20,
    bug: 'a run goes on with the interval that it began with, while the schedule waits for it',
    edits: [{ file: 'platform/temporal/schedules.ts', search: 'if (isStale)', replace: 'if (!isStale)' }],
    test: { file: 'test/workflow/schedules.test.ts', name: 'a worker that starts with another interval' },
  },
  {
    id: 'pause-forgotten',
    rule: 20,
    bug: 'a worker that starts ends the pause of a schedule',
    edits: [{ file: 'platform/temporal/schedules.ts', search: 'state: before.state', replace: 'state: {}' }],
    test: { file: 'test/workflow/schedules.test.ts', name: 'a schedule that is paused stays so' },
  },
  {
    id: 'runs-wait-for-their-code',
    rule: 20,
    bug: 'a scheduled run that a new version cannot replay stays open, and nothing else begins',
    edits: [{ file: 'platform/temporal/schedules.ts', search: "[workflow, ['Error']]", replace: '[workflow, []]' }],
    test: { file: 'test/workflow/upgrade.test.ts', name: 'a scheduled run that the next version cannot replay' },
  },
  {
    id: 'failed-run-waits',
    rule: 20,
    bug: 'after a run that failed nobody looks until the schedule is due again',
    edits: [{ file: 'platform/temporal/schedules.ts', search: '...(follows && { retry: AGAIN }),', replace: '' }],
    test: { file: 'test/workflow/upgrade.test.ts', name: 'a scheduled run that the next version cannot replay' },
  },
  {
    id: 'due-while-one-works',
    rule: 20,
    bug: 'the sweeper pauses for a whole run where one took longer than its period',
    edits: [{ file: 'platform/temporal/schedules.ts', search: "sweepPayments: 'FOLLOWS'", replace: "sweepPayments: 'SKIPPED'" }],
    test: { file: 'test/workflow/schedules.test.ts', name: 'a run of the sweeper that is due while one works' },
  },
  {
    id: 'read-only-is-a-defect',
    rule: 15,
    bug: 'a Postgres that takes no writes is a defect of ours, and payments it cannot decide are called unwritable',
    edits: [{ file: 'db/outage.ts', search: '/^(08|57P|53|25006)/', replace: '/^(08|57P|53)/' }],
    test: {
      file: 'test/fault/read-only.test.ts',
      name: 'a Postgres that turns read-only under load is an outage, never a defect',
    },
  },
  {
    id: 'test-keys-are-counted',
    rule: 15,
    bug: 'what a test key fails to buy is an observation like any other',
    edits: [
      {
        file: 'modules/settlement/use/answer/refuse.ts',
        search: "if (mode === 'live' && isVouched) await",
        replace: 'if (mode && isVouched) await',
      },
    ],
    test: { file: refusals, name: 'a page whose legs are not the quote’s is refused to a live key with an observation' },
  },
  {
    id: 'refused-in-version-2',
    rule: 12,
    bug: 'a refused buyer of version 1 is told the network by its version 2 name',
    edits: [
      {
        file: 'modules/settlement/use/answer/refuse.ts',
        search: 'return (x402Version === 1 ? network.v1Name : null) ?? network.id;',
        replace: 'return x402Version ? network.id : network.id;',
      },
    ],
    test: { file: refusals, name: 'a page whose legs are not the quote’s is refused to a live key with an observation' },
  },
  {
    id: 'facilitator-is-believed',
    rule: 1,
    bug: 'a facilitator that says it settled, with any hash, settles the payment without a look at the chain',
    edits: [
      {
        file: 'modules/settlement/use/rails/facilitator/words.ts',
        search: '  if (id === null) return null;\n',
        replace:
          "  if (said === 'settled' && reference !== null) return movedWord(payment, reference);\n  if (id === null) return null;\n",
      },
    ],
    test: { file: facilitator, name: 'success with a hash that is absent, foreign, or of another payment settles nothing' },
  },
  {
    id: 'facilitator-refusals-add-up',
    rule: 3,
    bug: 'three refusals in a row fail a payment although an answer before them was lost',
    edits: [
      {
        file: 'modules/settlement/use/rails/facilitator/words.ts',
        search: 'refusals >= REFUSAL_LIMIT && (refusals === asks || id !== null)',
        replace: 'refusals >= REFUSAL_LIMIT && asks >= 0',
      },
    ],
    test: { file: facilitator, name: 'once an answer was lost, no number of refusals fails the payment' },
  },
  {
    id: 'facilitator-asked-all-the-time',
    rule: 7,
    bug: 'asking a facilitator does not put its next turn off: every look asks again',
    edits: [
      {
        file: 'modules/settlement/store/facilitator.ts',
        search: '        due_at = now() + make_interval(secs => $2::double precision / 1000)\n      where (s.batch_id',
        replace: '        due_at = now() + make_interval(secs => $2::double precision * 0)\n      where (s.batch_id',
      },
    ],
    test: { file: facilitator, name: 'whatever it says or does not say, a transfer on the chain settles the payment, once' },
  },
  {
    id: 'late-answer-overwrites',
    rule: 3,
    bug: 'an answer of /settle that comes late overwrites the id of the facilitator that came before it',
    edits: [
      {
        file: 'modules/settlement/store/facilitator.ts',
        search: "of === 'status' ? heard : heard.where(isCurrent)",
        replace: 'heard',
      },
    ],
    test: { file: late, name: 'a refusal of /settle that comes after an id of the facilitator changes nothing' },
  },
  {
    id: 'open-batches-in-one-order',
    rule: 7,
    bug: 'of many open batches of a facilitator each round looks at the same ones',
    edits: [
      { file: 'modules/settlement/store/facilitator.ts', search: 'orderBy(text`random()`)', replace: "orderBy('batchId')" },
    ],
    test: { file: late, name: 'of more open batches than one round looks at, each has its turn' },
  },
  {
    id: 'old-facilitator-batches-block',
    rule: 10,
    bug: 'what a facilitator leaves undecided for long counts against everybody who wants to buy',
    edits: [
      {
        file: 'modules/settlement/store/admission.ts',
        search: "and (batch.kind <> 'facilitator' or batch.created_at > now() - interval '1 minute')",
        replace: '',
      },
    ],
    test: { file: facilitator, name: 'payments that a facilitator leaves undecided for long keep nobody else from buying' },
  },
  {
    id: 'voided-twice',
    rule: 8,
    bug: 'an operator may void a nonce again and again, each time with a new transaction',
    edits: [
      {
        file: 'modules/settlement/use/relayer/broadcast.ts',
        search: "if (batch?.state !== 'open' || !last || last.kind === 'void') return false;",
        replace: "if (batch?.state !== 'open' || !last) return false;",
      },
    ],
    test: { file: operator, name: 'a nonce is voided once' },
  },
  {
    id: 'recover-adopts-any-nonce',
    rule: 7,
    bug: "adopting the chain's nonce takes it also where it is lower than ours: a nonce is given out twice",
    edits: [
      {
        file: 'modules/settlement/store/relayer.ts',
        search: ".where('nextNonce', '<', nextNonce)",
        replace: ".where('nextNonce', '<>', nextNonce)",
      },
    ],
    test: { file: operator, name: 'adopting the count of a chain that lags behind takes no nonce a second time' },
  },
  {
    id: 'unreadable-row-stops-the-queue',
    rule: 11,
    bug: 'a row that nobody can read is sent like any other, and its batch fails each time',
    edits: [{ file: 'modules/settlement/use/batch/examine.ts', search: 'payments.filter(isReadable);', replace: 'payments;' }],
    test: { file: 'test/fault/poison.test.ts', name: 'a payment whose signature nobody can read fails alone, unsent' },
  },
  {
    id: 'migrators-at-once',
    rule: 24,
    bug: 'migrations run without the advisory lock',
    edits: [
      {
        file: 'db/migrate.ts',
        search: 'while (!(await hasLock(pool))) await sleep(PAUSE_MS);',
        replace: 'await hasLock(pool);',
      },
    ],
    test: { file: 'test/integration/upgrade.test.ts', name: 'several migrators at once leave one schema' },
  },
  {
    id: 'conflicts-for-ever',
    rule: 23,
    bug: 'a transaction that loses every time is tried for ever',
    edits: [{ file: 'db/database.ts', search: 'const RETRIES = 4;', replace: 'const RETRIES = 4_000;' }],
    test: { file: 'test/fault/database.test.ts', name: 'a transaction that always loses gives up after four more tries' },
  },
  {
    id: 'other-order-under-running-workflows',
    rule: 20,
    bug: 'a workflow does something in another order than those that run already',
    edits: [
      {
        file: 'workflows/settlePayments.ts',
        search: '  let standing = await confirmSettlement({ batchId });\n',
        replace: '  await awaitSettlement({ batchId });\n  let standing = await confirmSettlement({ batchId });\n',
      },
    ],
    test: { file: 'test/workflow/replay.test.ts', name: 'settlePayments.json replays with the code of today' },
  },
  {
    id: 'purchase-followed-once',
    rule: 20,
    bug: 'a licence purchase whose workflow is lost after its first look has none any more',
    edits: [
      {
        file: 'modules/storefront/use/licences/followPurchase.ts',
        search: 'if (isOpen) await holdPurchase',
        replace: "if (isOpen && state === 'review') await holdPurchase",
      },
    ],
    test: { file: 'test/integration/purchase-news.test.ts', name: 'a purchase is somebody’s to follow' },
  },
  {
    id: 'failed-batches-look-done',
    rule: 20,
    bug: 'the workflow of a batch in which nobody paid ends as if all was well',
    edits: [
      {
        file: 'workflows/settlePayments.ts',
        search: "if (outcomeWord(outcome) !== 'failed') return outcome;",
        replace: "if (outcomeWord(outcome) !== '') return outcome;",
      },
    ],
    test: { file: 'test/workflow/operator-finds.test.ts', name: 'a batch that nobody paid in is found by' },
  },
  {
    id: 'failures-look-settled',
    rule: 20,
    bug: 'a batch ends with a payment that failed among those that settled',
    edits: [
      {
        file: 'modules/settlement/rules/batchOutcome.ts',
        search: "filter(({ became }) => became !== 'settled')",
        replace: "filter(({ became }) => became === 'returned')",
      },
    ],
    test: { file: 'test/unit/workflow-attributes.test.ts', name: 'a batch ends with what became of each payment' },
  },
  {
    id: 'second-fifty-not-found',
    rule: 20,
    bug: 'an operator finds only the first fifty payments of a batch',
    edits: [
      {
        file: 'modules/kernel/workflow/attributes.ts',
        search: 'PaymentIds2: ids.slice(IDS_A_LIST)',
        replace: 'PaymentIds2: ids.slice(0, IDS_A_LIST)',
      },
    ],
    test: { file: 'test/unit/workflow-attributes.test.ts', name: 'a batch of a hundred payments of a hundred sites' },
  },
  {
    id: 'announced-outside-the-transaction',
    rule: 5,
    bug: 'crossings leave the outbox in one transaction, and their event is written in another',
    edits: [
      {
        file: 'modules/webhooks/use/closeWindows.ts',
        search: 'database.transaction((sql) => closeWindow(sql, tenantId, host, spanMs))',
        replace: 'closeWindow(database, tenantId, host, spanMs)',
      },
    ],
    test: { file: 'test/fault/outbox.test.ts', name: 'an event that cannot be written keeps its legs in the outbox' },
  },
  {
    id: 'lease-never-ends',
    rule: 21,
    bug: 'a delivery whose worker died is leased for an hour and more',
    edits: [
      {
        file: 'modules/webhooks/store/leases.ts',
        search: "select t.slot, clock_timestamp() + $4 * interval '1 millisecond'",
        replace: "select t.slot, clock_timestamp() + $4 * interval '1 hour'",
      },
    ],
    test: { file: 'test/workflow/webhook-delivery.test.ts', name: 'a worker killed between POST and record of attempt' },
  },
  {
    id: 'paused-first-attempts',
    rule: 21,
    bug: 'first attempts go out to an endpoint that its owner paused',
    edits: [
      {
        file: 'modules/webhooks/store/leases.ts',
        search: 'and (e.paused_until is null or e.paused_until <= clock_timestamp()) and exists (',
        replace: 'and exists (',
      },
    ],
    test: { file: 'test/integration/webhook-leases.test.ts', name: 'nothing is leased of an endpoint that is paused' },
  },
  {
    id: 'paused-later-attempts',
    rule: 21,
    bug: 'an attempt that was on its way when its endpoint was paused is made',
    edits: [{ file: 'modules/webhooks/store/leases.ts', search: ' || row.paused)', replace: ')' }],
    test: { file: 'test/integration/webhook-leases.test.ts', name: 'nothing is leased of an endpoint that is paused' },
  },
  {
    id: 'overdue-endpoint-left',
    rule: 21,
    bug: 'a worker that died between the record of a failure and the signal leaves the delivery for good',
    edits: [
      {
        file: 'modules/webhooks/use/dispatch.ts',
        search: 'isForOverdue ? await overdueOf(deps, shard) : []',
        replace: '[]',
      },
    ],
    test: { file: 'test/workflow/webhook-delivery.test.ts', name: 'an endpoint whose workflow is missing gets one again' },
  },
  {
    id: 'disabled-endpoint-left',
    rule: 21,
    bug: 'what waits at an endpoint that its owner disabled stays pending until it would have been due, hours later',
    edits: [
      {
        file: 'modules/webhooks/store/receiver.ts',
        search: "is.or([is('d.dueAt', '<', late), is('e.enabled', '=', false)])",
        replace: "is('d.dueAt', '<', late)",
      },
    ],
    test: { file: 'test/integration/webhook-pauses.test.ts', name: 'what waits at a paused endpoint that its owner disabled' },
  },
  {
    id: 'failed-round-counts',
    rule: 4,
    bug: 'a sweeper each of whose rounds fails looks well',
    edits: [
      { file: 'modules/settlement/use/watch/sweep.ts', search: 'if (!hasFailed) await markSwept', replace: 'await markSwept' },
    ],
    test: { file: 'test/integration/reconcile.test.ts', name: 'a round of the sweeper whose step fails' },
  },
  {
    id: 'long-ranges-only',
    rule: 4,
    bug: 'a URL that refuses long ranges of blocks keeps the mark of comparing where it is',
    edits: [
      {
        file: 'modules/reconciliation/use/compareUrls.ts',
        search: 'if (isAnswered || shown === null || span / 2n < COMPARED_TOGETHER)',
        replace: 'if (span > 0n)',
      },
    ],
    test: { file: 'test/fault/compared-nodes.test.ts', name: 'where one of two nodes refuses long ranges' },
  },
  {
    id: 'signal-stops-shard',
    rule: 21,
    bug: 'an endpoint whose workflow takes no signal keeps its whole shard from its first attempts',
    edits: [
      {
        file: 'modules/webhooks/use/dispatch.ts',
        search: 'signal(shard, { isForOverdue',
        replace: 'await signalEndpoints(deps, shard, { isForOverdue',
      },
    ],
    test: { file: 'test/integration/webhook-pauses.test.ts', name: 'an endpoint whose workflow takes no signal' },
  },
  {
    id: 'signal-holds-a-place',
    rule: 21,
    bug: 'receivers that fail while signals hang fill their shard, which makes no first attempt any more',
    edits: [
      {
        file: 'modules/webhooks/use/deliverFirst.ts',
        search: 'deps.notices.add({ tenantId, endpointId, dueAtMs: record.dueAtMs })',
        replace: 'await deps.retries.due({ tenantId, endpointId }, record.dueAtMs - Date.now())',
      },
    ],
    test: { file: 'test/integration/webhook-pauses.test.ts', name: 'signals that hang after failures' },
  },
  {
    id: 'pauses-add-up',
    rule: 21,
    bug: 'an owner pauses an endpoint again and again, and what waits there waits for good',
    edits: [
      {
        file: 'modules/webhooks/store/retries.ts',
        search: 'then coalesce(paused_since, ',
        replace: 'then coalesce(null, ',
      },
    ],
    test: { file: 'test/integration/webhook-pauses.test.ts', name: 'pauses that follow one another end' },
  },
  {
    id: 'slots-of-a-snapshot',
    rule: 21,
    bug: 'a delivery that another dispatcher recorded since the look is sent again',
    edits: [
      {
        file: 'modules/webhooks/store/leases.ts',
        search: '       for update of d skip locked\n',
        replace: '',
      },
    ],
    test: {
      file: 'test/integration/webhook-leases.test.ts',
      name: 'a delivery that another dispatcher records between the look and the lock',
    },
  },
  {
    id: 'late-failure-is-written',
    rule: 21,
    bug: 'whoever lost a lease ends the attempt of the one who holds it',
    edits: [
      {
        file: 'modules/webhooks/store/attempts.ts',
        search: 'and not exists (\n           select from endpoint_lease other',
        replace: 'and exists (\n           select from endpoint_lease other',
      },
    ],
    test: { file: 'test/integration/webhook-leases.test.ts', name: 'a lease that ended is given again' },
  },
  {
    id: 'drain-cuts-sales',
    rule: 20,
    bug: 'an API that is told to end cuts the payments on their way',
    edits: [{ file: 'process/api/start.ts', search: 'const DRAIN_MS = 25_000;', replace: 'const DRAIN_MS = 0;' }],
    test: { file: processes, name: 'an API told to end while it sells' },
  },
  {
    id: 'one-pool-for-all',
    rule: 15,
    bug: 'GraphQL reads through the connections that payments need',
    edits: [
      {
        file: 'process/api/graphqlEndpoint.ts',
        search: '{ ask: thread.ask, change }',
        replace: '{ ask: openEngine({ ...deps, reading: deps.database, networkIds }, null), change }',
      },
    ],
    test: { file: processes, name: "with every connection of GraphQL's pool held, payments and reports" },
  },
  {
    id: 'one-pool-for-reports',
    rule: 15,
    bug: 'reports are read through the connections that payments need',
    edits: [
      {
        file: 'process/api/start.ts',
        search: 'const reports = { database: reading, clock };',
        replace: 'const reports = { database, clock };',
      },
    ],
    test: { file: processes, name: 'with every connection of reports held' },
  },
  {
    id: 'months-miss-a-night',
    rule: 23,
    bug: 'the night adds what it gathers to days alone',
    edits: [
      {
        file: 'modules/reports/store/rollupCheck.ts',
        search: "month: { table: 'crossing_month', only: 'true' }",
        replace: "month: { table: 'crossing_month', only: 'false' }",
      },
    ],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'earnings from rollups are the plain aggregate' },
  },
  {
    id: 'rest-of-a-unit-is-added-too',
    rule: 23,
    bug: 'what is left of a day or month after a window counts into it a second time, where it should be taken off',
    edits: [
      {
        file: 'modules/kernel/time/window.ts',
        search: 'return { fromMs: toMs, toMs: fromMs, sign: sign === 1 ? -1 : 1 };',
        replace: 'return { fromMs: toMs, toMs: fromMs, sign };',
      },
    ],
    test: { file: 'test/unit/report-window.test.ts', name: 'the pieces of a window count each of its moments once' },
  },
  {
    id: 'gathered-rows-go',
    rule: 23,
    bug: 'the night takes what a key is spread over away and adds it nowhere',
    edits: [
      {
        file: 'modules/reports/store/rollupCheck.ts',
        search: "'select * from gathered', true",
        replace: "'select * from gathered where false', true",
      },
    ],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'the night gathers what a key is spread over' },
  },
  {
    id: 'gathering-waits-for-writers',
    rule: 23,
    bug: 'the night waits for whoever writes a row, and holds those it has',
    edits: [{ file: 'modules/reports/store/rollupCheck.ts', search: 'for update skip locked', replace: 'for update' }],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'the night waits for no writer' },
  },
  {
    id: 'check-leaves-months-alone',
    rule: 23,
    bug: 'the nightly check compares no months',
    edits: [
      {
        file: 'modules/reports/store/rollupCheck.ts',
        search: 'if (isMonth) return `tenant_id = $1 and',
        replace: 'if (isMonth) return `false and tenant_id = $1 and',
      },
    ],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'a check finds nothing in honest rollups' },
  },
  {
    id: 'one-site-stops-the-night',
    rule: 23,
    bug: 'a site whose night fails keeps all others from theirs',
    edits: [{ file: 'modules/reports/use/rollups.ts', search: '      failures.push(error);\n', replace: '      throw error;\n' }],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'a site whose night fails keeps no other' },
  },
  {
    id: 'today-is-left-out',
    rule: 23,
    bug: 'reports read only what a night has gathered',
    edits: [
      {
        file: 'modules/reports/store/earnings/crossings.ts',
        search: "add('whole', `crossing_day where ",
        replace: "add('whole', `crossing_day where false and ",
      },
    ],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'earnings from rollups are the plain aggregate' },
  },
  {
    id: 'citations-are-reads',
    rule: 23,
    bug: 'what the night gathers of all kinds forgets which were citations',
    edits: [
      {
        file: 'modules/rollups/store/rollups.ts',
        search: "case kind when 'citation' then events",
        replace: "case kind when 'citation' then 0",
      },
    ],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'earnings from rollups are the plain aggregate' },
  },
  {
    id: 'sums-of-sites-unchecked',
    rule: 23,
    bug: 'the nightly check does not compare the sums of all hosts of a site',
    edits: [
      { file: 'modules/reports/store/rollupCheck.ts', search: '    only: IS_OF_ALL_HOSTS,', replace: "    only: 'false'," },
    ],
    test: { file: 'test/integration/report-rollups.test.ts', name: 'a check finds nothing in honest rollups' },
  },
  {
    id: 'name-servers-in-trouble-cost-the-host',
    rule: 15,
    bug: "name servers that do not answer use up a host's checks",
    edits: [
      { file: 'modules/hosts/use/challenges.ts', search: 'if (isUnheard) await', replace: 'if (isUnheard && !host) await' },
    ],
    test: { file: 'test/fault/names.test.ts', name: 'name servers in trouble are a timeout' },
  },
];
