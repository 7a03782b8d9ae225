import type { Mutant } from './mutant.ts';

const settlement = 'test/integration/settlement.test.ts';
const guard = 'test/fault/guard.test.ts';
const payouts = 'test/fault/payouts.test.ts';
const traced = {
  file: 'test/property/reconcile.test.ts',
  name: 'whatever strangers do in one transaction or several, each authorization is traced to the payout that paid it',
};

const refused = { file: payouts, name: 'an author whom the token refuses holds up nobody' };

/** Bugs in what is decided once, what waits for it, and what the legs of it are. */
export const LEDGER_MUTANTS: readonly Mutant[] = [
  {
    id: 'refused-holds-up-all',
    rule: 4,
    bug: 'a split with an author whom the token refuses is left alone for as long as he is refused',
    edits: [
      {
        file: 'modules/settlement/use/relayer/flush.ts',
        search: 'if (isBlocked && split.legWords.length === 1) continue;',
        replace: 'if (isBlocked) continue;',
      },
    ],
    test: refused,
  },
  {
    id: 'waiting-is-paid',
    rule: 4,
    bug: 'a part that waits counts as paid',
    edits: [
      {
        file: 'modules/reconciliation/use/report.ts',
        search: 'if (!isPaidOn(ofPlace, became.txHash)) {',
        replace: 'if (ofPlace.length === 0) {',
      },
    ],
    test: refused,
  },
  {
    id: 'waiting-is-paid-by-what-came-before',
    rule: 4,
    bug: 'a part that waits counts as paid by what its place paid before it came',
    edits: [
      {
        file: 'modules/kernel/money/splitPayouts.ts',
        search: 'transfers.slice(came).some(({ direction',
        replace: 'transfers.some(({ direction',
      },
    ],
    test: { file: payouts, name: 'a part that comes to a place which has paid before is open until the place pays again' },
  },
  {
    id: 'places-without-sellers',
    rule: 4,
    bug: 'nobody looks after the place where a part waits',
    edits: [
      {
        file: 'modules/reconciliation/store/chainRounds.ts',
        search: ".where('payTo', '=', split)",
        replace: ".where('payTo', '=', split).where('network', '<>', network)",
      },
    ],
    test: refused,
  },
  {
    id: 'place-read-from-now-on',
    rule: 10,
    bug: 'what left a place in the blocks in which it was found is never read',
    edits: [
      {
        file: 'modules/reconciliation/use/places.ts',
        search: 'if (isAnyNew) await readSplits(database);\n  return isAnyNew;',
        replace: 'if (isAnyNew) await readSplits(database);\n  return false;',
      },
    ],
    test: { file: payouts, name: 'a stranger who pays out around a refused author' },
  },
  {
    id: 'waiting-is-unexplained',
    rule: 4,
    bug: 'money that went to where an author’s part waits is a payout that no rule explains',
    edits: [{ file: 'modules/kernel/money/splitPayouts.ts', search: 'placeOf.get(refused ?? to)', replace: 'placeOf.get(to)' }],
    test: traced,
  },
  {
    id: 'around-without-its-gas',
    rule: 4,
    bug: 'a flush around refused authors has no room for the gas that each payment must be given',
    edits: [
      {
        file: 'platform/chain/gas/gas.ts',
        search: 'AROUND_LEG_GAS + AROUND_CALL_GAS',
        replace: 'AROUND_LEG_GAS + 0n * AROUND_CALL_GAS',
      },
    ],
    test: { file: 'test/contract/gas-budget.test.ts', name: 'a flush around refused authors runs within its limit' },
  },
  {
    id: 'corrections-untold',
    rule: 4,
    bug: 'what a payout corrects is announced to nobody, so that events by author are not the ledger',
    edits: [
      {
        file: 'modules/reconciliation/store/corrections.ts',
        search: 'from made group by tenant_id, host) as of_host',
        replace: 'from made where false group by tenant_id, host) as of_host',
      },
    ],
    test: { file: settlement, name: 'a reorg takes back what a flush had corrected the legs to' },
  },
  {
    id: 'hashes-decide',
    rule: 14,
    bug: 'two wallets whose hashes are equal are one payer',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
    edits: [{ file: 'db/sameText.ts', search: '(${one} = ${other} and ', replace: '(' }],
    test: { file: 'test/integration/payment-plans.test.ts', name: 'texts with one hash' },
  },
  {
    id: 'finality-decides-again',
    rule: 14,
    bug: 'a settled payment that becomes final counts as decided at that moment',
    edits: [
      {
        file: 'modules/kernel/payment/state.ts',
        search: 'before === next || (isSettled(before) && isSettled(next))',
        replace: 'before === next',
      },
    ],
    test: { file: guard, name: 'finality does not begin the ten seconds of a citation again' },
  },
  {
    id: 'settled-anew-after-a-reorg',
    rule: 14,
    bug: 'the ten seconds of a citation begin again when a reorganisation gives its settlement back',
    edits: [
      {
        file: 'modules/settlement/store/writeStates.ts',
        search: 'settled_at = coalesce(s.settled_at,',
        replace: 'settled_at = coalesce(null,',
      },
    ],
    test: { file: guard, name: 'a settlement that a reorg takes back and that comes again' },
  },
  {
    id: 'held-answered-by-an-older-sale',
    rule: 14,
    bug: 'any sale of the same page answers for a held payment, however long ago it settled',
    edits: [
      {
        file: 'modules/settlement/rules/held.ts',
        search: '(decidedAtMs ?? 0) >= held.acceptedAtMs',
        replace: '(decidedAtMs ?? 0) > 0',
      },
      {
        file: 'modules/settlement/store/held.ts',
        search: ' and s.decided_at >= ($7::timestamptz[])[sale.position])',
        replace: ' and ($7::timestamptz[])[sale.position] is not null)',
      },
    ],
    test: { file: guard, name: 'a held payment is not answered with a sale that settled before it was accepted' },
  },
  {
    id: 'held-released-by-the-sweeper',
    rule: 14,
    bug: 'the sweeper releases what is held although a sale settled while it waited',
    edits: [
      {
        file: 'modules/settlement/rules/held.ts',
        search: "if (sale) return { kind: 'superseded', successorId: sale.paymentId };",
        replace: '',
      },
    ],
    test: { file: guard, name: 'a held payment is answered with the sale that settled while it waited' },
  },
  {
    id: 'licence-before-its-caller-is-back',
    rule: 13,
    bug: 'a licence is issued with the settlement when nobody waits for it any more: it ends before its caller comes back',
    edits: [
      {
        file: 'modules/settlement/store/writeStates.ts',
        search: 'clock_timestamp() < decided.awaited_until',
        replace: 'decided.awaited_until is not null',
      },
    ],
    test: { file: settlement, name: 'what settles while its caller waits has its licence from its settlement on' },
  },
  {
    id: 'licence-by-a-retired-key',
    rule: 13,
    bug: 'a settlement fixes a licence whose key was retired while its caller waited',
    edits: [
      {
        file: 'modules/settlement/store/writeStates.ts',
        search: 'key.kid = decided.signing_kid and key.retired_at is null',
        replace: 'key.kid = decided.signing_kid',
      },
    ],
    test: { file: settlement, name: 'what settles while its caller waits has its licence from its settlement on' },
  },
  {
    id: 'licence-lost-by-a-decision',
    rule: 13,
    bug: 'a later decision writes over the licence that the settlement fixed',
    edits: [
      {
        file: 'modules/settlement/store/writeStates.ts',
        search: 'licence_jti = coalesce(s.licence_jti, excluded.licence_jti)',
        replace: 'licence_jti = excluded.licence_jti',
      },
    ],
    test: { file: settlement, name: 'what settles while its caller waits has its licence from its settlement on' },
  },
  {
    id: 'test-sale-answers-a-live-one',
    rule: 14,
    bug: 'the guard sees sales of test keys beside live ones, so that a page costs nothing',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: 'join payment_intake as i using (tenant_id, kind, mode, purpose)',
        replace: 'join payment_intake as i using (tenant_id, kind, purpose)',
      },
    ],
    test: { file: guard, name: 'a sale of a test key neither answers nor holds up a live one' },
  },
  {
    id: 'test-payment-is-sent',
    rule: 7,
    bug: 'a batch takes whatever was accepted, test keys too',
    edits: [
      {
        file: 'modules/kernel/payment/state.ts',
        search: "return payment.mode === 'live' && payment.facts.state",
        replace: 'return payment.facts.state',
      },
    ],
    test: { file: guard, name: 'a payment of a test key that waits is not sent' },
  },
  {
    id: 'corrected-by-the-first-legs',
    rule: 5,
    bug: 'a correction takes back the legs of the price, not those that a flush was found to have paid',
    edits: [
      {
        file: 'modules/settlement/store/recordCrossings.ts',
        search: 'jsonb_array_elements(coalesce(standing.legs, payment.legs))',
        replace: 'jsonb_array_elements(payment.legs)',
      },
    ],
    test: {
      file: 'test/integration/settlement.test.ts',
      name: 'a reorg takes back what a flush had corrected the legs to, to the micro',
    },
  },
  {
    id: 'two-payouts-are-one',
    rule: 4,
    bug: 'a flush right behind a group of the same transaction is taken for a part of it',
    edits: [
      {
        file: 'modules/kernel/money/splitPayouts.ts',
        search: 'last.txHash === txHash && place !== 0',
        replace: 'last.txHash === txHash',
      },
    ],
    test: traced,
  },
  {
    id: 'nothing-is-a-payout',
    rule: 4,
    bug: 'a stranger’s transfer of nothing out of a split counts as a payout',
    edits: [{ file: 'modules/kernel/money/splitPayouts.ts', search: 'if (amountMicro === 0n) continue;', replace: '' }],
    test: traced,
  },
  {
    id: 'an-odd-payout-takes-all',
    rule: 4,
    bug: 'a payout that no rule explains takes all that lies at the split',
    edits: [
      {
        file: 'modules/kernel/money/splitPayouts.ts',
        search: 'takeOldest(lying, step.totalMicro);',
        replace: 'lying.length = 0;',
      },
    ],
    test: { file: 'test/property/reconcile.test.ts', name: 'a payout that no rule explains takes the oldest money' },
  },
  {
    id: 'a-flush-loses-micros',
    rule: 4,
    bug: 'what rounding leaves of a flush is nobody’s',
    edits: [{ file: 'modules/kernel/money/splitPayouts.ts', search: 'return floor + 1n;', replace: 'return floor;' }],
    test: traced,
  },
  {
    id: 'unread-gifts-keep-payments-open',
    rule: 4,
    bug: 'a flush that also pays what lay at the split before we knew it is no flush',
    edits: [
      {
        file: 'modules/kernel/money/splitPayouts.ts',
        search: 'unseen < 0n || (unseen > 0n && !isFirst)',
        replace: 'unseen !== 0n || !isFirst',
      },
    ],
    test: { file: payouts, name: 'what lay at a split before we ever heard of it' },
  },
  {
    id: 'judged-by-the-sums-of-a-transaction',
    rule: 4,
    bug: 'a payment counts as paid out when its transaction paid as much before it came in',
    edits: [
      { file: 'modules/reconciliation/store/legReport.ts', search: 'when is_plain and paid_micro', replace: 'when paid_micro' },
    ],
    test: { file: payouts, name: 'a payment that came in behind a flush of the same amount' },
  },
  {
    id: 'a-flush-of-what-is-watched-is-forgotten',
    rule: 4,
    bug: 'a flush is done with although a payment it paid may still be recorded',
    edits: [
      {
        file: 'modules/reconciliation/use/corrections.ts',
        search: 'if (payment?.watched && block <= doneUpTo)',
        replace: "if (payment?.state === 'settled' && block <= doneUpTo)",
      },
    ],
    test: { file: payouts, name: 'a flush is looked at again while its payment may still be recorded' },
  },
  {
    id: 'flushes-of-unread-blocks-are-done',
    rule: 4,
    bug: 'while the reconciler is behind, flushes in blocks it has not read count as taken over',
    edits: [
      {
        file: 'modules/reconciliation/store/corrections.ts',
        search: 'least(safe_block, next_block - 1, compared_block - 1)',
        replace: 'least(safe_block, compared_block - 1)',
      },
    ],
    test: { file: payouts, name: 'a flush is looked at again while its payment may still be recorded' },
  },
  {
    id: 'authorization-of-any-token',
    rule: 1,
    bug: 'an authorization of another token under the same nonce counts as one that was sold with already',
    edits: [
      {
        file: 'db/migrations/0007_settlement.sql',
        search: "network || ' ' || asset || ' ' || payer || ' ' || nonce, 'UTF8'",
        replace: "network || ' ' || payer || ' ' || nonce, 'UTF8'",
      },
    ],
    test: { file: 'test/integration/intake.test.ts', name: 'an authorization is claimed once' },
  },
  {
    id: 'authorization-of-any-payer',
    rule: 1,
    bug: 'who signs with the nonce of another payer finds the payment of that one',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: 'authorization_digest(asked.network, asked.asset, asked.payer, asked.nonce)',
        replace:
          '(select digest from authorization_claim join payment_intake as p using (payment_id) where p.nonce = asked.nonce)',
      },
    ],
    test: { file: 'test/integration/intake.test.ts', name: 'an authorization is claimed once' },
  },
  {
    id: 'flush-finds-no-payment',
    rule: 4,
    bug: 'what a flush paid is not found by the authorization that brought the money in',
    edits: [
      {
        file: 'modules/reconciliation/store/corrections.ts',
        search: 'authorization_digest(used.network, used.token, used.from_address, used.nonce)',
        replace: 'authorization_digest(used.network, used.from_address, used.token, used.nonce)',
      },
    ],
    test: { file: payouts, name: 'a flush is looked at again while its payment may still be recorded' },
  },
  {
    id: 'terms-of-another-site',
    rule: 25,
    bug: 'a payment that another site took in is judged by that site’s prices of that time',
    edits: [
      {
        file: 'modules/settlement/use/accept/verify.ts',
        search: 'known?.tenantId === tenant.tenantId ? known : null',
        replace: 'known',
      },
    ],
    test: {
      file: 'test/integration/api-verify.test.ts',
      name: 'an authorization that another site took in does not lend its time and its terms',
    },
  },
  {
    id: 'user-agents-at-once',
    rule: 22,
    bug: 'User-Agents are taken out before their time',
    edits: [
      {
        file: 'modules/operations/use/retention.ts',
        search: 'retention.userAgents * DAY_MS',
        replace: 'retention.userAgents * HOUR_MS',
      },
    ],
    test: { file: 'test/integration/retention.test.ts', name: 'User-Agents are taken out after their time' },
  },
  {
    id: 'erased-in-part',
    rule: 22,
    bug: 'the audit log goes on to name an erased author',
    edits: [
      {
        file: 'modules/tenants/store/erasure.ts',
        search: `erase_member_from_audit_log(\${tenantId}, \${authorId})`,
        replace: 'array[]::text[]',
      },
    ],
    test: { file: 'test/integration/erasure.test.ts', name: 'an erased author is nowhere any more' },
  },
  {
    id: 'outbox-list-is-cut',
    rule: 5,
    bug: 'what of a list of the outbox does not fit into an event is lost',
    edits: [{ file: 'modules/webhooks/store/events.ts', search: 'where cardinality(rest) > 0', replace: 'where false' }],
    test: { file: 'test/integration/webhook-events.test.ts', name: 'more than a thousand crossings of one window' },
  },
];
