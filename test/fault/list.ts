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

/** Every fault by its number, in order; `npm run faults` runs them one after another. */
export const FAULTS: readonly Fault[] = [
  {
    id: 1,
    fault: 'a worker is killed after signing, before the bytes are sent',
    test: { file: crash, name: 'after the bytes are signed and stored leaves exactly one settlement, one crossing and one event' },
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
];
