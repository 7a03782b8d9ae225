/** A fault that the service must survive, and the test that puts it there. */
export interface Fault {
  readonly id: number;
  /** What breaks, in a sentence's length. */
  readonly fault: string;
  readonly test: {
    /** From the root of the checkout. */
    readonly file: string;
    /** The test's name, or its beginning; for a table of tests the name as it is run. */
    readonly name: string;
  };
}

const crash = 'test/fault/crash.test.ts';
const lane = 'test/fault/lane.test.ts';
const reorg = 'test/fault/reorg.test.ts';
const refusal = 'test/fault/refusal.test.ts';
const node = 'test/fault/node.test.ts';
const cluster = 'test/fault/cluster.test.ts';
const processes = 'test/fault/processes.test.ts';
const database = 'test/fault/database.test.ts';
const receivers = 'test/fault/webhook-receivers.test.ts';

/** Every fault by its number, in order; `npm run faults` runs them one after another. */
export const FAULTS: readonly Fault[] = [
  {
    id: 1,
    fault: 'a worker is killed after signing, before the bytes are sent',
    test: {
      file: crash,
      name: 'after the bytes are signed and stored leaves exactly one settlement, one crossing and one event',
    },
  },
  {
    id: 2,
    fault: 'a worker is killed after sending, before the receipt is read',
    test: { file: crash, name: 'after they are broadcast leaves exactly one settlement, one crossing and one event' },
  },
  {
    id: 3,
    fault: 'a worker is killed between the receipt and the ledger',
    test: { file: crash, name: 'after the receipt is read leaves exactly one settlement, one crossing and one event' },
  },
  {
    id: 4,
    fault: 'an API process is killed while its caller waits',
    test: { file: crash, name: 'an API killed while its caller waits loses nothing' },
  },
  {
    id: 5,
    fault: 'the same payment fifty times at once over two API processes',
    test: { file: crash, name: 'the same payment fifty times at once over two API processes' },
  },
  {
    id: 6,
    fault: 'the same payment for another resource',
    test: {
      file: 'test/integration/settlement.test.ts',
      name: 'an authorization shown for another page is refused and the first sale stays as it is',
    },
  },
  {
    id: 7,
    fault: 'the same authorization in x402 v1 and v2 at once',
    test: { file: node, name: 'one authorization as version 1 and as version 2 at the same time is one settlement' },
  },
  {
    id: 8,
    fault: 'the node takes the bytes and its reply is lost',
    test: { file: lane, name: 'a node that takes the bytes and drops the reply changes nothing' },
  },
  {
    id: 9,
    fault: 'the node says that it knows the bytes, or that their nonce is used',
    test: { file: node, name: 'a line that sends everything twice gets "already known" and "nonce too low"' },
  },
  {
    id: 10,
    fault: 'the node answers 429 and 5xx',
    test: { file: node, name: 'a node that answers 429 and 503 for a while burns no nonce' },
  },
  {
    id: 11,
    fault: 'the node shows a receipt and then none',
    test: { file: node, name: 'a node that shows a receipt and then none makes nothing flip' },
  },
  {
    id: 12,
    fault: 'a reorganisation drops a settled transaction',
    test: { file: reorg, name: 'a reorg that drops a settled payment sends the same bytes again' },
  },
  {
    id: 13,
    fault: 'a reorganisation in which the authorization is used up otherwise',
    test: { file: reorg, name: 'a reorg in which the payer cancels takes the sale back' },
  },
  {
    id: 14,
    fault: 'the base fee jumps and the transaction is stuck',
    test: { file: lane, name: 'stuck fees are raised to what the block asks in one step' },
  },
  {
    id: 15,
    fault: 'transactions fall out of the node, a nonce is missing',
    test: { file: lane, name: 'dropped transactions go out again, lowest nonce first' },
  },
  {
    id: 16,
    fault: 'the relayer key is used elsewhere',
    test: { file: lane, name: 'a nonce used elsewhere seven times over costs no payment its attempts' },
  },
  {
    id: 17,
    fault: 'the relayer has no gas money',
    test: { file: lane, name: 'a relayer without gas money takes no nonce and raises one alert' },
  },
  {
    id: 18,
    fault: 'the payer empties his wallet between check and mining',
    test: { file: refusal, name: 'a wallet emptied between check and mining fails alone' },
  },
  {
    id: 19,
    fault: 'an authorization runs out while it waits',
    test: { file: refusal, name: 'an authorization that runs out while it waits is refused unsent' },
  },
  {
    id: 20,
    fault: 'a batch is sent with too little gas and reverts',
    test: { file: node, name: 'a batch that reverts for want of gas fails no payment of it' },
  },
  {
    id: 21,
    fault: 'Postgres is killed under load',
    test: { file: cluster, name: 'loses no acknowledged row and charges nobody twice when Postgres is killed under load' },
  },
  {
    id: 22,
    fault: 'Postgres is restarted under load',
    test: { file: cluster, name: 'loses no acknowledged row and charges nobody twice when Postgres is restarted under load' },
  },
  {
    id: 23,
    fault: 'every connection of a pool is held',
    test: { file: processes, name: 'with every connection of the pool held a payment is an outage' },
  },
  {
    id: 24,
    fault: 'database transactions lock each other out',
    test: { file: database, name: 'database transactions that lock each other out are both carried out' },
  },
  {
    id: 25,
    fault: "the database's disk is full",
    test: { file: database, name: 'refuses writes as an outage' },
  },
  {
    id: 26,
    fault: 'Temporal is gone when a payment arrives',
    test: { file: cluster, name: 'stores payments while Temporal is gone' },
  },
  {
    id: 27,
    fault: 'Temporal is killed in the middle of a workflow',
    test: { file: cluster, name: 'goes on with a payment whose workflow was running when Temporal was killed' },
  },
  {
    id: 28,
    fault: 'no worker runs',
    test: { file: cluster, name: 'keeps a payment that no worker takes' },
  },
  {
    id: 29,
    fault: 'workflow code is changed under running workflows',
    test: { file: 'test/workflow/replay.test.ts', name: 'settlePayments-after_sign.json replays with the code of today' },
  },
  {
    id: 30,
    fault: 'one batch holds what cannot be judged',
    test: { file: lane, name: 'one batch that cannot be judged keeps the sweeper from no other' },
  },
  {
    id: 31,
    fault: 'a report that passes JSON and breaks SQL',
    test: {
      file: 'test/integration/api-observe.test.ts',
      name: 'a report that Postgres refuses fails alone in its group',
    },
  },
  {
    id: 32,
    fault: 'a webhook receiver hangs',
    test: { file: receivers, name: 'a receiver that hangs: one attempt, pending, reason timeout' },
  },
  {
    id: 33,
    fault: 'a webhook receiver answers byte by byte',
    test: { file: receivers, name: 'a receiver that slowloris: one attempt, pending, reason timeout' },
  },
  {
    id: 34,
    fault: 'a webhook receiver redirects elsewhere',
    test: { file: receivers, name: 'a receiver that redirects: one attempt, pending, reason redirect' },
  },
  {
    id: 35,
    fault: 'a webhook receiver answers 410',
    test: { file: 'test/workflow/webhook-delivery.test.ts', name: '410 disables the endpoint' },
  },
  {
    id: 36,
    fault: 'a worker ends after the POST and before its outcome is written',
    test: { file: 'test/workflow/webhook-delivery.test.ts', name: 'a delivery whose workflow is missing gets one again' },
  },
  {
    id: 37,
    fault: 'a webhook receiver answers with a bomb',
    test: { file: receivers, name: 'a receiver that bombs: one attempt, delivered, reason null' },
  },
  {
    id: 38,
    fault: 'the clock of a process is ten minutes wrong',
    test: { file: processes, name: 'an API and a worker whose clocks are ten minutes fast' },
  },
  {
    id: 39,
    fault: 'processes are told to end while they sell',
    test: { file: processes, name: 'an API told to end while it sells' },
  },
  {
    id: 40,
    fault: 'the signing key is rotated',
    test: { file: processes, name: 'a licence outlives the rotation of the key that signed it' },
  },
  {
    id: 41,
    fault: 'notifications are lost',
    test: { file: 'test/integration/snapshots.test.ts', name: 'with the listening connection cut, the poll finds the change' },
  },
  {
    id: 42,
    fault: 'DNS fails for a host that is checked',
    test: { file: 'test/unit/outbound.test.ts', name: 'a host check names the way it failed' },
  },
  {
    id: 43,
    fault: 'a schedule is started by several, and asked for while it runs',
    test: { file: cluster, name: 'runs each standing workflow once however many workers start it' },
  },
  {
    id: 44,
    fault: 'an event loop stands still for two seconds',
    test: { file: processes, name: 'two seconds without an event loop in API and worker delay a payment' },
  },
];
