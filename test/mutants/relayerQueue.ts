import type { Mutant } from './mutant.ts';

const queue = 'test/fault/relayer-queue.test.ts';
const woken = 'test/fault/woken.test.ts';
const finality = 'test/fault/finality.test.ts';
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
    bug: 'whatever was chosen is claimed, in a batch already or not',
    edits: WITHOUT_CAS,
    test: { file: queue, name: 'of four flights that take off at once, one has the payment' },
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
        search: 'if (runway.inUse || closed) return;',
        replace: 'if (closed) return;',
      },
      {
        file: 'modules/settlement/use/batch/flights.ts',
        search: 'await Promise.race([landed, sleep(GATHER_MS)]);',
        replace: 'await sleep(0);',
      },
    ],
    test: { file: woken, name: 'any number of wakes is one flight at a time' },
  },
  {
    id: 'no-workflow-while-blind',
    rule: 7,
    bug: 'a batch whose bytes no node takes has no workflow',
    edits: [
      {
        file: 'modules/settlement/use/batch/send.ts',
        search:
          '  under.onClaimed?.(carried);\n  const [attempt] = carried.attempts;\n  const { noted } = await sendSigned(call, { ...carried, attempt }, claimed.pending);\n',
        replace:
          '  const [attempt] = carried.attempts;\n  const { noted } = await sendSigned(call, { ...carried, attempt }, claimed.pending);\n  under.onClaimed?.(carried);\n',
      },
    ],
    test: { file: woken, name: 'a batch has its workflow as soon as it is claimed' },
  },
  {
    id: 'unannounced-again',
    rule: 7,
    bug: 'workers are not told of what a batch carried in vain',
    edits: [
      {
        file: 'modules/settlement/store/writeStates.ts',
        search: "next.state === 'accepted' ? [payment.network] : []",
        replace: "next.state === 'accepted' && payment.network === '' ? [payment.network] : []",
      },
    ],
    test: { file: woken, name: 'what a batch carried in vain goes out again by the announcement' },
  },
  {
    id: 'left-untold',
    rule: 7,
    bug: 'what no worker took wakes nobody',
    edits: [{ file: 'activities/settlement.ts', search: 'if (found.isUntaken) flights', replace: 'if (found.isIdle) flights' }],
    test: { file: woken, name: 'a payment that no worker took is sent by the worker that sweeps' },
  },
  {
    id: 'gives-up-in-an-outage',
    rule: 7,
    bug: 'a flight that found no node is not repeated',
    edits: [
      {
        file: 'modules/settlement/use/batch/flights.ts',
        search: '      again(networkId, runway);\n    } finally',
        replace: '    } finally',
      },
    ],
    test: { file: woken, name: 'a flight that finds every node away is repeated' },
  },
  {
    id: 'orphan-batch-stays',
    rule: 7,
    bug: 'a batch whose workflow was never started gets none',
    edits: [
      {
        file: 'modules/settlement/store/sweep.ts',
        search: "'heldUntil', '<=', text<Date>`now() + ",
        replace: "'heldUntil', '<=', text<Date>`now() - interval '1 hour' - ",
      },
    ],
    test: { file: woken, name: 'a batch that lost its workflow has it again' },
  },
  {
    id: 'final-without-a-workflow',
    rule: 7,
    bug: 'a batch that the sweep ends has no workflow, if none was started before',
    edits: [
      {
        file: 'modules/settlement/use/watch/sweep.ts',
        search:
          '  const left = await listUnheldBatches(deps.database, networkId, UNTIL_FINAL_MS);\n  await sweepNetwork(deps, networkId);\n',
        replace:
          '  await sweepNetwork(deps, networkId);\n  const left = await listUnheldBatches(deps.database, networkId, UNTIL_FINAL_MS);\n',
      },
    ],
    test: { file: woken, name: 'a batch whose process died before it started a workflow' },
  },
  {
    id: 'swept-though-held',
    rule: 7,
    bug: 'the sweeper reads the evidence of batches that their workflows hold',
    edits: [
      {
        file: 'modules/settlement/store/sweep.ts',
        search: "b.kind <> 'flush' and b.held_until <= now() and",
        replace: "b.kind <> 'flush' and",
      },
      {
        file: 'modules/settlement/store/relayer.ts',
        search: "is('heldUntil', '<=', text<Date>`now()`)",
        replace: "is('heldUntil', 'is not', null)",
      },
    ],
    test: { file: finality, name: 'a batch that its workflow holds is left to it by the sweeper' },
  },
  {
    id: 'nobodys-at-its-claim',
    rule: 7,
    bug: 'a batch is held by nobody until its workflow looks at it first',
    edits: [
      {
        file: 'modules/settlement/store/relayer.ts',
        search: 'workflowId === null ? 0 : 5_000',
        replace: 'workflowId === null ? 0 : 0',
      },
    ],
    test: { file: woken, name: 'a batch that lost its workflow has it again' },
  },
  {
    id: 'hold-cut-short',
    rule: 7,
    bug: 'whoever starts the workflow of a batch again holds it for less than that has it held',
    edits: [
      {
        file: 'modules/settlement/store/relayer.ts',
        search: "where('heldUntil', '<', from(forMs))",
        replace: "where('heldUntil', 'is not', null)",
      },
    ],
    test: { file: finality, name: 'no look and no start of its workflow cuts short' },
  },
  {
    id: 'look-ends-the-hold',
    rule: 7,
    bug: 'the sweeper notes its look at a batch over the hold of its workflow',
    edits: [
      { file: 'modules/settlement/store/sweep.ts', search: '`greatest(held_until, now())`', replace: '`now()`' },
      {
        file: 'modules/settlement/store/sweep.ts',
        search: "is('heldUntil', '<', text<Date>`now()`)",
        replace: "is('heldUntil', 'is not', null)",
      },
    ],
    test: { file: finality, name: 'no look and no start of its workflow cuts short' },
  },
  {
    id: 'asleep-through-a-reorg',
    rule: 3,
    bug: 'what a reorganisation took out of a batch whose workflow sleeps is found by that, minutes later',
    edits: [
      {
        file: 'modules/settlement/use/relayer/nonce.ts',
        search: '  await endHolds(deps.database, ref, latestCount);\n',
        replace: '',
      },
    ],
    test: { file: 'test/fault/reorg.test.ts', name: 'a reorg while the workflow of a batch sleeps' },
  },
  {
    id: 'a-timer-a-failure',
    rule: 10,
    bug: 'each failed flight tries again by a timer of its own',
    edits: [
      {
        file: 'modules/settlement/use/batch/flights.ts',
        search: 'if (runway.retry !== null || closed) return;',
        replace: 'if (closed) return;',
      },
    ],
    test: { file: woken, name: 'however many notifications come while every node is away' },
  },
  {
    id: 'start-stops-the-sweep',
    rule: 7,
    bug: 'one workflow that cannot be started leaves all batches behind it without theirs',
    edits: [
      {
        file: 'modules/settlement/use/watch/sweep.ts',
        search: 'STARTED_MS, 0);\n    } catch (error) {\n',
        replace: 'STARTED_MS, 0);\n    } catch (error) {\n      if (error) break;\n',
      },
    ],
    test: { file: woken, name: 'a batch whose workflow cannot be started keeps no other without one' },
  },
  {
    id: 'adopted-for-a-minute-more',
    rule: 7,
    bug: 'a batch whose new workflow is stuck too is left alone for a minute and a half',
    edits: [{ file: 'modules/settlement/use/watch/sweep.ts', search: 'STARTED_MS, 0);', replace: 'STARTED_MS);' }],
    test: { file: woken, name: 'a batch that lost its workflow has it again' },
  },
  {
    id: 'waits-for-a-sweep',
    rule: 10,
    bug: 'nobody comes back for what waits for its payer',
    edits: [
      {
        file: 'modules/settlement/use/batch/send.ts',
        search: "isMore ? 'now' : isHeldBack || !isForAll ? 'later' : 'none'",
        replace: "isMore ? 'now' : !isForAll && isHeldBack ? 'later' : 'none'",
      },
    ],
    test: { file: 'test/fault/fair.test.ts', name: 'what waits for its payer goes out as soon as others' },
  },
  {
    id: 'claimed-and-left',
    rule: 7,
    bug: 'a process leaves a batch that it claimed and could not send, though it has no workflow',
    edits: [
      {
        file: 'modules/settlement/use/batch/landing.ts',
        search: '        sending.resolve({ noted: Promise.resolve() }); // what',
        replace: '        sending.reject(error); // what',
      },
    ],
    test: { file: woken, name: 'a claimed batch whose sending fails is settled by its process' },
  },
  {
    id: 'used-nonce-sent-again',
    rule: 8,
    bug: 'the workflow of a batch whose nonce others used opens it again',
    edits: [
      {
        file: 'modules/settlement/use/batch/batches.ts',
        search: "  if (batch.state === 'safe') return; // whatever used its nonce: its bytes are never wanted again\n",
        replace: '',
      },
    ],
    test: { file: finality, name: 'a batch whose nonce others used stays over' },
  },
  {
    id: 'over-before-the-safe-block',
    rule: 3,
    bug: 'the workflow of a batch ends when its payments are decided, and tells of no reorganisation',
    edits: [
      {
        file: 'workflows/settlePayments.ts',
        search: 'while (!standing.isOver) {',
        replace: 'while (!standing.isOver && standing.open > 0) {',
      },
    ],
    test: {
      file: 'test/workflow/operator-finds.test.ts',
      name: 'a batch stays with its workflow until the safe block',
    },
  },
  {
    id: 'a-look-a-block',
    rule: 20,
    bug: 'where the safe block goes on in steps, a batch that waits for it is looked at with each block',
    edits: [
      {
        file: 'modules/settlement/rules/finality.ts',
        search: 'Math.max(Number(blockNumber - safe), Number(latest - safe) / 4)',
        replace: 'Number(blockNumber - safe)',
      },
    ],
    test: { file: 'test/unit/safe-wait.test.ts', name: 'a batch waits until the safe block should have come to it' },
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
