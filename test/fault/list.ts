import type { NamedTest } from '../support/named-tests.ts';

/** A fault that the service must survive, and the tests that put it there. */
export interface Fault {
  readonly id: number;
  /** What breaks, in a sentence's length. */
  readonly fault: string;
  /** Names, or their beginnings; of a table of tests the name as it is run. */
  readonly tests: readonly NamedTest[];
}

const crash = 'test/fault/crash.test.ts';
const queue = 'test/fault/relayer-queue.test.ts';
const reorg = 'test/fault/reorg.test.ts';
const refusal = 'test/fault/refusal.test.ts';
const node = 'test/fault/node.test.ts';
const cluster = 'test/fault/cluster.test.ts';
const processes = 'test/fault/processes.test.ts';
const database = 'test/fault/database.test.ts';
const receivers = 'test/fault/webhook-receivers.test.ts';
const announcements = 'test/fault/announcements.test.ts';
const delivery = 'test/workflow/webhook-delivery.test.ts';
const outages = 'test/workflow/webhook-outages.test.ts';
const limits = 'test/fault/limits.test.ts';
const fees = 'test/fault/fees.test.ts';
const poison = 'test/fault/poison.test.ts';
const absent = 'test/fault/absent-at-start.test.ts';

/** Every fault by its number, in order; `npm run faults` runs them one after another. */
export const FAULTS: readonly Fault[] = [
  {
    id: 1,
    fault: 'a worker is killed after signing, before the bytes are sent',
    tests: [
      {
        file: crash,
        name: 'after the bytes are signed and stored leaves exactly one settlement, one crossing and one event',
      },
    ],
  },
  {
    id: 2,
    fault: 'a worker is killed after sending, before the receipt is read',
    tests: [{ file: crash, name: 'after they are broadcast leaves exactly one settlement, one crossing and one event' }],
  },
  {
    id: 3,
    fault: 'a worker is killed between the receipt and the ledger',
    tests: [{ file: crash, name: 'after the receipt is read leaves exactly one settlement, one crossing and one event' }],
  },
  {
    id: 4,
    fault: 'an API process is killed while its caller waits',
    tests: [{ file: crash, name: 'an API killed while its caller waits loses nothing' }],
  },
  {
    id: 5,
    fault: 'the same payment fifty times at once over two API processes',
    tests: [{ file: crash, name: 'the same payment fifty times at once over two API processes' }],
  },
  {
    id: 6,
    fault: 'the same payment for another resource',
    tests: [
      {
        file: 'test/integration/settlement.test.ts',
        name: 'an authorization shown for another page is refused and the first sale stays as it is',
      },
    ],
  },
  {
    id: 7,
    fault: 'the same authorization in x402 v1 and v2 at once',
    tests: [{ file: node, name: 'one authorization as version 1 and as version 2 at the same time is one settlement' }],
  },
  {
    id: 8,
    fault: 'the node takes the bytes and its reply is lost',
    tests: [{ file: queue, name: 'a node that takes the bytes and drops the reply changes nothing' }],
  },
  {
    id: 9,
    fault: 'the node says that it knows the bytes, or that their nonce is used',
    tests: [{ file: node, name: 'a line that sends everything twice gets "already known" and "nonce too low"' }],
  },
  {
    id: 10,
    fault: 'the node answers 429 and 5xx',
    tests: [{ file: node, name: 'a node that answers 429 and 503 for a while burns no nonce' }],
  },
  {
    id: 11,
    fault: 'the node shows a receipt and then none',
    tests: [{ file: node, name: 'a node that shows a receipt and then none makes nothing flip' }],
  },
  {
    id: 12,
    fault: 'a reorganisation drops a settled transaction',
    tests: [{ file: reorg, name: 'a reorg that drops a settled payment sends the same bytes again' }],
  },
  {
    id: 13,
    fault: 'a reorganisation in which the authorization is used up otherwise',
    tests: [{ file: reorg, name: 'a reorg in which the payer cancels takes the sale back' }],
  },
  {
    id: 14,
    fault: 'the base fee jumps and the transaction is stuck',
    tests: [{ file: queue, name: 'stuck fees are raised to what the block asks in one step' }],
  },
  {
    id: 15,
    fault: 'transactions fall out of the node, a nonce is missing',
    tests: [{ file: queue, name: 'dropped transactions go out again, lowest nonce first' }],
  },
  {
    id: 16,
    fault: 'the relayer key is used elsewhere',
    tests: [{ file: queue, name: 'a nonce used elsewhere seven times over costs no payment its attempts' }],
  },
  {
    id: 17,
    fault: 'the relayer has no gas money',
    tests: [{ file: queue, name: 'a relayer without gas money takes no nonce and raises one alert' }],
  },
  {
    id: 18,
    fault: 'the payer empties his wallet between check and mining',
    tests: [{ file: refusal, name: 'a wallet emptied between check and mining fails alone' }],
  },
  {
    id: 19,
    fault: 'an authorization runs out while it waits',
    tests: [{ file: refusal, name: 'an authorization that runs out while it waits is refused unsent' }],
  },
  {
    id: 20,
    fault: 'a batch is sent with too little gas and reverts',
    tests: [{ file: node, name: 'a batch that reverts for want of gas fails no payment that the chain would take' }],
  },
  {
    id: 21,
    fault: 'Postgres is killed under load',
    tests: [{ file: cluster, name: 'loses no acknowledged row and charges nobody twice when Postgres is killed under load' }],
  },
  {
    id: 22,
    fault: 'Postgres is restarted under load',
    tests: [{ file: cluster, name: 'loses no acknowledged row and charges nobody twice when Postgres is restarted under load' }],
  },
  {
    id: 23,
    fault: 'every connection of a pool is held',
    tests: [
      { file: processes, name: 'with every connection of the pool held a payment is an outage' },
      {
        file: processes,
        name: "with every connection of GraphQL's pool held, payments and reports of the REST API go on as ever",
      },
    ],
  },
  {
    id: 24,
    fault: 'database transactions lock each other out',
    tests: [
      { file: database, name: 'database transactions that lock each other out are both carried out' },
      { file: database, name: 'a transaction that always loses gives up after four more tries' },
    ],
  },
  {
    id: 25,
    fault: "the database's disk is full",
    tests: [{ file: database, name: 'refuses writes as an outage' }],
  },
  {
    id: 26,
    fault: 'Temporal is gone when a payment arrives',
    tests: [{ file: cluster, name: 'settles payments while Temporal is gone' }],
  },
  {
    id: 27,
    fault: 'Temporal is killed in the middle of a workflow',
    tests: [{ file: cluster, name: 'goes on with a payment whose workflow was running when Temporal was killed' }],
  },
  {
    id: 28,
    fault: 'no worker runs',
    tests: [{ file: cluster, name: 'keeps a payment that no worker takes' }],
  },
  {
    id: 29,
    fault: 'workflow code is changed under running workflows',
    tests: [{ file: 'test/workflow/replay.test.ts', name: 'settlePayments.json replays with the code of today' }],
  },
  {
    id: 30,
    fault: 'a row that cannot be read, written or judged',
    tests: [
      { file: poison, name: 'a payment whose signature nobody can read fails alone, unsent' },
      { file: poison, name: 'a payment whose legs nobody can read fails alone, unsent' },
      { file: limits, name: 'one payment that the ledger refuses keeps no other of its batch from being recorded' },
      { file: queue, name: 'one batch that cannot be judged keeps the sweeper from no other' },
    ],
  },
  {
    id: 31,
    fault: 'a report that passes JSON and breaks SQL',
    tests: [
      { file: processes, name: 'a report with a character that no database takes is refused alone' },
      { file: 'test/integration/api-observe.test.ts', name: 'a report that Postgres refuses fails alone in its group' },
    ],
  },
  {
    id: 32,
    fault: 'a webhook receiver hangs',
    tests: [
      { file: receivers, name: 'a receiver that hangs: one attempt, pending, reason timeout' },
      { file: delivery, name: 'a hanging receiver has at most two requests in flight' },
    ],
  },
  {
    id: 33,
    fault: 'a webhook receiver answers byte by byte',
    tests: [
      { file: receivers, name: 'a receiver that slowloris: one attempt, pending, reason timeout' },
      { file: receivers, name: 'a receiver that drips: one attempt, delivered, reason null' },
      { file: receivers, name: 'every attempt ended by its deadline' },
    ],
  },
  {
    id: 34,
    fault: 'a webhook receiver redirects elsewhere',
    tests: [
      { file: announcements, name: 'what is sold is announced once, whatever other receivers do' },
      { file: receivers, name: 'where a redirect leads nobody is asked' },
    ],
  },
  {
    id: 35,
    fault: 'a webhook receiver answers 410, 429 with Retry-After, or 500 for good',
    tests: [
      { file: announcements, name: 'what is sold is announced once, whatever other receivers do' },
      { file: receivers, name: 'Retry-After is the floor of the next attempt' },
      { file: delivery, name: '410 disables the endpoint' },
      { file: delivery, name: 'after ten failures in a row an endpoint cools' },
    ],
  },
  {
    id: 36,
    fault: 'a worker ends after the POST and before its outcome is written',
    tests: [
      { file: delivery, name: 'a worker killed between POST and record of attempt' },
      { file: delivery, name: 'an endpoint whose workflow is missing gets one again' },
      { file: outages, name: 'a delivery that failed while Temporal was away' },
    ],
  },
  {
    id: 37,
    fault: 'a webhook receiver answers with a bomb',
    tests: [
      { file: announcements, name: 'what is sold is announced once, whatever other receivers do' },
      { file: receivers, name: 'a receiver that bombs: one attempt, delivered, reason null' },
      { file: receivers, name: 'a receiver that neverEnds: one attempt, delivered, reason null' },
    ],
  },
  {
    id: 38,
    fault: 'the clock of a process is ten minutes wrong',
    tests: [{ file: processes, name: 'an API and a worker whose clocks are ten minutes fast' }],
  },
  {
    id: 39,
    fault: 'processes are told to end while they sell',
    tests: [
      { file: processes, name: 'an API told to end while it sells' },
      { file: processes, name: 'an API told to end in the middle of an export' },
      { file: processes, name: 'a worker told to end in the middle of a payment' },
    ],
  },
  {
    id: 40,
    fault: 'the signing key is rotated',
    tests: [{ file: processes, name: 'a licence outlives the rotation of the key that signed it' }],
  },
  {
    id: 41,
    fault: 'notifications are lost',
    tests: [{ file: 'test/integration/snapshots.test.ts', name: 'with the listening connection cut, the poll finds the change' }],
  },
  {
    id: 42,
    fault: 'DNS fails for a host that is checked',
    tests: [{ file: 'test/fault/names.test.ts', name: 'name servers in trouble are a timeout' }],
  },
  {
    id: 43,
    fault: 'a schedule is started by several, and asked for while it runs',
    tests: [
      { file: cluster, name: 'runs each standing workflow once however many workers start it' },
      { file: 'test/workflow/anomaly-sweep.test.ts', name: 'a breached threshold reaches the endpoint once, however often' },
    ],
  },
  {
    id: 44,
    fault: 'an event loop stands still for two seconds',
    tests: [{ file: processes, name: 'two seconds without an event loop in API and worker delay a payment' }],
  },
  {
    id: 45,
    fault: 'Postgres takes no writes, as while a standby takes over',
    tests: [
      { file: 'test/fault/read-only.test.ts', name: 'a Postgres that turns read-only under load is an outage, never a defect' },
    ],
  },
  {
    id: 46,
    fault: 'the base fee rises above what may be offered',
    tests: [
      { file: fees, name: 'while the base fee is above the cap, payments are refused with 503' },
      { file: fees, name: 'a payment that was taken before the base fee rose is signed once it has fallen' },
      { file: fees, name: 'a batch whose payments have all run out unmined gives its nonce' },
    ],
  },
  {
    id: 47,
    fault: 'many sites together spend the gas of a network',
    tests: [{ file: fees, name: 'a network that has cost its gas of the day sells no more' }],
  },
  {
    id: 48,
    fault: 'anybody presents payments that nobody signed, or without money, where a purchase asks its site first',
    tests: [
      { file: limits, name: 'what is looked at last is asked for nobody who did not sign or holds too little' },
      { file: 'test/integration/mcp.test.ts', name: 'a payment that is refused makes no request to its site' },
    ],
  },
  {
    id: 49,
    fault: 'a publisher’s page is megabytes of markup that never ends',
    tests: [
      { file: 'test/unit/page-text.test.ts', name: 'two megabytes of hostile markup are read or refused' },
      { file: 'test/unit/page-text.test.ts', name: 'a page that takes too long, or breaks the thread' },
    ],
  },
  {
    id: 50,
    fault: 'a part is away when a process starts',
    tests: [
      { file: absent, name: 'an API that starts without any node serves quotes and reports' },
      { file: absent, name: 'an API that starts without Temporal sells' },
      { file: absent, name: 'an API that starts without Postgres waits' },
      { file: absent, name: 'a worker that starts without any node stays up' },
      { file: absent, name: 'a worker that starts without Temporal settles payments all the same' },
      { file: absent, name: 'a worker that starts without Postgres waits' },
      { file: absent, name: 'a worker that starts with neither nodes nor Temporal settles' },
    ],
  },
  {
    id: 51,
    fault: 'the primary of Postgres is lost in the middle of sales, and its standby is promoted',
    tests: [
      { file: 'test/fault/failover.test.ts', name: 'with its primary killed in the middle of sales and its standby promoted' },
      { file: 'test/fault/failover.test.ts', name: 'a former primary that comes back is not written to' },
      { file: 'test/fault/former-primary.test.ts', name: 'a primary that hangs while its standby is promoted' },
    ],
  },
  {
    id: 52,
    fault: 'nodes alter the logs of receipts, or have none',
    tests: [
      { file: 'test/fault/lying-receipts.test.ts', name: 'where all nodes altered it and agree again later' },
      { file: 'test/fault/compared-nodes.test.ts', name: 'no mark passes transfers whose receipts contradict their logs' },
    ],
  },
  {
    id: 53,
    fault: 'a node does not know the safe tag, or loses it',
    tests: [
      { file: 'test/fault/no-safe-tag.test.ts', name: 'the check at the start names the tag that a node does not know' },
      { file: 'test/fault/no-safe-tag.test.ts', name: 'a node that loses its safe tag later keeps no sale' },
    ],
  },
  {
    id: 54,
    fault: 'one URL of several is dead, frozen or hangs',
    tests: [
      { file: 'test/fault/rpc-nodes.test.ts', name: 'with a dead URL and a frozen one before it' },
      { file: 'test/fault/rpc-nodes.test.ts', name: 'while the first URL hangs payments are answered' },
    ],
  },
  {
    id: 55,
    fault: 'the database comes back from a backup older than its last sales',
    tests: [{ file: 'test/fault/restore.test.ts', name: 'a backup older than twenty settlements comes back' }],
  },
  {
    id: 56,
    fault: 'strangers invent pages of a site with a credits API',
    tests: [
      { file: 'test/integration/credits-api.test.ts', name: 'pages that strangers invent leave no row' },
      { file: 'test/integration/credits-api.test.ts', name: 'one address that invents pages leaves half' },
      { file: 'test/integration/credits-api.test.ts', name: 'a site has 20,000 copies of 32 KiB at most' },
    ],
  },
  {
    id: 57,
    fault: 'an agent shows licences that the service has to be asked about, without end',
    tests: [
      { file: 'test/unit/publisher/licence-bounds.test.ts', name: 'sixteen licences are asked about at once and fifty a second' },
      { file: 'test/unit/publisher/licence-bounds.test.ts', name: 'one licence is asked about eight times at once' },
      {
        file: 'test/unit/publisher/licence-bounds.test.ts',
        name: 'payments on a network that is away close no sales on another one',
      },
    ],
  },
];
