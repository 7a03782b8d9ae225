import type { Mutant } from './mutant.ts';

const proofs = 'test/integration/page-proofs.test.ts';
const prove = 'modules/settlement/use/reread/prove.ts';
const holding = 'modules/settlement/use/reread/holding.ts';
const purchases = 'modules/settlement/store/purchases.ts';

/** Bugs of wallets that show what they bought. */
export const READ_AGAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'proof-good-twice',
    rule: 24,
    bug: 'what was signed once opens the page as often as it is shown, to whoever saw it on its way',
    edits: [
      {
        file: prove,
        search: 'if (!(await useOnce(',
        replace: 'if (false as boolean && !(await useOnce(',
      },
    ],
    test: { file: proofs, name: 'a message is good for five minutes' },
  },
  {
    id: 'revoked-licence-comes-back',
    rule: 24,
    bug: 'a revoked licence is given to its wallet anew',
    edits: [
      {
        file: purchases,
        search: 'and later.accepted_at >= i.accepted_at)',
        replace: 'and later.accepted_at >= i.accepted_at and false)',
      },
    ],
    test: { file: proofs, name: 'a licence that was revoked never comes back' },
  },
  {
    id: 'unpaid-page-is-opened',
    rule: 7,
    bug: 'a payment that was never settled, or was taken back by the chain, opens its page',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
    edits: [{ file: purchases, search: ' and s.state in (${sqlStates(SETTLED_STATES)})', replace: '' }],
    test: { file: proofs, name: 'a good proof of a wallet that holds nothing here' },
  },
  {
    id: 'page-bought-elsewhere',
    rule: 24,
    bug: 'a purchase at one site opens the page of another that has its host',
    edits: [
      {
        file: purchases,
        search: 'from payment_intake\n  where tenant_id = $1 and',
        replace: 'from payment_intake\n  where $1::uuid is not null and',
      },
    ],
    test: { file: proofs, name: 'a host that changed hands' },
  },
  {
    id: 'test-purchase-opens-live-page',
    rule: 24,
    bug: 'a payment of test mode opens a page for real',
    edits: [{ file: purchases, search: 'and i.mode = $5', replace: 'and $5::text is not null' }],
    test: { file: proofs, name: 'what a site sold opens nothing at another' },
  },
  {
    id: 'wallet-of-code-on-any-chain',
    rule: 24,
    bug: 'whoever has code at an address on one chain reads what its namesake paid for on another',
    edits: [{ file: prove, search: 'network: isKey ? null : deps.rpc.networkId', replace: 'network: null' }],
    test: { file: proofs, name: 'a wallet of code that paid on another chain' },
  },
  {
    id: 'licence-renewed-for-longer',
    rule: 13,
    bug: 'each proof begins the ten minutes of a purchase anew',
    edits: [{ file: holding, search: 'Math.min(nowMs + lifeMs, untilMs)', replace: 'Math.max(nowMs + lifeMs, untilMs)' }],
    test: { file: proofs, name: 'a wallet that bought a page gets its licence anew' },
  },
  {
    id: 'proof-for-any-page',
    rule: 24,
    bug: 'a message for one page is taken at another',
    edits: [
      {
        file: 'modules/identity/rules/pageProof.ts',
        search: ' || resourceKeyOf(named) !== resourceKeyOf(resource)',
        replace: '',
      },
    ],
    test: { file: proofs, name: 'a message for another page' },
  },
  {
    id: 'one-nonce-for-all-readers',
    rule: 14,
    bug: 'whoever gets an offer from memory signs what was signed before, and pays again',
    edits: [{ file: 'packages/publisher/src/answers.ts', search: 'withOwnNonce(quote, header)', replace: 'header' }],
    test: { file: 'test/e2e/read-again.test.ts', name: 'ten fresh clients of one key read at once' },
  },
  {
    id: 'offered-while-a-proof-is-undecided',
    rule: 15,
    bug: 'a wallet that may have bought the page is offered it again when nobody can say',
    edits: [
      {
        file: 'packages/publisher/src/core/decide.ts',
        search: "facts.proof === 'busy' && facts.payment === 'none'",
        replace: "false as boolean && facts.proof === 'busy'",
      },
    ],
    test: {
      file: 'test/unit/publisher/decide.test.ts',
      name: 'a wallet whose proof nobody could look at',
    },
  },
];
