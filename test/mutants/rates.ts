import type { Mutant } from './mutant.ts';

const rates = 'test/unit/rates.test.ts';
const integration = 'test/integration/rates.test.ts';
const repeats = 'test/integration/repeats.test.ts';

/** Bugs around how often one caller may call. */
export const RATE_MUTANTS: readonly Mutant[] = [
  {
    id: 'any-peer-is-believed',
    rule: 10,
    bug: 'X-Forwarded-For is read from whoever sends it, so that each call comes from another address',
    edits: [
      {
        file: 'api/address.ts',
        search: 'ranges.length > 0 && isOurs(peer) ?',
        replace: 'ranges.length >= 0 ?',
      },
    ],
    test: { file: 'test/unit/caller-address.test.ts', name: 'a header of a peer that is no proxy of ours means nothing' },
  },
  {
    id: 'first-of-the-chain-is-believed',
    rule: 10,
    bug: 'the caller is who stands first in the chain, which he wrote himself',
    edits: [{ file: 'api/address.ts', search: 'if (!isOurs(caller)) return origin;', replace: '' }],
    test: { file: 'test/unit/caller-address.test.ts', name: 'behind our proxies the caller is the last address of the chain' },
  },
  {
    id: 'refused-calls-cost',
    rule: 10,
    bug: 'what a key was refused is taken from what its site may do, so that one key locks out all of a site',
    edits: [
      {
        file: 'services/pacing/rates.ts',
        search: 'if (refused.waitMs > 0) {',
        replace: 'for (const { bucket, fullAtMs } of spent) bucket.fullAtMs = fullAtMs;\n    if (refused.waitMs > 0) {',
      },
    ],
    test: { file: rates, name: 'what a key was refused is not counted for its site' },
  },
  {
    id: 'neighbours-lock-out',
    rule: 10,
    bug: 'a key that was let in before pays for what its address gets wrong',
    edits: [
      {
        file: 'services/pacing/rates.ts',
        search: 'const known = this.#holders.get(name);',
        replace: 'const known = null as Holder | null;',
      },
    ],
    test: { file: rates, name: 'a key that was let in goes on, whatever a neighbour of its address gets wrong' },
  },
  {
    id: 'wrong-credentials-are-free',
    rule: 10,
    bug: 'an address may show any number of wrong credentials, each a question to the database',
    edits: [{ file: 'services/pacing/rates.ts', search: 'isRight = !isRefusal(error);', replace: '' }],
    test: { file: rates, name: 'wrong credentials count for the address that shows them' },
  },
  {
    id: 'refused-scope-frees-of-the-site',
    rule: 10,
    bug: 'a key that asked first for what it may not counts for itself ever after, and never for its site',
    edits: [
      {
        file: 'services/pacing/rates.ts',
        search: 'this.#holders.set(name, await holderOf(null, name));',
        replace: "this.#holders.set(name, [['key', name]]);",
      },
    ],
    test: { file: rates, name: 'a key that may not do this counts as the key of its site that it is' },
  },
  {
    id: 'accounts-leave-their-address',
    rule: 10,
    bug: 'what accounts do together at one address has no limit',
    edits: [{ file: 'services/pacing/rates.ts', search: "[...holder, ['account_address', address]]", replace: 'holder' }],
    test: { file: rates, name: 'an account counts for the address of each call' },
  },
  {
    id: 'wrong-at-once-is-free',
    rule: 10,
    bug: 'who shows one wrong credential many times at once pays for the first',
    edits: [
      {
        file: 'services/pacing/rates.ts',
        search: 'const outage = await asking;\n      if (outage) throw outage.error;',
        replace: 'return await letIn();',
      },
    ],
    test: { file: rates, name: 'many calls at once of one wrong credential are as many questions' },
  },
  {
    id: 'a-taken-payment-is-429',
    rule: 10,
    bug: 'a payment that was taken in is refused for the rate of its key: nobody learns what became of it',
    edits: [
      {
        file: 'api/routes/gate/verify.ts',
        search: 'letRepeatIn(deps, caller, ',
        replace: 'letRepeatIn(deps, { ...caller, tenant: { ...caller.tenant, tenantId: "" } }, ',
      },
    ],
    test: { file: repeats, name: 'a payment that was taken in is answered above the rate of its key' },
  },
  {
    id: 'forged-payments-are-let-in',
    rule: 12,
    bug: 'whoever names a payment that was taken in is let in above the rate, whatever he signed',
    edits: [{ file: 'services/settlement/accept/repeats.ts', search: ' && known.signature === signature', replace: '' }],
    test: { file: repeats, name: 'a payment that was taken in is answered above the rate of its key' },
  },
  {
    id: 'payments-of-another-site-are-let-in',
    rule: 10,
    bug: 'a payment that another site took in is let in above the rate of a key',
    edits: [
      {
        file: 'services/settlement/accept/repeats.ts',
        search: 'known?.tenantId === tenant.tenantId && known.signature',
        replace: 'known?.signature',
      },
    ],
    test: { file: repeats, name: 'a payment that was taken in is answered above the rate of its key' },
  },
  {
    id: 'unsigned-payments-are-looked-up',
    rule: 12,
    bug: 'what a new payment needs is read beside the check of its signature, so that invented ones cost database and node',
    edits: [
      {
        file: 'services/settlement/accept/settle.ts',
        search: '  const signature = await checkSignature(rpc, network, payment);\n',
        replace:
          '  lookAhead(deps, request, network, { ...key, plannedGas: 1n });\n' +
          '  const signature = await checkSignature(rpc, network, payment);\n',
      },
    ],
    test: { file: 'test/integration/intake.test.ts', name: 'a signature that is not the payer’s asks for no admission' },
  },
  {
    id: 'repeats-without-a-bound',
    rule: 10,
    bug: 'calls that wait for their turn wait for none',
    edits: [
      {
        file: 'services/pacing/rates.ts',
        search: '    bucket.fullAtMs = fullAtMs;\n    return waitMs;',
        replace: '    return waitMs;',
      },
    ],
    test: { file: rates, name: 'a call that is not refused for its rate waits for its turn' },
  },
  {
    id: 'one-connection-takes-all-places',
    rule: 10,
    bug: 'a connection that does not wait has each of its refusals written, and takes the places of all',
    edits: [{ file: 'api/held.ts', search: 'if (before) {', replace: 'if (before && held < 0) {' }],
    test: { file: 'test/unit/held-refusals.test.ts', name: 'a connection that asks on without waiting is told once' },
  },
  {
    id: 'reports-without-turns',
    rule: 10,
    bug: 'reports stand in one line, so that whoever asks two hundred stands before everybody else',
    edits: [
      {
        file: 'api/handler.ts',
        search: 'route.isReport ? await deps.reportTurns.enter(call.caller.key.tenantId) : undefined',
        replace: 'undefined as (() => void) | undefined',
      },
    ],
    test: { file: integration, name: 'two hundred reports of one site at once do not stand before one of another' },
  },
  {
    id: 'readiness-asked-each-time',
    rule: 10,
    bug: 'each call of /readyz asks database, Temporal and chain',
    edits: [
      {
        file: 'services/pacing/remembered.ts',
        search: 'if (last && clock() - last.endedAtMs < lifeMs) return last.answer;',
        replace: '',
      },
    ],
    test: { file: integration, name: 'two hundred at once that ask whether the process is ready cost one question' },
  },
  {
    id: 'quotes-from-memory-are-free',
    rule: 10,
    bug: 'what is answered from memory is not counted',
    edits: [
      { file: 'api/handler.ts', search: '      deps.rates?.count(holderOfKey(caller.key), costOf(route));\n', replace: '' },
    ],
    test: { file: integration, name: 'a quote from memory counts like any other' },
  },
  {
    id: 'one-site-takes-all-exports',
    rule: 10,
    bug: 'one site may hold all places of exports with several keys',
    edits: [{ file: 'services/reports/exportSlots.ts', search: '|| ofSite.length >= mostOfSite', replace: '' }],
    test: { file: 'test/unit/export-slots.test.ts', name: 'one site holds half of the places at most' },
  },
  {
    id: 'documents-of-one-site-side-by-side',
    rule: 10,
    bug: 'one site may have several documents drawn at once with several keys',
    edits: [{ file: 'services/reports/exportSlots.ts', search: ' || isDrawing', replace: '' }],
    test: { file: 'test/unit/export-slots.test.ts', name: 'a site has one document drawn at a time' },
  },
];
