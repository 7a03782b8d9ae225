import type { Mutant } from './mutant.ts';

const src = 'packages/agent/src';
const sale = 'test/e2e/agent.test.ts';
const hostile = 'test/unit/agent/hostile.test.ts';
const ledger = 'test/unit/agent/ledger.test.ts';
const envelope = 'test/unit/agent/envelope.test.ts';
const signedBefore = 'test/unit/agent/signed-before.test.ts';
const approvals = 'test/unit/agent/approvals.test.ts';
const keys = 'test/unit/agent/keys.test.ts';

/** Bugs in what pays on a buyer's machine: an envelope that is exceeded, a page that is paid for twice, a key that is shown. */
export const AGENT_TOOL_MUTANTS: readonly Mutant[] = [
  {
    id: 'agent-total-exceeded',
    rule: 14,
    bug: 'the last purchase of a period exceeds the envelope',
    edits: [
      {
        file: `${src}/envelope/decide.ts`,
        search: 'spent.totalMicro + amountMicro > totalMicro',
        replace: 'spent.totalMicro >= totalMicro',
      },
    ],
    test: { file: envelope, name: 'the total would be exceeded by one micro' },
  },
  {
    id: 'agent-strangers-envelope',
    rule: 14,
    bug: 'an envelope that anybody on the machine could write decides what is spent',
    edits: [
      {
        file: `${src}/ownFile.ts`,
        search: '(facts.mode & OTHERS_WRITE) !== 0',
        replace: 'facts.mode === 0',
      },
    ],
    test: { file: 'test/unit/agent/own-files.test.ts', name: 'which anybody may have written' },
  },
  {
    id: 'agent-signs-without-lock',
    rule: 14,
    bug: 'two processes read the same ledger, and both spend what is left',
    edits: [
      {
        file: `${src}/ledger/lock.ts`,
        search: '(holder === null || !isAlive(holder)) && make(path, highest + 1)',
        replace: 'make(path, highest + 1)',
      },
    ],
    test: { file: ledger, name: 'four processes' },
  },
  {
    id: 'agent-forgets-what-it-signed',
    rule: 14,
    bug: 'two calls at once sign for one page twice',
    edits: [
      {
        file: `${src}/paying/client.ts`,
        search: "return isValid && own.state !== 'paid' ? own : null;",
        replace: 'return null;',
      },
    ],
    test: { file: hostile, name: 'twenty calls at once' },
  },
  {
    id: 'agent-pays-anew-after-silence',
    rule: 14,
    bug: 'a payment that was never answered is taken for one that failed',
    edits: [
      {
        file: `${src}/paying/client.ts`,
        search: "state === 'open' && !isAgain",
        replace: "state !== 'open' && !isAgain",
      },
    ],
    test: { file: hostile, name: 'a site that takes payments and never answers' },
  },
  {
    id: 'agent-believes-late-refusals',
    rule: 14,
    bug: 'a refusal of what was settled before is taken for a failure',
    edits: [{ file: `${src}/paying/fetch.ts`, search: 'isFirst && response.status === 402', replace: 'response.status === 402' }],
    test: { file: hostile, name: 'a refusal is believed only' },
  },
  {
    id: 'agent-refused-is-free',
    rule: 14,
    bug: 'what a site refused does not count, though it may settle it',
    edits: [
      {
        file: `${src}/ledger/entries.ts`,
        search: 'sum.totalMicro += payment.amountMicro;',
        replace: "if (payment.state !== 'refused') sum.totalMicro += payment.amountMicro;",
      },
    ],
    test: { file: ledger, name: 'what was signed counts' },
  },
  {
    id: 'agent-half-lines-stay',
    rule: 14,
    bug: 'the line after a crash is glued to half a line, and both are lost',
    edits: [{ file: `${src}/ledger/file.ts`, search: 'ftruncateSync(file, known.bytes + whole);', replace: '' }],
    test: { file: ledger, name: 'half a line' },
  },
  {
    id: 'agent-any-coin',
    rule: 14,
    bug: 'a coin of eighteen places is counted as micro-USDC',
    edits: [{ file: `${src}/paying/client.ts`, search: 'coin?.decimals === 6 &&', replace: 'coin !== undefined &&' }],
    test: { file: hostile, name: 'a coin of eighteen places' },
  },
  {
    id: 'agent-follows-anywhere',
    rule: 14,
    bug: 'a page leads the reader, and its payment, to another host',
    edits: [{ file: `${src}/paying/fetch.ts`, search: ' || next.origin !== new URL(request.url).origin', replace: '' }],
    test: { file: hostile, name: 'a page that leads to another host' },
  },
  {
    id: 'agent-approval-for-good',
    rule: 14,
    bug: 'one yes of a person buys a page again and again',
    edits: [{ file: `${src}/ledger/entries.ts`, search: 'if (used !== -1) this.#approvals.splice(used, 1);', replace: '' }],
    test: { file: ledger, name: 'an approval is good once' },
  },
  {
    id: 'agent-approval-by-address',
    rule: 14,
    bug: 'a yes for one licence buys another one, since all are bought at one address',
    edits: [{ file: `${src}/ledger/entries.ts`, search: ' && id === approvalIdOf(bought)', replace: '' }],
    test: { file: approvals, name: 'does not buy one of another' },
  },
  {
    id: 'agent-key-for-everybody',
    rule: 24,
    bug: 'a key file that the group may read is used',
    edits: [{ file: `${src}/keys.ts`, search: '(mode & 0o077)', replace: '(mode & 0o007)' }],
    test: { file: keys, name: 'a key file of mode 640' },
  },
  {
    id: 'agent-stop-is-remembered',
    rule: 14,
    bug: 'a stop holds only for processes that begin after it',
    edits: [
      {
        file: `${src}/index.ts`,
        search: "envelope: () => envelope ?? readEnvelope(join(home, 'envelope.json')),",
        replace: "envelope: ((read) => () => envelope ?? read)(readEnvelope(join(home, 'envelope.json'))),",
      },
    ],
    test: { file: sale, name: 'a stop holds in the next call' },
  },
  {
    id: 'agent-time-as-text',
    rule: 14,
    bug: 'an offer whose time is a text gets a signature for thousands of years',
    edits: [{ file: `${src}/paying/client.ts`, search: 'Number.isInteger(maxTimeoutSeconds) &&', replace: '' }],
    test: { file: hostile, name: 'a text that is put behind the clock' },
  },
  {
    id: 'agent-pays-every-step',
    rule: 14,
    bug: 'a site that takes a payment and leads on is paid for every step',
    edits: [{ file: `${src}/paying/fetch.ts`, search: 'if (isSigned) allowed = { ...options, maxMicro: 0n };', replace: '' }],
    test: { file: hostile, name: 'leads on to another page with a price' },
  },
  {
    id: 'agent-container-lock',
    rule: 14,
    bug: 'a process of another container is taken for dead, and two hold one ledger',
    edits: [{ file: `${src}/ledger/lock.ts`, search: ' || space !== spaceOfPids()', replace: '' }],
    test: { file: ledger, name: 'a lock of a process that is gone' },
  },
  {
    id: 'agent-resends-against-stop',
    rule: 14,
    bug: 'a payment that nobody answered goes out again whatever the envelope says',
    edits: [
      {
        file: `${src}/paying/client.ts`,
        search: '!isOwn || !this.#judge(held, payment, payment).may',
        replace: '!isOwn',
      },
    ],
    test: { file: signedBefore, name: 'is not sent again by any command or tool' },
  },
  {
    id: 'agent-resends-refused-unjudged',
    rule: 14,
    bug: 'a payment that was refused goes out again whatever the envelope says',
    edits: [
      {
        file: `${src}/paying/client.ts`,
        search: 'this.#allow(held, earlier, earlier);',
        replace: '',
      },
    ],
    test: { file: signedBefore, name: 'is not sent again by any command or tool' },
  },
  {
    id: 'agent-resend-outside-max',
    rule: 14,
    bug: 'what is sent again is not taken out of what the command may pay',
    edits: [{ file: `${src}/paying/client.ts`, search: 'this.#leftMicro -= amountMicro;', replace: '' }],
    test: { file: signedBefore, name: 'takes its price out of --max once' },
  },
  {
    id: 'agent-yes-for-two',
    rule: 14,
    bug: 'a yes sends a payment that was signed before, and signs another',
    edits: [
      {
        file: `${src}/ledger/entries.ts`,
        search:
          'if (waiting) this.#payments.set(waiting.id, { ...waiting, isApproved: true });\n    else this.#approvals.push(approval);',
        replace:
          'if (waiting) this.#payments.set(waiting.id, { ...waiting, isApproved: true });\n    this.#approvals.push(approval);',
      },
    ],
    test: { file: signedBefore, name: 'used by the payment that waits for it' },
  },
  {
    id: 'agent-other-keys-payment',
    rule: 14,
    bug: 'the payment of another wallet is sent after a change of key',
    edits: [
      { file: `${src}/ledger/entries.ts`, search: 'payer === null ? purchase : newestKey(purchase, payer)', replace: 'purchase' },
    ],
    test: { file: signedBefore, name: 'of the other wallet is left alone' },
  },
  {
    id: 'agent-pays-beside-other-key',
    rule: 14,
    bug: 'a page is paid for a second time while the payment of the former key may be settled',
    edits: [
      { file: `${src}/paying/client.ts`, search: '!isAgain && !(isOwn && isValid)', replace: '!isAgain && isOwn && !isValid' },
    ],
    test: { file: signedBefore, name: 'nothing is signed beside it' },
  },
  {
    id: 'agent-funds-by-strangers-word',
    rule: 14,
    bug: 'a site says how much its reader sends to the wallet',
    edits: [{ file: `${src}/buying/page.ts`, search: '{ ...told, ...signed }', replace: '{ ...signed, ...told }' }],
    test: { file: signedBefore, name: 'by what was signed' },
  },
  {
    id: 'agent-pays-beside-what-is-held',
    rule: 14,
    bug: 'a page that one key bought is paid for again, since another key signed for it later',
    edits: [{ file: `${src}/ledger/entries.ts`, search: 'this.#remember(known);', replace: '' }],
    test: { file: signedBefore, name: 'of the other wallet is left alone' },
  },
];
