import type { Mutant } from './mutant.ts';

const gas = 'test/fault/gas.test.ts';
const nonce = 'test/fault/relayer-nonce.test.ts';
const unit = 'test/unit/gas-share.test.ts';
const beside = 'in one batch with four sales of fifty authors each a lone sale is charged what it costs alone';
const fees = 'test/fault/fees.test.ts';
const worth = 'a thousandth of a dollar at each of six splits of fifty authors costs no gas';

/** Bugs in what the relayer pays for, whom it is charged to, and what moves its nonce. */
export const GAS_MUTANTS: readonly Mutant[] = [
  {
    id: 'flush-whatever-it-costs',
    rule: 19,
    bug: 'a split is paid out from the lowest price on, however much more its gas is worth',
    edits: [
      {
        file: 'modules/settlement/rules/flush.ts',
        search: 'balanceMicro * COIN_WEI > costWei * nativePriceMicro',
        replace: 'balanceMicro * COIN_WEI > 0n * costWei * nativePriceMicro',
      },
    ],
    test: { file: gas, name: worth },
  },
  {
    id: 'shown-is-remembered',
    rule: 19,
    bug: 'a split is paid out though nobody sells through it: to show a payment of it is enough',
    edits: [
      {
        file: 'modules/settlement/store/splits.ts',
        search: "selectFrom('split_seller as seller')",
        replace: "selectFrom('split as seller')",
      },
      {
        file: 'modules/settlement/use/relayer/flush.ts',
        search: 'if (payers.length === 0 || !(await',
        replace: 'if (!(await',
      },
    ],
    test: { file: gas, name: 'a split that was only shown to us is not ours to pay out' },
  },
  {
    id: 'front-run-split-forgotten',
    rule: 4,
    bug: 'the split of a payment that a stranger settled before we claimed it is never paid out',
    edits: [
      {
        file: 'modules/settlement/store/applyEvents.ts',
        search: '  await rememberSellers(\n    sql,\n    claims.map((c) => c.change.payment),\n  );\n',
        replace: '  rememberSellers.toString();\n',
      },
    ],
    test: { file: gas, name: 'a split that was only shown to us is not ours to pay out' },
  },
  {
    id: 'claimed-split-forgotten',
    rule: 4,
    bug: 'a claim does not remember who sells through the split',
    edits: [
      {
        file: 'modules/settlement/store/claim.ts',
        search: 'await Promise.all([marked.catch(notOpen), rememberSellers(sql, payments)]);',
        replace: 'await Promise.all([marked.catch(notOpen), rememberSellers.toString()]);',
      },
    ],
    test: { file: gas, name: 'a claim remembers who sells through a split, before anything is proven' },
  },
  {
    id: 'flush-without-budget',
    rule: 19,
    bug: 'a site that has used its half of the day goes on paying for flushes',
    edits: [{ file: 'modules/settlement/rules/flush.ts', search: '2n * usedWei < budgetWei', replace: 'usedWei >= 0n' }],
    test: { file: unit, name: 'sites that have used half of their day bear no flush' },
  },
  {
    id: 'flush-charged-to-nobody',
    rule: 19,
    bug: 'a flush is signed without the sites that bear it',
    edits: [
      {
        file: 'modules/settlement/use/relayer/flush.ts',
        search: 'gasShares: flushShares(flushes),',
        replace: 'gasShares: flushShares(flushes.slice(flushes.length)),',
      },
    ],
    test: { file: gas, name: worth },
  },
  {
    id: 'gas-by-headcount',
    rule: 19,
    bug: 'every payment of a batch bears the same gas, whatever it costs',
    edits: [
      {
        file: 'platform/chain/gas/gasShare.ts',
        search: 'together / count + BYTE_GAS * bytesOf(item)',
        replace: '(together > 0n && count > 0n && bytesOf(item) > 0n ? 1n : 0n)',
      },
    ],
    test: { file: gas, name: beside },
  },
  {
    id: 'shares-lose-wei',
    rule: 19,
    bug: 'each share is rounded down by itself, so that they do not add up to what was paid',
    edits: [
      {
        file: 'modules/settlement/rules/gasShare.ts',
        search: 'shares.set(key, upTo - given);',
        replace: 'shares.set(key, given < 0n ? upTo : (totalWei * weight) / sum);',
      },
    ],
    test: { file: unit, name: 'shares of gas follow the weights and add up to the total' },
  },
  {
    id: 'gas-noted-at-every-look',
    rule: 19,
    bug: 'a batch that is looked at again is charged again',
    edits: [
      {
        file: 'modules/settlement/store/gasUsage.ts',
        search: "      .where('gasWei', 'is', null)\n      .forNoKeyUpdate()",
        replace: '      .forNoKeyUpdate()',
      },
    ],
    test: { file: gas, name: 'gas is noted once a batch' },
  },
  {
    id: 'data-fee-forgotten',
    rule: 19,
    bug: 'what the bytes cost on the chain below is charged to nobody',
    edits: [
      {
        file: 'modules/settlement/use/relayer/gasUsage.ts',
        search: 'receipt.effectiveGasPriceWei + receipt.l1FeeWei',
        replace: 'receipt.effectiveGasPriceWei + 0n * receipt.l1FeeWei',
      },
    ],
    test: { file: gas, name: 'the fee of the chain below counts in what is charged' },
  },
  {
    id: 'void-is-charged',
    rule: 19,
    bug: 'a transfer of nothing that voids a batch is charged to its sites, and the sale once more',
    edits: [
      {
        file: 'modules/settlement/use/relayer/gasUsage.ts',
        search: "kind === 'void' ? new Map() : shareGas(charged, weights)",
        replace: 'shareGas(charged, weights)',
      },
    ],
    test: { file: gas, name: 'a void is charged to nobody' },
  },
  {
    id: 'adopts-any-count',
    rule: 8,
    bug: 'a count is adopted however far it is ahead',
    edits: [
      {
        file: 'modules/settlement/rules/relayerNonce.ts',
        search: 'if (safeCount > farthest) return',
        replace: 'if (safeCount < 0n) return',
      },
    ],
    test: { file: nonce, name: 'a count that is wrong in every round moves nothing either' },
  },
  {
    id: 'adopts-at-first-sight',
    rule: 8,
    bug: 'one answer of a node is enough to move the nonce, when it is near',
    edits: [
      {
        file: 'modules/settlement/rules/relayerNonce.ts',
        search: 'if (seenBefore === null || seenBefore <= nextNonce || seenBefore > farthest) return',
        replace: 'if (seenBefore !== null && seenBefore > farthest) return',
      },
      {
        file: 'modules/settlement/rules/relayerNonce.ts',
        search: 'count: seenBefore < safeCount ?',
        replace: 'count: seenBefore !== null && seenBefore < safeCount ?',
      },
    ],
    test: { file: nonce, name: 'one wrong count moves no nonce' },
  },
  {
    id: 'newest-count-not-asked',
    rule: 8,
    bug: 'a count at the safe block counts, though the newest block says less',
    edits: [
      {
        file: 'modules/settlement/rules/relayerNonce.ts',
        search: ' || latestCount < safeCount)',
        replace: ' || latestCount < 0n)',
      },
    ],
    test: { file: unit, name: 'a count that is ahead is believed when two rounds see it near' },
  },
  {
    id: 'doubted-queue-goes-on',
    rule: 8,
    bug: 'a queue whose count is in doubt signs on, and payments use up their attempts at nonces that are gone',
    edits: [
      { file: 'modules/settlement/store/relayer.ts', search: 'if (row.doubted || !queueHasRoom', replace: 'if (!queueHasRoom' },
    ],
    test: { file: nonce, name: 'a count that is wrong in every round moves nothing either' },
  },
  {
    id: 'new-key-believes-one-count',
    rule: 8,
    bug: 'a new key starts at the first count that a node gives',
    edits: [
      { file: 'modules/settlement/use/relayer/nonce.ts', search: 'Math.min(await ask(), await ask())', replace: 'await ask()' },
    ],
    test: { file: nonce, name: 'a new key starts at the lower of two counts' },
  },
  {
    id: 'nonce-set-into-a-gap',
    rule: 8,
    bug: 'a person may set any nonce, also one that leaves a gap or is taken',
    edits: [
      {
        file: 'modules/operations/use/relayerNonce.ts',
        search: 'if (nonce !== before.freeNonce) {',
        replace: 'if (nonce < 0n) {',
      },
    ],
    test: { file: nonce, name: 'a person sets a nonce back' },
  },
  {
    id: 'stranded-bytes-left',
    rule: 8,
    bug: 'the bytes behind a nonce that was set back stay as they are, to be mined once the queue comes there',
    edits: [
      {
        file: 'modules/operations/use/relayerNonce.ts',
        search: '  await voidStored(deps, network, rpc, batch);\n',
        replace: '  await voidStored(deps, network, rpc, { ...batch, batchId: "00000000-0000-7000-8000-000000000000" });\n',
      },
    ],
    test: { file: nonce, name: 'a person sets a nonce back' },
  },
  {
    id: 'held-nonce-taken-again',
    rule: 7,
    bug: 'a queue that was set back does not pass over the nonces that batches hold',
    edits: [
      {
        file: 'modules/settlement/store/relayer.ts',
        search: 'BigInt(one.nonce) === from + BigInt(at)',
        replace: 'BigInt(one.nonce) < from + BigInt(at)',
      },
    ],
    test: {
      file: nonce,
      name: 'with bytes dropped by the node a person sets a nonce back',
    },
  },
  {
    id: 'own-bytes-are-foreign',
    rule: 8,
    bug: 'bytes of ours that are mined behind a nonce that was set back are taken for a use elsewhere',
    edits: [
      {
        file: 'modules/settlement/use/relayer/nonce.ts',
        search: 'safeCount > known.nextNonce ? await passHeldNonces(deps.database, ref) : known.nextNonce',
        replace: 'safeCount < 0n ? await passHeldNonces(deps.database, ref) : known.nextNonce',
      },
    ],
    test: {
      file: nonce,
      name: 'with bytes kept by the node a person sets a nonce back',
    },
  },
  {
    id: 'taken-at-any-base-fee',
    rule: 10,
    bug: 'a payment is taken while the base fee is above what may be offered',
    edits: [
      {
        file: 'modules/settlement/use/rails/rails.ts',
        search: 'baseFeeWei !== null && isFeeAboveCap(network, baseFeeWei) ? tooDear() : null',
        replace: 'baseFeeWei !== null && isFeeAboveCap(network, baseFeeWei) ? null : null',
      },
      { file: 'modules/settlement/use/rails/rails.ts', search: 'function tooDear(', replace: 'export function tooDear(' },
    ],
    test: { file: fees, name: 'while the base fee is above the cap, payments are refused with 503' },
  },
  {
    id: 'signed-at-any-base-fee',
    rule: 8,
    bug: 'a nonce is taken for bytes that no block can take',
    edits: [
      {
        file: 'modules/settlement/use/batch/send.ts',
        search: "if (isFeeAboveCap(network, baseFeeWei)) return 'busy';",
        replace: "if (isFeeAboveCap(network, 0n)) return 'busy';",
      },
    ],
    test: { file: fees, name: 'a payment that was taken before the base fee rose is signed once it has fallen' },
  },
  {
    id: 'worthless-batch-stays',
    rule: 8,
    bug: 'bytes whose payments have all failed keep their nonce, and burn all of their gas once the fee has fallen',
    edits: [
      {
        file: 'modules/settlement/use/batch/confirm.ts',
        search: 'payments.length > 0 && payments.every',
        replace: 'payments.length > 1_000 && payments.every',
      },
    ],
    test: { file: fees, name: 'a batch whose payments have all run out unmined gives its nonce' },
  },
  {
    id: 'network-spends-without-end',
    rule: 19,
    bug: 'the gas of a network has no limit of its own',
    edits: [
      {
        file: 'modules/settlement/use/accept/admission.ts',
        search: 'facts.networkGasWeiToday >= limit',
        replace: 'facts.networkGasWeiToday < 0n * limit',
      },
    ],
    test: { file: fees, name: 'a network that has cost its gas of the day sells no more' },
  },
  {
    id: 'network-gas-not-counted',
    rule: 19,
    bug: 'what a batch cost is not added to the day of its network',
    edits: [
      {
        file: 'modules/settlement/store/gasUsage.ts',
        search: 'text<string>`network_gas_usage.gas_wei + excluded.gas_wei`',
        replace: "'0'",
      },
      {
        file: 'modules/settlement/store/gasUsage.ts',
        search: "gasWei: place('chargedWei') }",
        replace: "gasWei: '0' }",
      },
    ],
    test: { file: fees, name: 'a network that has cost its gas of the day sells no more' },
  },
  {
    id: 'flushed-twice',
    rule: 4,
    bug: 'splits whose flush is on its way are paid for once more',
    edits: [
      {
        file: 'modules/settlement/use/relayer/flush.ts',
        search: 'if (await hasOpenFlush(deps.database, networkId)) return 0;',
        replace: 'await hasOpenFlush(deps.database, networkId);',
      },
    ],
    test: { file: gas, name: 'a round pays out as many splits as a batch has gas for in one transaction' },
  },
  {
    id: 'false-receipt-spends-the-day',
    rule: 19,
    bug: 'what one node says a batch cost is charged as it is said',
    edits: [
      {
        file: 'modules/settlement/use/relayer/gasUsage.ts',
        search: '  const cost = least(told, most);',
        replace: '  const cost = most > 0n ? told : most;',
      },
    ],
    test: { file: 'test/fault/lying-receipts.test.ts', name: 'a node that tells of a fee that nobody signed' },
  },
];
