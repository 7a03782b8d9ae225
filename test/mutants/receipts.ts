import type { Mutant } from './mutant.ts';

const wire = 'test/integration/receipts.test.ts';
const licences = 'test/integration/receipts-licences.test.ts';
const answers = 'test/integration/page-answers.test.ts';
const owed = 'modules/settlement/store/owed.ts';
const records = 'modules/receipts/store/records.ts';
const NOT_SHOWN = 'unknown, malformed, a test key’s, not settled and not shown: one 404';

/** Bugs in what is said about payments to everybody: proof of what was not paid, and records of what nobody was to see. */
export const RECEIPT_MUTANTS: readonly Mutant[] = [
  {
    id: 'receipt-of-a-test-key',
    rule: 7,
    bug: 'whoever has a test key gets signed receipts for nothing',
    edits: [
      {
        file: 'modules/settlement/use/answer/answer.ts',
        search: 'const isSigned = !isMock && holder.x402Version === 2;',
        replace: 'const isSigned = holder.x402Version === 2;',
      },
    ],
    test: { file: wire, name: NOT_SHOWN },
  },
  {
    id: 'record-of-what-is-not-settled',
    rule: 7,
    bug: 'a payment that is not settled has a record',
    edits: [
      {
        file: records,
        search: ' and s.state in (',
        replace: " and 'any' not in (",
      },
    ],
    test: { file: wire, name: NOT_SHOWN },
  },
  {
    id: 'record-though-switched-off',
    rule: 24,
    bug: 'an owner who shows no records shows them',
    edits: [{ file: records, search: ' and tenant.receipts_public', replace: '' }],
    test: { file: wire, name: NOT_SHOWN },
  },
  {
    id: 'receipt-passes-for-a-licence',
    rule: 13,
    bug: 'a receipt is signed as licences are',
    edits: [
      {
        file: 'modules/settlement/use/answer/signReceipt.ts',
        search: 'await signer.sign(kid, payload, {',
        replace: 'await signer.sign(kid, payload, 1 > 0 ? { kid } : {',
      },
    ],
    test: { file: wire, name: 'the stock package finds a receipt' },
  },
  {
    id: 'hash-of-anybody',
    rule: 6,
    bug: 'a site says what another one served',
    edits: [
      {
        file: 'modules/receipts/store/bodies.ts',
        search: 'on s.tenant_id = $1 and s.payment_id = said.payment_id',
        replace: 'on $1::uuid is not null and s.payment_id = said.payment_id',
      },
    ],
    test: { file: wire, name: 'what a site says that it served' },
  },
  {
    id: 'record-with-the-query',
    rule: 22,
    bug: 'what a site put into the query of an address stands in the record for everybody',
    edits: [{ file: 'modules/kernel/receipt.ts', search: "  url.search = '';\n", replace: '' }],
    test: { file: 'test/unit/receipts.test.ts', name: 'everybody sees' },
  },
  {
    id: 'receipt-of-who-did-not-pay',
    rule: 14,
    bug: 'a payment that moved nothing is receipted as if its wallet had made the transaction',
    edits: [
      {
        file: 'modules/settlement/use/answer/answer.ts',
        search: 'network: paid.network, payer: paid.payer, transaction,',
        replace: 'network: paid.network, payer: holder.payer, transaction,',
      },
    ],
    test: { file: licences, name: 'a second wallet of an account that pays for what is held' },
  },
  {
    id: 'repeat-has-no-record',
    rule: 14,
    bug: 'the licence of a payment that moved nothing leads nowhere',
    edits: [
      {
        file: records,
        search: "case when told.state = 'superseded' then told.successor_id else asked.payment_id end",
        replace: 'asked.payment_id',
      },
    ],
    test: { file: licences, name: 'a page paid for again while its licence lives' },
  },
  {
    id: 'any-id-is-a-transaction',
    rule: 1,
    bug: 'a record calls what a facilitator named a transfer by a transaction of the chain',
    edits: [
      {
        file: 'modules/receipts/use/record.ts',
        search: "evidence && settlementRefKind(evidence.txHash, mode) === 'txHash' ? evidence : null",
        replace: "evidence && settlementRefKind(evidence.txHash, mode) !== 'none' ? evidence : null",
      },
    ],
    test: { file: 'test/integration/receipts-facilitator.test.ts', name: 'an id of a facilitator is no transaction' },
  },
  {
    id: 'lost-page-for-anybody',
    rule: 13,
    bug: 'whoever asks for a page that was lost gets it for nothing, whichever page that is',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: "sameText('i.resource_key', 'own.resource_key')",
        replace: "sameText('i.kind', 'own.kind')",
      },
    ],
    test: { file: answers, name: 'other wallets and other pages are not' },
  },
  {
    id: 'lost-page-for-any-wallet',
    rule: 13,
    bug: 'a page that was lost is served again to a wallet that did not pay for it',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: "sameText('i.payer', 'own.payer')",
        replace: "sameText('i.kind', 'own.kind')",
      },
    ],
    test: { file: answers, name: 'other wallets and other pages are not' },
  },
  {
    id: 'lost-page-for-ever',
    rule: 13,
    bug: 'a page that was lost once is served for nothing after the day, too',
    edits: [{ file: owed, search: 'OWED_HOURS} hours', replace: 'OWED_HOURS * 99} hours' }],
    test: { file: answers, name: 'after a day each is paid for' },
  },
  {
    id: 'lost-page-without-count',
    rule: 13,
    bug: 'a page that was lost is served again as often as its payer asks',
    edits: [
      { file: 'modules/settlement/store/intake.ts', search: '        countOwed(sql, decided.flatMap(owedTo)),\n', replace: '' },
    ],
    test: { file: answers, name: 'the sixth is paid for' },
  },
  {
    id: 'every-page-is-lost',
    rule: 13,
    bug: 'what was delivered is served again for a day as if it had been lost',
    edits: [{ file: owed, search: 'and (told.lost_at is not null or told.again_count > 0) and', replace: 'and' }],
    test: { file: answers, name: 'a page is paid for again once its licence has ended' },
  },
  {
    id: 'held-page-is-lost',
    rule: 13,
    bug: 'a buyer who says that he holds the page gets it again for nothing',
    edits: [{ file: owed, search: 'told.held_at is null and ', replace: '' }],
    test: { file: answers, name: 'a page is paid for again once its licence has ended' },
  },
  {
    id: 'lost-page-though-revoked',
    rule: 24,
    bug: 'a revoked licence is issued again under the sale that was lost',
    edits: [{ file: owed, search: 'and denied.jti = its.licence_jti::text', replace: 'and false' }],
    test: { file: answers, name: 'a page is paid for again once its licence has ended' },
  },
  {
    id: 'held-page-by-anybody',
    rule: 25,
    bug: 'a stranger who knows the id says which page the buyer holds',
    edits: [{ file: 'modules/receipts/use/held.ts', search: 'if (!isSigned) {', replace: 'if (!isSigned && 1 < 0) {' }],
    test: { file: answers, name: 'a buyer says which page it holds' },
  },
  {
    id: 'owed-pages-counted-once',
    rule: 13,
    bug: 'of lost pages that are asked for at once the first alone is counted',
    edits: [{ file: 'modules/settlement/store/owed.ts', search: 'inOrder.map(', replace: 'inOrder.slice(0, 1).map(' }],
    test: { file: 'test/integration/page-answers.test.ts', name: 'pages that are asked for at once are counted each' },
  },
  {
    id: 'owed-behind-a-leader',
    rule: 13,
    bug: 'who is owed a page waits behind another payment of his, and pays where that fails',
    edits: [
      {
        file: 'modules/settlement/rules/guard.ts',
        search: 'if (!owed && same.some(isLeading))',
        replace: 'if (same.some(isLeading))',
      },
    ],
    test: { file: 'test/unit/guard.test.ts', name: 'who is owed a page gets it, also while another payment of his is undecided' },
  },
];
