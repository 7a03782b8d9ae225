import type { Mutant } from './mutant.ts';

const queue = 'test/fault/relayer-queue.test.ts';
const woken = 'test/fault/woken.test.ts';
const limits = 'test/fault/limits.test.ts';
const node = 'test/fault/node.test.ts';
const wallets = 'test/fault/wallets.test.ts';

/** A claim asks nowhere whether somebody has the payment already. */
const WITHOUT_CAS: Mutant['edits'] = [
  {
    file: 'modules/kernel/payment/state.ts',
    search: "payment.facts.state === 'accepted' && payment.facts.batchId === null",
    replace: "['accepted', 'broadcast'].includes(payment.facts.state)",
  },
  {
    file: 'modules/settlement/store/claim.ts',
    search: "decide(facts, { type: 'claimed', batchId }).next.state === 'broadcast'",
    replace: "facts && decide && batchId !== ''",
  },
  {
    file: 'modules/settlement/store/claim.ts',
    search: "where s.state = 'accepted' and s.batch_id is null\n",
    replace: '\n',
  },
];

/** Bugs in claiming, signing and sending, and in what that costs: their tests run on a real Postgres and a real chain. */
export const RELAYER_QUEUE_MUTANTS: readonly Mutant[] = [
  {
    id: 'gas-without-groups',
    rule: 9,
    bug: 'the gas limit counts authorizations and forgets what paying the authors of each group costs',
    edits: [{ file: 'platform/chain/gas/gas.ts', search: 'sum += gas;\n', replace: 'sum += group.authGas;\n' }],
    test: {
      file: 'test/contract/gas-budget.test.ts',
      name: 'a hundred payments for one article of fifty new authors run within',
    },
  },
  {
    id: 'gas-without-bytes',
    rule: 9,
    bug: 'the gas limit forgets that the router copies the call data of a group, so that long signatures revert the batch',
    edits: [{ file: 'platform/chain/gas/gas.ts', search: '    sum += copyGas(group.bytes);\n', replace: '' }],
    test: { file: 'test/contract/gas-budget.test.ts', name: 'a batch as it is planned is mined and moves every good payment' },
  },
  {
    id: 'no-claim-cas',
    rule: 7,
    bug: 'whatever was proposed is claimed, in a batch already or not',
    edits: WITHOUT_CAS,
    test: { file: queue, name: 'of four batches that were proposed with the same payments, one has them' },
  },
  {
    id: 'woken-without-cas',
    rule: 7,
    bug: 'workers that are woken by one payment each claim it',
    edits: WITHOUT_CAS,
    test: { file: woken, name: 'four workers that are woken at once send each payment once' },
  },
  {
    id: 'a-flight-a-wake',
    rule: 10,
    bug: 'each payment that wakes a worker has a flight of its own, however many are under way',
    edits: [
      {
        file: 'modules/settlement/use/batch/flights.ts',
        search: 'if (!runway.inUse && !closed) track',
        replace: 'if (!closed) track',
      },
      {
        file: 'modules/settlement/use/batch/flights.ts',
        search: 'await Promise.race([landing.catch(() => undefined), sleep(GATHER_MS)]);',
        replace: 'await sleep(0);',
      },
    ],
    test: { file: woken, name: 'any number of wakes is one flight at a time' },
  },
  {
    id: 'no-workflow-while-blind',
    rule: 7,
    bug: 'a batch whose first look fails has no workflow',
    edits: [
      {
        file: 'modules/settlement/use/batch/flights.ts',
        search: 'Promise.race([look.catch(() => undefined), sleep(FOLLOW_MS)])',
        replace: 'look',
      },
    ],
    test: { file: woken, name: 'a batch has its workflow soon after it was sent' },
  },
  {
    id: 'signed-again-on-retry',
    rule: 7,
    bug: 'a first activity that runs again does not look for the bytes it stored',
    edits: [
      { file: 'modules/settlement/use/batch/send.ts', search: '  if (earlier) {', replace: "  if (earlier?.batchId === '') {" },
    ],
    test: { file: queue, name: 'a sign activity that is run again, and again at the same time' },
  },
  {
    id: 'new-nonce-on-retry',
    rule: 8,
    bug: 'a replacement takes the next nonce instead of the one it replaces',
    edits: [
      {
        file: 'platform/chain/gas/replacement.ts',
        search: 'nonce: transaction.nonce ?? 0,',
        replace: 'nonce: (transaction.nonce ?? 0) + 1,',
      },
    ],
    test: { file: queue, name: 'stuck fees are raised to what the block asks in one step' },
  },
  {
    id: 'refused-bytes-stay',
    rule: 8,
    bug: 'bytes that every node refuses stay at their nonce, and the queue waits for them',
    edits: [
      {
        file: 'modules/settlement/use/relayer/broadcast.ts',
        search:
          "  if (outcome.kind === 'refused' && last.kind !== 'void') await voidBatch({ deps, network, rpc }, { batch, attempt: last });\n",
        replace: '',
      },
    ],
    test: { file: queue, name: 'bytes that every node refuses for good are voided at their nonce' },
  },
  {
    id: 'lower-nonces-forgotten',
    rule: 8,
    bug: 'a batch goes out without the lower ones of its queue that fell out of the node',
    edits: [
      {
        file: 'modules/settlement/rules/resend.ts',
        search: 'return counts.pending < batch.nonce ?',
        replace: 'return counts.pending < 0n ?',
      },
    ],
    test: { file: queue, name: 'dropped transactions go out again, lowest nonce first' },
  },
  {
    id: 'nonce-before-gas-money',
    rule: 8,
    bug: 'a nonce is taken and bytes are signed without a look at what the relayer has to pay gas with',
    edits: [
      {
        file: 'modules/settlement/use/batch/send.ts',
        search: 'if (balanceWei < needed) {',
        replace: 'if (balanceWei < 0n * needed) {',
      },
    ],
    test: { file: queue, name: 'a relayer without gas money takes no nonce and raises one alert' },
  },
  {
    id: 'reverted-batch-is-judged',
    rule: 8,
    bug: 'a transaction that reverts as a whole fails its payments',
    edits: [
      {
        file: 'modules/settlement/rules/judge.ts',
        search: 'if (carrier.size > 1) return { event: unsent };',
        replace: '',
      },
    ],
    test: { file: node, name: 'a batch that reverts for want of gas fails no payment that the chain would take' },
  },
  {
    id: 'wallet-asked-without-cap',
    rule: 9,
    bug: 'a wallet of code is asked with all the gas there is, and found dear only once it is sent',
    edits: [
      {
        file: 'platform/chain/signature/contractWallet.ts',
        search: ', gas: quantity(transferGas(CONTRACT_AUTH_GAS, data)) });',
        replace: ' });',
      },
    ],
    test: { file: wallets, name: 'an ERC-1271 wallet pays in batches of its own, one that burns gas is refused' },
  },
  {
    id: 'undeployed-wallet-accepted',
    rule: 9,
    bug: 'a wrapped signature (ERC-6492) is taken for what it wraps',
    edits: [
      {
        file: 'platform/chain/signature/contractWallet.ts',
        search: 'if (payment.erc6492) return',
        replace: "if (payment.signature === '0x') return",
      },
    ],
    test: { file: wallets, name: 'a wallet that is not deployed yet (ERC-6492) is refused' },
  },
  {
    id: 'fickle-wallet-not-struck',
    rule: 19,
    bug: 'a wallet of code that agrees when asked and reverts when it counts gets no strike',
    edits: [
      {
        file: 'modules/settlement/rules/judge.ts',
        search: "if (payerKind === 'plain' || facts.attempts === 0) return { event: unsent, strike: true };",
        replace: "if (payerKind === 'plain' || facts.attempts === 0) return { event: unsent };",
      },
    ],
    test: { file: wallets, name: 'a wallet of code that says yes when asked and no when it counts' },
  },
  {
    id: 'no-gas-budget',
    rule: 19,
    bug: 'a site may use as much gas as it likes',
    edits: [
      {
        file: 'modules/settlement/use/accept/admission.ts',
        search: 'if (budget !== null && facts.gasWeiToday >= budget) {',
        replace: 'if (budget !== null && facts.gasWeiToday < 0n) {',
      },
    ],
    test: { file: limits, name: 'a site that has used its gas of the day is refused' },
  },
  {
    id: 'signature-of-another-digest',
    rule: 7,
    bug: 'a remote signature is used for whatever the transaction wants by then, another nonce included',
    edits: [
      {
        file: 'platform/chain/signature/signer.ts',
        search: 'const signature = made.get(digest);',
        replace: 'const signature = made.get(digest) ?? [...made.values()].at(-1);',
      },
    ],
    test: { file: 'test/fault/kms.test.ts', name: 'a signature made for a nonce that was taken meanwhile' },
  },
  {
    id: 'signed-inside-the-transaction',
    rule: 7,
    bug: 'a key service is asked while the queue is locked',
    edits: [
      {
        file: 'platform/chain/signature/signer.ts',
        search: 'if (!signer.isRemote) return work(signer);',
        replace: 'return work(signer);',
      },
    ],
    test: { file: 'test/fault/kms.test.ts', name: 'a payment settles with bytes that a local key would have signed' },
  },
  {
    id: 'remote-key-not-checked',
    rule: 7,
    bug: 'a signature by another key is taken for one of this key',
    edits: [{ file: 'platform/chain/signature/signer.ts', search: ' !== address) continue;', replace: ' === null) continue;' }],
    test: { file: 'test/fault/kms.test.ts', name: 'no process starts with a key of AWS KMS that cannot sign' },
  },
];
