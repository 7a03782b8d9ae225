import type { Mutant } from './mutant.ts';

const evidence = 'test/fault/evidence.test.ts';
const finality = 'test/fault/finality.test.ts';
const lies = 'test/fault/second-source.test.ts';
const refused = 'test/fault/refused-by-one.test.ts';
const answers = 'test/fault/node-answers.test.ts';
const words = 'test/unit/second-words.test.ts';
const agreedOfNodes = 'test/unit/agreed-check.test.ts';
const compared = 'test/fault/compared-nodes.test.ts';
const compareUrls = 'modules/reconciliation/use/compareUrls.ts';
const readChain = 'modules/reconciliation/use/readChain.ts';
const secondSource = 'modules/settlement/rules/secondSource.ts';
const refusal = 'test/fault/refusal.test.ts';
const flood = 'test/fault/flood.test.ts';
const judge = 'modules/settlement/rules/judge.ts';
const sweep = 'modules/settlement/store/sweep.ts';

/** Bugs between what the chain shows and what is made of it. `judge` itself has every mutant there is in `unit/judge-mutants`. */
export const JUDGING_MUTANTS: readonly Mutant[] = [
  {
    id: 'nobody-else-is-asked',
    rule: 3,
    bug: 'one node of two says that the money went elsewhere, and a paid sale fails',
    edits: [{ file: secondSource, search: 'return paid === null || payment.', replace: 'return paid !== null && payment.' }],
    test: { file: lies, name: 'a node that alters the logs of a receipt' },
  },
  {
    id: 'no-receipt-is-no-word',
    rule: 3,
    bug: 'a node without the receipt contradicts nobody, and what the other one alone shows counts at the safe block',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: ' ? MISSING : null;',
        replace: ' ? null : null;',
      },
    ],
    test: { file: lies, name: 'what one node shows is contradicted' },
  },
  {
    id: 'one-node-says-what-is-safe',
    rule: 3,
    bug: 'the highest safe block counts, whoever shows it',
    edits: [{ file: 'platform/chain/rpc/pool.ts', search: 'return second;', replace: 'return highest;' }],
    test: { file: lies, name: 'safe is what two nodes call safe' },
  },
  {
    id: 'one-node-says-that-it-reverted',
    rule: 3,
    bug: 'one node of two says that our transaction moved nothing, and a paid sale fails',
    edits: [
      {
        file: secondSource,
        search: "return carrier?.fate === 'executed' || carrier?.fate === 'reverted';",
        replace: 'return carrier === undefined;',
      },
    ],
    test: { file: lies, name: 'a node that says our transaction reverted' },
  },
  {
    id: 'one-receipt-fails-a-sale',
    rule: 3,
    bug: 'a sale fails by a receipt that one node alone has, since the other one, asked, has said nothing of it',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'isShown ? words.length : votes.length',
        replace: 'said ? words.length : votes.length',
      },
    ],
    test: { file: lies, name: 'a sale that our transaction did not move' },
  },
  {
    id: 'a-missing-receipt-agrees',
    rule: 3,
    bug: 'a node that never had our transaction agrees with one that made up its revert, and the sale fails at the safe block',
    edits: [
      { file: 'platform/chain/evidence/secondSource.ts', search: "=== 'string' ? vote :", replace: "=== 'string' ? null :" },
    ],
    test: { file: lies, name: 'a transaction of ours that one node made up' },
  },
  {
    id: 'an-unmoved-sale-waits-for-ever',
    rule: 20,
    bug: 'a sale that our transaction did not move waits for a node that is away, past the safe block',
    edits: [
      {
        file: 'modules/settlement/rules/judge.ts',
        search: 'spending === null ? carrier?.blockNumber :',
        replace: 'spending === null ? undefined :',
      },
    ],
    test: { file: lies, name: 'while one node of two gives no receipts' },
  },
  {
    id: 'unreadable-is-late',
    rule: 3,
    bug: 'what a node gives that nobody can read contradicts nothing, and what the liar beside it shows counts at the safe block',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'if (result === UNREADABLE) return UNREADABLE;',
        replace: 'if (result === UNREADABLE) return null;',
      },
    ],
    test: { file: words, name: 'an answer that cannot be read' },
  },
  {
    id: 'one-answer-spoils-all',
    rule: 3,
    bug: 'an answer that nobody can read ends the round in which it is read',
    edits: [
      {
        file: 'platform/chain/rpc/transport.ts',
        search: 'if (!isReadable(method, params, result))',
        replace: 'if (!isReadable(method, params, result) && method.length === 0)',
      },
    ],
    test: { file: answers, name: 'a node that lies of a receipt, and gives no logs' },
  },
  {
    id: 'a-receipt-of-another-hash',
    rule: 3,
    bug: 'a node gives a receipt under a hash that no other can be asked for, and a paid sale fails by its word',
    edits: [
      {
        file: 'platform/chain/rpc/answers.ts',
        search: 'isSame(receipt.transactionHash, hash) && receipt',
        replace: 'receipt',
      },
      { file: 'platform/chain/rpc/answers.ts', search: 'isSame(log.transactionHash, hash) &&', replace: '' },
    ],
    test: { file: answers, name: 'a receipt under the hash of another transaction' },
  },
  {
    id: 'one-of-three-holds-up',
    rule: 20,
    bug: 'one lying node of three holds up what the other two show',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: '  if (agreed) {',
        replace: '  if (agreed && words.every((one) => one === own)) {',
      },
    ],
    test: { file: answers, name: 'of three nodes one lies' },
  },
  {
    id: 'the-first-of-three-counts',
    rule: 3,
    bug: 'two nodes agree against the first, and what the first showed is what counts',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: '...(word !== own && { instead: agreed })',
        replace: '...(word === own && { instead: agreed })',
      },
    ],
    test: { file: answers, name: 'of three nodes one lies' },
  },
  {
    id: 'outvoted-and-not-told',
    rule: 3,
    bug: 'no operator hears of a node that two others contradict',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'const isContradicted = word !== own || words.some((one) => one !== word);',
        replace: 'const isContradicted = word !== own && words.length === 0;',
      },
    ],
    test: { file: answers, name: 'of three nodes one lies' },
  },
  {
    id: 'two-pairs-agree',
    rule: 3,
    bug: 'of two nodes against two those count that come first',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'groups.length === 1 ?',
        replace: 'groups.length > 0 ?',
      },
    ],
    test: { file: words, name: 'what two nodes show counts' },
  },
  {
    id: 'invented-hides-ours',
    rule: 20,
    bug: 'a transaction that one node of three made up keeps ours, which the others have, from being looked at',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'for (const other of besides) {',
        replace: 'for (const other of besides.slice(9)) {',
      },
    ],
    test: { file: words, name: 'a transaction that one node made up' },
  },
  {
    id: 'one-of-three-keeps-it-open',
    rule: 20,
    bug: 'one node of three says that an authorization can still be used, and it never ends',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'if (isOver.filter(Boolean).length >= QUORUM)',
        replace: 'if (!isContradicted && isOver.filter(Boolean).length >= QUORUM)',
      },
    ],
    test: { file: answers, name: 'an authorization ends by the word of two nodes' },
  },
  {
    id: 'late-and-missing',
    rule: 20,
    bug: 'a node that has not come to a block contradicts what stands in it',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'BigInt(head.result) >= safeAt',
        replace: 'BigInt(head.result) >= 0n',
      },
    ],
    test: { file: words, name: 'a node that has come to the safe block' },
  },
  {
    id: 'safe-waits-for-who-stands-still',
    rule: 20,
    bug: 'a second node that stands still keeps the safe block where it stands, and dear sales are charged and never answered',
    edits: [
      {
        file: 'platform/chain/rpc/pool.ts',
        search: 'const shown = timely.flatMap(',
        replace: 'const shown = [...timely, ...this.nodes].flatMap(',
      },
      {
        file: 'platform/chain/rpc/pool.ts',
        search: 'return second;',
        replace: 'return shown.length > 1 ? (shown.at(-1) ?? second) : second;',
      },
    ],
    test: { file: answers, name: 'while the second of two nodes stands still' },
  },
  {
    id: 'late-by-anothers-head',
    rule: 3,
    bug: 'a node whose newest block is old counts as if it were at the present',
    edits: [
      {
        file: 'platform/chain/rpc/choice.ts',
        search: 'headSeconds !== null && headSeconds >= oldestSeconds',
        replace: 'headSeconds !== null',
      },
    ],
    test: { file: 'test/unit/plausible-nodes.test.ts', name: 'a node is late by our clock' },
  },
  {
    id: 'one-word-fails-all',
    rule: 20,
    bug: 'an answer on which its reader fails ends every other node’s word',
    edits: [
      {
        file: 'platform/chain/rpc/quorum.ts',
        search: 'if (!isChainUnavailable(error)) faults.push(error);',
        replace: 'if (!isChainUnavailable(error)) throw error;',
      },
    ],
    test: { file: words, name: 'an answer that a reader fails on' },
  },
  {
    id: 'our-own-fault-is-nobodys-word',
    rule: 20,
    bug: 'a fault of ours, which every answer causes, looks like nodes that are silent',
    edits: [
      { file: 'platform/chain/rpc/quorum.ts', search: 'if (faults.length === asked.length)', replace: 'if (asked.length === 0)' },
    ],
    test: { file: words, name: 'an answer that a reader fails on' },
  },
  {
    id: 'code-sizes-are-refused',
    rule: 15,
    bug: 'a node that refuses to say which accounts have code, or says it of fewer, decides about payers',
    edits: [
      {
        file: 'platform/chain/calls/codeSize.ts',
        search: 'throw isEvmRefusal(error) ? chainUnavailable(rpc.networkId) : error;',
        replace: 'throw error;',
      },
    ],
    test: { file: 'test/unit/node-answers.test.ts', name: 'which accounts have code' },
  },
  {
    id: 'code-sizes-are-cut',
    rule: 15,
    bug: 'accounts that a node leaves out of its answer have no code',
    edits: [
      {
        file: 'platform/chain/calls/codeSize.ts',
        search: 'if (sizes.length !== 2 + WORD_DIGITS * unique.length)',
        replace: 'if (sizes.length < 2)',
      },
    ],
    test: { file: 'test/unit/node-answers.test.ts', name: 'which accounts have code' },
  },
  {
    id: 'one-node-counts',
    rule: 8,
    bug: 'the two rounds that move a nonce are two answers of one node',
    edits: [
      {
        file: 'platform/chain/evidence/states.ts',
        search: "if (hasOthers(rpc)) return countOfTwo(rpc, address, 'safe')",
        replace: "if (address === '0x') return countOfTwo(rpc, address, 'safe')",
      },
    ],
    test: { file: answers, name: 'a count that one node of two shows' },
  },
  {
    id: 'the-highest-count',
    rule: 8,
    bug: 'a new key starts at the highest count that any node shows',
    edits: [
      { file: 'platform/chain/evidence/states.ts', search: 'return counts[1] ?? null;', replace: 'return counts[0] ?? null;' },
    ],
    test: { file: answers, name: 'a new key starts at a count' },
  },
  {
    id: 'one-node-says-since-when',
    rule: 2,
    bug: 'one node of two names a block far above the head, and the log of a sale that a stranger executes is never searched',
    edits: [
      {
        file: 'platform/chain/rpc/rpc.ts',
        search: 'return head < said ? head : said;',
        replace: 'return head < said ? said : head;',
      },
    ],
    test: { file: lies, name: 'a node that names a block far above the head' },
  },
  {
    id: 'one-node-refuses-a-batch',
    rule: 3,
    bug: 'one node of two refuses a payment that was taken in, and it fails',
    edits: [
      {
        file: 'platform/chain/rpc/quorum.ts',
        search: 'if (!hasOthers(rpc) || !first.some(isRefusal)) return first.map((answer) => [answer]);',
        replace: 'if (first.length >= 0) return first.map((answer) => [answer, answer]);',
      },
    ],
    test: { file: refused, name: 'a node that refuses a transfer and shows no money' },
  },
  {
    id: 'one-refusal-is-two',
    rule: 3,
    bug: 'one node refuses a payment, another takes it, and it fails',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'refused.length >= QUORUM',
        replace: 'refused.length >= 1',
      },
    ],
    test: { file: refused, name: 'a node that refuses a transfer and shows no money' },
  },
  {
    id: 'a-refusal-alone-counts',
    rule: 3,
    bug: 'a payment fails by the word of the only node that answers, of two',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'isUsed ?? { ...first, outcome: { kind: UNCONFIRMED } };',
        replace: 'isUsed ?? first;',
      },
    ],
    test: { file: refused, name: 'a payer whose money has left' },
  },
  {
    id: 'used-by-one-holds-up',
    rule: 20,
    bug: 'one node of two calls the nonce of an accepted payment used, and it is never sent',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'return isRefused(check) || check.nonceUsed;',
        replace: 'return isRefused(check);',
      },
    ],
    test: { file: refused, name: 'a node that calls the nonce of an accepted payment used' },
  },
  {
    id: 'executed-and-unconfirmed',
    rule: 20,
    bug: 'a payment that a stranger executed waits for a second node, and its page with it',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'passed ?? isUsed ?? {',
        replace: 'passed ?? {',
      },
    ],
    test: { file: refused, name: 'an accepted payment that a stranger executes' },
  },
  {
    id: 'two-different-noes-are-two',
    rule: 3,
    bug: 'a node executes an authorization and says that there is no money, another calls the nonce used, and a paid sale fails',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'if (used.length === 0 && !first.nonceUsed && refused.length >= QUORUM)',
        replace: 'if (used.length + refused.length >= QUORUM && refused[0])',
      },
    ],
    test: { file: refused, name: 'a node that executes an authorization itself' },
  },
  {
    id: 'refusals-wait-for-nobody',
    rule: 3,
    bug: 'a lying node and one that is a block late refuse a payment, and the third, which shows its nonce used, is not waited for',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'return used >= QUORUM || passed >= QUORUM;',
        replace: 'return used >= QUORUM || answers.length >= QUORUM;',
      },
    ],
    test: { file: agreedOfNodes, name: 'nodes that are silent are waited for' },
  },
  {
    id: 'the-first-url-names-the-reason',
    rule: 3,
    bug: 'of nodes that refuse for different reasons the first URL names the one that the buyer is told',
    edits: [
      {
        file: 'platform/chain/precheck.ts',
        search: 'return agreed ?? (refused[0] &&',
        replace: 'return refused[0] ?? agreed ?? (refused[0] &&',
      },
    ],
    test: { file: agreedOfNodes, name: 'a payment is refused for the reason' },
  },
  {
    id: 'a-revert-is-no-word',
    rule: 20,
    bug: 'a wallet of code that reverts at every node waits for a second word until its time is over',
    edits: [
      {
        file: 'platform/chain/rpc/quorum.ts',
        search: 'error instanceof RpcError && !isEvmRefusal(error)',
        replace: 'error instanceof RpcError',
      },
    ],
    test: { file: refused, name: 'a wallet of code is refused by two nodes' },
  },
  {
    id: 'one-node-marks-a-split',
    rule: 18,
    bug: 'one node of two says that a split cannot be paid out, and its pages are offered no more',
    edits: [
      {
        file: 'platform/chain/router/payees.ts',
        search: "({ kind }) => kind === 'payee_reverts'",
        replace: "({ kind }) => kind === 'unknown'",
      },
    ],
    test: { file: refused, name: 'a node that says authors cannot be paid' },
  },
  {
    id: 'one-refusal-marks-a-split',
    rule: 18,
    bug: 'one node of two says that a split cannot be paid out, the other pays it, and it is marked all the same',
    edits: [{ file: 'platform/chain/rpc/quorum.ts', search: 'refusals.length >= QUORUM', replace: 'refusals.length >= 1' }],
    test: { file: refused, name: 'a node that says authors cannot be paid' },
  },
  {
    id: 'one-node-blocks-a-wallet',
    rule: 18,
    bug: 'one node of two says that the token refuses a wallet, and its pages are offered no more',
    edits: [
      {
        file: 'platform/chain/router/payees.ts',
        search: '(isRefused) => isRefused, ask',
        replace: '() => false, ask',
      },
    ],
    test: { file: refused, name: 'a wallet is blocked where two nodes' },
  },
  {
    id: 'an-unconfirmed-author-is-paid',
    rule: 18,
    bug: 'a sale goes out to an author whom the only node that answers calls blocked',
    edits: [
      {
        file: 'modules/settlement/use/batch/simulate.ts',
        search: "if (!isOther && groups.includes('unconfirmed')) return 'unconfirmed';",
        replace: '',
      },
    ],
    test: { file: refused, name: 'a node that says authors cannot be paid' },
  },
  {
    id: 'one-node-marks-a-flush',
    rule: 18,
    bug: 'one node of two says that a split cannot be paid out, and it is marked',
    edits: [
      {
        file: 'modules/settlement/use/relayer/flush.ts',
        search: '({ revert }) => revert !== null, ask',
        replace: '() => false, ask',
      },
    ],
    test: { file: refused, name: 'a node that says a split cannot be paid out' },
  },
  {
    id: 'one-node-calls-a-nonce-used',
    rule: 3,
    bug: 'one node of two calls the nonce of a new payment used, and it is refused',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'if (!own && hasOthers(rpc)) {',
        replace: 'if (own && hasOthers(rpc)) {',
      },
    ],
    test: { file: refused, name: 'a nonce is used before its payment by the word of two nodes' },
  },
  {
    id: 'a-nonce-at-odds-is-unused',
    rule: 2,
    bug: 'a nonce that one node calls used and another unused is taken for unused: calldata of another sale buys a page',
    edits: [
      {
        file: 'modules/settlement/use/accept/intake.ts',
        search: 'isDecided(used, words.length)',
        replace: 'words.length > used',
      },
    ],
    test: { file: refused, name: 'a nonce is used before its payment by the word of two nodes' },
  },
  {
    id: 'one-node-confirms-what-is-paid',
    rule: 12,
    bug: 'one node of two confirms a stranger’s signature over a payment that settled, and he has its page',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'if (request.payment.signature !== known.signature) {',
        replace: 'if (request.payment.signature === known.signature) {',
      },
    ],
    test: { file: refused, name: 'who shows a paid payment under a signature of his own' },
  },
  {
    id: 'one-yes-confirms-what-is-paid',
    rule: 12,
    bug: 'one node confirms a stranger’s signature over a payment that settled, the other denies it, and he has its page',
    edits: [
      {
        file: 'platform/chain/signature/contractWallet.ts',
        search: 'confirmed.length >= QUORUM',
        replace: 'confirmed.length >= 1',
      },
    ],
    test: { file: refused, name: 'who shows a paid payment under a signature of his own' },
  },
  {
    id: 'one-node-ends-an-authorization',
    rule: 3,
    bug: 'one node of two says that an authorization is unused past its end, and a paid sale expires unwatched',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: '!hasOthers(rpc) || asks.length === 0',
        replace: 'asks !== null',
      },
    ],
    test: { file: lies, name: 'a node that calls a used authorization unused' },
  },
  {
    id: 'the-clock-of-one-node',
    rule: 3,
    bug: 'one node of two says what time it is at the safe block, and an authorization ends while it is good',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: ' && timeSeconds > (ask.validBefore ?? 0n)',
        replace: '',
      },
    ],
    test: { file: lies, name: 'a node whose clock is a day ahead' },
  },
  {
    id: 'one-answer-ends-an-authorization',
    rule: 3,
    bug: 'the second of two nodes is away, and the first says alone that an authorization ended unused',
    edits: [
      {
        file: 'platform/chain/evidence/secondSource.ts',
        search: 'isOver.filter(Boolean).length >= QUORUM',
        replace: 'isOver.filter(Boolean).length >= 1',
      },
    ],
    test: { file: lies, name: 'while the second node is away' },
  },
  {
    id: 'highest-head-owns-the-present',
    rule: 15,
    bug: 'a node that says the chain is a thousand blocks longer answers alone whether buyers have money',
    edits: [
      {
        file: 'platform/chain/rpc/choice.ts',
        search: 'return nodes.filter((node) => !isRefuted(node));',
        replace: 'return isRefuted && nodes;',
      },
    ],
    test: { file: 'test/integration/chain-nodes.test.ts', name: 'two nodes whose heads are a thousand blocks apart' },
  },
  {
    id: 'who-is-ahead-is-asked-alone',
    rule: 3,
    bug: 'a node that says the chain is thirty blocks longer is the only one asked for a second word, and no two ever agree',
    edits: [
      {
        file: 'platform/chain/rpc/choice.ts',
        search: "question === 'second' ? supportedHead(plausible) : bestHead(",
        replace: 'bestHead(',
      },
    ],
    test: { file: 'test/unit/plausible-nodes.test.ts', name: 'a second word is asked of all' },
  },
  {
    id: 'late-network-has-one-node',
    rule: 3,
    bug: 'a network that was silent at the start forgets that it has a second node, and the first decides alone from then on',
    edits: [
      {
        file: 'process/networks.ts',
        search: '    ...rpc,',
        replace: '    networkId: rpc.networkId,\n    close: () => rpc.close(),',
      },
    ],
    test: { file: 'test/integration/chain-nodes.test.ts', name: 'a network without a node keeps no other from starting' },
  },
  {
    id: 'one-node-takes-back',
    rule: 5,
    bug: 'one node of two says that the proof of a sale is gone, and it is taken back',
    edits: [
      {
        file: secondSource,
        search: 'if (isSettled(state)) return paid === null || evidence === null || !isSameEvidence(evidence, paid.transfer);',
        replace: 'if (isSettled(state)) return false;',
      },
    ],
    test: { file: lies, name: 'a node that alters the logs of what proved a sale' },
  },
  {
    id: 'one-node-settles-a-dollar',
    rule: 1,
    bug: 'one node of two says that a dear sale was paid, and its page is given',
    edits: [{ file: secondSource, search: 'payment.amountMicro >= fromMicro', replace: 'false' }],
    test: { file: lies, name: 'a sale of one dollar' },
  },
  {
    id: 'a-contradiction-is-left-alone',
    rule: 3,
    bug: 'a transfer is stored that pays a failed payment, and nothing looks at it again',
    edits: [
      {
        file: 'modules/settlement/rules/machine.ts',
        search: '!isSettled(facts.state) && !facts.watched ?',
        replace: 'facts.watched && !facts.watched ?',
      },
    ],
    test: { file: lies, name: 'a stored transfer of a payment that a lie made failed' },
  },
  {
    id: 'marked-before-doubted',
    rule: 3,
    bug: 'the mark moves on before what the transfers contradict is doubted, and a process that dies between doubts it never',
    edits: [
      {
        file: readChain,
        search: '  const { read, vanished, isAgain } = await storeRange(',
        replace:
          '  const early = lower(range.toBlock, safe) + 1n;\n' +
          '  await moveCursor(deps.database, { network: networkId, nextBlock: early, safeBlock: safe, latest, firstCompared: early });\n' +
          '  const { read, vanished, isAgain } = await storeRange(',
      },
    ],
    test: { file: lies, name: 'a reconciler that dies with the transfer stored' },
  },
  {
    id: 'one-node-moves-the-mark',
    rule: 3,
    bug: 'a mark that a lie has put beyond the chain stays there, and the blocks between are never read',
    edits: [
      {
        file: 'modules/reconciliation/store/chainRounds.ts',
        search: '::bigint + 1 then excluded.next_block',
        replace: '::bigint + 100000 then excluded.next_block',
      },
    ],
    test: { file: lies, name: 'a node whose head is a thousand blocks too high' },
  },
  {
    id: 'a-difference-is-passed',
    rule: 10,
    bug: 'a node leaves out a transfer that the other one shows, and the mark passes it for good',
    edits: [{ file: compareUrls, search: 'groups.length === 1 ?', replace: 'groups.length > 0 ?' }],
    test: { file: compared, name: 'where the first of two nodes leaves out transfers' },
  },
  {
    id: 'one-url-compares',
    rule: 10,
    bug: 'while one of two nodes is away, what the other one shows counts as compared',
    edits: [
      { file: compareUrls, search: 'reaching.length < 2', replace: 'reaching.length < 1' },
      { file: compareUrls, search: 'shown.length < 2', replace: 'shown.length < 1' },
    ],
    test: { file: compared, name: 'while one of two nodes is away' },
  },
  {
    id: 'compared-and-not-stored',
    rule: 10,
    bug: 'the mark passes transfers that all nodes show and whose receipts, altered, keep them from being stored',
    edits: [{ file: compareUrls, search: '(await findChanged(deps, range, logs)).changed.size === 0', replace: 'findChanged' }],
    test: { file: compared, name: 'no mark passes transfers whose receipts' },
  },
  {
    id: 'compared-before-it-is-read-again',
    rule: 10,
    bug: 'blocks that later rounds read again by one node count as compared before that',
    edits: [{ file: readChain, search: 'end: nextBlock - OVERLAP_BLOCKS', replace: 'end: nextBlock' }],
    test: { file: compared, name: 'where the second of two nodes leaves out transfers' },
  },
  {
    id: 'left-alone-with-a-gap',
    rule: 10,
    bug: 'a lying URL is taken out of the configuration, and what it hid is never read',
    edits: [{ file: readChain, search: 'hasOthers(rpc) ? read :', replace: 'hasOthers(rpc) || read ? read :' }],
    test: { file: compared, name: 'a node that is alone' },
  },
  {
    id: 'corrected-before-compared',
    rule: 4,
    bug: 'legs are corrected by flushes of blocks that one of two nodes alone has shown',
    edits: [{ file: 'modules/reconciliation/store/corrections.ts', search: ', compared_block - 1)`', replace: ')`' }],
    test: { file: 'test/fault/payouts.test.ts', name: 'a flush is looked at again' },
  },
  {
    id: 'sent-to-one-node',
    rule: 8,
    bug: 'a node that takes transactions and drops them is the only one that is sent any',
    edits: [
      {
        file: 'platform/chain/rpc/rpc.ts',
        search: 'method === SEND_METHOD ? firstTaken(tries)',
        replace: 'method === SEND_METHOD ? firstAnswer(tries, HEDGE_MS)',
      },
    ],
    test: { file: lies, name: 'what a node takes and drops' },
  },
  {
    id: 'a-missing-receipt-is-a-no',
    rule: 8,
    bug: 'a receipt that the first node does not have is asked of no other',
    edits: [
      {
        file: 'platform/chain/evidence/receipts.ts',
        search: '(await receiptOf(rpc, hash)) ?? (await receiptOfOthers(rpc, hash))',
        replace: 'receiptOf(rpc, hash)',
      },
    ],
    test: { file: lies, name: 'what a node takes and drops' },
  },
  {
    id: 'value-not-compared',
    rule: 1,
    bug: 'a transfer to the agreed address proves the payment, whatever its value',
    edits: [
      {
        file: judge,
        search: 'return spending.to === payment.payTo && spending.valueMicro === payment.amountMicro ? spending : null;',
        replace: 'return spending.to === payment.payTo ? spending : null;',
      },
    ],
    test: { file: evidence, name: 'a nonce signed for the price and again for a micro' },
  },
  {
    id: 'delay-from-the-first-second',
    rule: 10,
    bug: 'a buyer who signs for the least time that is taken in pages an operator',
    edits: [{ file: judge, search: 'acceptedAt.getTime() >= OUR_DELAY_MS', replace: 'acceptedAt.getTime() >= 0' }],
    test: { file: refusal, name: 'a buyer who signs for too short a time' },
  },
  {
    id: 'delay-though-sent',
    rule: 10,
    bug: 'a payment that was sent in vain counts as one that we never sent',
    edits: [{ file: judge, search: '&& facts.attempts === 0 && now', replace: '&& facts.attempts >= 0 && now' }],
    test: { file: refusal, name: 'a buyer who signs for too short a time' },
  },
  {
    id: 'delay-counted-unapplied',
    rule: 10,
    bug: 'each worker that judges a payment counts its delay, whether it decided anything or not',
    edits: [
      {
        file: 'modules/settlement/use/batch/round.ts',
        search: 'for (const { rawReason, frontRun } of applied.changed) {',
        replace: 'for (const { rawReason, frontRun } of occurrences) {',
      },
    ],
    test: { file: refusal, name: 'an authorization that runs out while it waits is refused unsent' },
  },
  {
    id: 'watch-ends-by-our-clock',
    rule: 3,
    bug: 'an authorization is given up when our clock is past its time, although the chain would still take it',
    edits: [
      {
        file: judge,
        search: 'sight.safe.timeSeconds <= validBefore) return null;',
        replace: 'BigInt(now.seconds) <= validBefore) return null;',
      },
    ],
    test: { file: evidence, name: 'a watch ends by the time of the safe block, not by our clock' },
  },
  {
    id: 'log-without-its-receipt',
    rule: 1,
    bug: 'a log is evidence together with a receipt of another block',
    edits: [
      {
        file: 'platform/chain/evidence/sight.ts',
        search: 'if (!log || reader.receipts.get(log.transactionHash)?.receipt.blockHash !== log.blockHash) return [ask, null];',
        replace: 'if (!log) return [ask, null];',
      },
    ],
    test: { file: 'test/integration/chain-evidence.test.ts', name: 'a log whose receipt stands in another block is no evidence' },
  },
  {
    id: 'strike-without-a-decision',
    rule: 19,
    bug: 'every look at a failed item strikes its payer, whether it decided anything or not',
    edits: [
      {
        file: 'modules/settlement/store/applyEvents.ts',
        search: 'const strikes = changes.filter(({ occurrence }) => occurrence.strike);',
        replace:
          'const strikes = occurrences.flatMap((said) => (said.strike ? [{ payment: payments.get(said.paymentId) as Payment }] : []));',
      },
    ],
    test: { file: 'test/fault/wallets.test.ts', name: 'two looks at one batch at the same time strike a payer once' },
  },
  {
    id: 'reverted-alone-goes-again',
    rule: 8,
    bug: 'a payment whose transaction reverted with nothing else in it goes out again, unchanged',
    edits: [{ file: judge, search: 'if (carrier.size > 1) return { event: unsent };', replace: 'return { event: unsent };' }],
    test: {
      file: 'test/fault/node.test.ts',
      name: 'a payment of several authors whose transaction reverts with nothing else in it fails',
    },
  },
  {
    id: 'one-turn-for-all',
    rule: 3,
    bug: 'what bytes of ours carried waits behind every refusal that cost nobody anything',
    edits: [
      {
        file: sweep,
        search: `[turn("watch_side = 'carried'"), turn("watch_side = 'unsent'"), turn(sent)]`,
        replace: '[turn("watch_side is not null"), turn(sent)]',
      },
    ],
    test: { file: flood, name: 'refusals that cost nobody anything keep no sent payment from its turn' },
  },
  {
    id: 'turns-are-sorted',
    rule: 3,
    bug: 'every row that is watched is read and sorted in each sweep',
    edits: [
      {
        file: sweep,
        search: `turn("watch_side = 'carried'")`,
        replace: `turn("coalesce(watch_side, '') = 'carried'")`,
      },
    ],
    test: { file: 'test/integration/watched.test.ts', name: 'what is watched is read in the order of its turns' },
  },
  {
    id: 'fresh-rows-first',
    rule: 3,
    bug: 'rows that were never looked at come before those that wait longest',
    edits: [
      {
        file: sweep,
        search: '      order by coalesce(checked_at, accepted_at) limit $2)`;',
        replace: '      order by checked_at nulls first limit $2)`;',
      },
    ],
    test: { file: flood, name: 'refusals that cost nobody anything keep no sent payment from its turn' },
  },
  {
    id: 'one-receipt-hides-the-others',
    rule: 3,
    bug: 'one authorization that the node gives no logs for keeps the others of its round from being seen',
    edits: [
      {
        file: 'platform/chain/evidence/sight.ts',
        search: 'if (some.length > 1) queue.push(some.slice(0, middle), some.slice(middle));',
        replace: 'if (middle < 0) queue.push(some);',
      },
    ],
    test: {
      file: 'test/fault/node.test.ts',
      name: 'five payments that the node gives no answer for keep the sixth from no round',
    },
  },
  {
    id: 'final-by-most-of-a-batch',
    rule: 3,
    bug: 'a batch is final when some of its payments are',
    edits: [{ file: 'modules/settlement/rules/finality.ts', search: 'settled.every(', replace: 'settled.some(' }],
    test: { file: 'test/unit/finality.test.ts', name: 'a batch is final when each payment that is settled in it' },
  },
  {
    id: 'final-by-former-evidence',
    rule: 3,
    bug: 'evidence that was judged safe stands for the evidence of a payment that moved since',
    edits: [
      {
        file: 'modules/settlement/rules/finality.ts',
        search: 'a !== null && b !== null && isSameEvidence(a, b)',
        replace: 'a !== null && b !== null',
      },
    ],
    test: { file: 'test/unit/finality.test.ts', name: 'evidence that moved since it was judged' },
  },
  {
    id: 'final-again-with-its-batch',
    rule: 5,
    bug: 'what a reorganisation took out of a final batch is final as soon as it settles again',
    edits: [
      {
        file: 'modules/settlement/store/writeStates.ts',
        search: ' or carrier.batch_id is null or carrier.final_at is not null',
        replace: ' or carrier.batch_id is null',
      },
    ],
    test: { file: finality, name: 'what a reorganisation takes out of a final batch' },
  },
  {
    id: 'final-beside-a-settlement',
    rule: 3,
    bug: 'a payment that settles while its batch is made final becomes final unseen',
    edits: [{ file: 'modules/settlement/store/writeStates.ts', search: ' for key share', replace: '' }],
    test: { file: finality, name: 'a payment that settles while its batch is made final' },
  },
  {
    id: 'told-final-with-a-former-batch',
    rule: 5,
    bug: 'whatever is settled in a final batch is told as final, what a reorganisation took out of it and settled anew, too',
    edits: [
      {
        file: 'db/paymentStates.ts',
        search: '(p)} and batch.',
        replace: "(p).split(' and ')[0]} and batch.",
      },
    ],
    test: { file: finality, name: 'what a reorganisation takes out of a final batch' },
  },
  {
    id: 'final-without-its-lock',
    rule: 3,
    bug: 'the sweeper makes a batch final without its lock, while a payment settles in it',
    edits: [{ file: 'modules/settlement/store/sweep.ts', search: 'run(sql, unfinal.forUpdate())', replace: 'run(sql, unfinal)' }],
    test: { file: finality, name: 'a payment that settles while its batch is made final' },
  },
  {
    id: 'one-keeps-its-batch-unfinal',
    rule: 3,
    bug: 'no payment of a batch becomes final before all of it does',
    edits: [
      {
        file: 'modules/settlement/use/watch/watch.ts',
        search: '!final.has(lookup.payment.facts.batchId ?? ',
        replace: 'false && !final.has(lookup.payment.facts.batchId ?? ',
      },
    ],
    test: { file: finality, name: 'evidence that moved keeps its batch open' },
  },
  {
    id: 'steps-without-an-end',
    rule: 3,
    bug: 'a step of the sweeper goes through all it finds, however long that takes',
    edits: [
      {
        file: 'modules/settlement/use/watch/watch.ts',
        search: 'if (budget.isSpent() || failures >= MOST_FAILURES) break;',
        replace: 'if (failures >= MOST_FAILURES) break;',
      },
    ],
    test: { file: flood, name: 'a step whose time is spent stops between two rounds' },
  },
  {
    id: 'moved-without-its-depth',
    rule: 3,
    bug: 'evidence that moved settles a payment which a reorganisation has taken back since, however few blocks stand on it',
    edits: [
      {
        file: 'modules/settlement/rules/machine.ts',
        search: 'return speaksOf(facts, event.from) ? settle(facts, event.transfer) : stay(facts);',
        replace: 'return settle(facts, event.transfer);',
      },
    ],
    test: {
      file: 'test/unit/payment-machine.test.ts',
      name: 'evidence that moved follows only while the evidence it moved from stands',
    },
  },
  {
    id: 'stale-choice-is-claimed',
    rule: 8,
    bug: 'a choice made before its payments went out in vain is claimed after it, the same set once more',
    edits: [
      {
        file: 'modules/kernel/payment/state.ts',
        search: 'return isClaimable(payment) && payment.facts.attempts === chosen?.facts.attempts;',
        replace: 'return isClaimable(payment) && chosen !== undefined;',
      },
    ],
    test: { file: 'test/unit/sending-rules.test.ts', name: 'what was chosen is claimed only as it was chosen' },
  },
  {
    id: 'review-closed-before-safe',
    rule: 3,
    bug: 'a person may close a review whose authorization is unused: the safe block would have decided it',
    edits: [
      {
        file: 'modules/settlement/rules/review.ts',
        search:
          "if (nonce === 'unused') return 'the authorization is unused: it is decided when a safe block has passed its end';",
        replace: '',
      },
    ],
    test: { file: 'test/unit/review.test.ts', name: 'refused by its rail, and unused' },
  },
  {
    id: 'review-closed-unread',
    rule: 3,
    bug: 'a review is closed without reading its evidence again',
    edits: [{ file: 'modules/operations/use/review.ts', search: '  await lookAgain(deps, before);\n', replace: '' }],
    test: {
      file: 'test/integration/facilitator.test.ts',
      name: 'an id that its facilitator never explains is reviewed by a person',
    },
  },
];
