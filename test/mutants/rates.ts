import type { Mutant } from './mutant.ts';

const rates = 'test/unit/rates.test.ts';
const integration = 'test/integration/rates.test.ts';
const heavy = 'test/integration/heavy.test.ts';
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
    id: 'long-bodies-for-a-point',
    rule: 10,
    bug: 'a body of 64 KiB counts no more than an empty one, so that addresses keep a process busy with what it parses',
    edits: [
      {
        file: 'api/handler.ts',
        search: 'return bodyPoints(Math.min(bytes, MAX_DISCARDED_BYTES));',
        replace: 'return 0;',
      },
    ],
    test: { file: integration, name: 'a long body of an address counts by its bytes before it is read, with its length told' },
  },
  {
    id: 'refused-calls-cost',
    rule: 10,
    bug: 'what a key was refused is taken from what its site may do, so that one key locks out all of a site',
    edits: [
      {
        file: 'platform/pacing/rates.ts',
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
        file: 'platform/pacing/rates.ts',
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
    edits: [{ file: 'platform/pacing/rates.ts', search: 'isRight = !isRefusal(error);', replace: '' }],
    test: { file: rates, name: 'wrong credentials count for the address that shows them' },
  },
  {
    id: 'refused-scope-frees-of-the-site',
    rule: 10,
    bug: 'a key that asked first for what it may not counts for itself ever after, and never for its site',
    edits: [
      {
        file: 'platform/pacing/rates.ts',
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
    edits: [{ file: 'platform/pacing/rates.ts', search: "[...holder, ['account_address', address]]", replace: 'holder' }],
    test: { file: rates, name: 'an account counts for the address of each call' },
  },
  {
    id: 'wrong-at-once-is-free',
    rule: 10,
    bug: 'who shows one wrong credential many times at once pays for the first',
    edits: [
      {
        file: 'platform/pacing/rates.ts',
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
    edits: [{ file: 'modules/settlement/use/accept/repeats.ts', search: ' && known.signature === signature', replace: '' }],
    test: { file: repeats, name: 'a payment that was taken in is answered above the rate of its key' },
  },
  {
    id: 'payments-of-another-site-are-let-in',
    rule: 10,
    bug: 'a payment that another site took in is let in above the rate of a key',
    edits: [
      {
        file: 'modules/settlement/use/accept/repeats.ts',
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
        file: 'modules/settlement/use/accept/settle.ts',
        search: '  const signature = await checkSignature(rpc, network, payment, findWithCode);\n',
        replace: '  lookAhead(call, 1n);\n' + '  const signature = await checkSignature(rpc, network, payment, findWithCode);\n',
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
        file: 'platform/pacing/rates.ts',
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
    id: 'refused-together-told-together',
    rule: 10,
    bug: 'connections that were refused together are told together, and call again together',
    edits: [{ file: 'api/held.ts', search: 'HELD_MS + Math.random() * SPREAD_MS', replace: 'HELD_MS' }],
    test: { file: 'test/unit/held-refusals.test.ts', name: 'a refusal is told after half a second and up to a quarter more' },
  },
  {
    id: 'connections-end-before-the-proxy',
    rule: 10,
    bug: 'an idle connection is closed after five seconds, while the proxy sends a call into it',
    edits: [{ file: 'process/api/server.ts', search: '    keepAliveTimeout: KEEP_ALIVE_MS,\n', replace: '' }],
    test: { file: 'test/integration/api-process.test.ts', name: 'a connection without a call stays open longer than the proxy' },
  },
  {
    id: 'reports-without-turns',
    rule: 10,
    bug: 'reports stand in one line, so that whoever asks two hundred stands before everybody else',
    edits: [
      {
        file: 'api/handler.ts',
        search: 'if (!route.isReport) return undefined;',
        replace: 'if (!route.isReport || deps.heavy) return undefined;',
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
        file: 'platform/pacing/remembered.ts',
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
      {
        file: 'api/handler.ts',
        search: '      deps.rates?.count(holderOfKey(caller.key), costOf(route, request));\n',
        replace: '',
      },
    ],
    test: { file: integration, name: 'a quote from memory counts like any other' },
  },
  {
    id: 'one-site-takes-all-exports',
    rule: 10,
    bug: 'one site may hold all places of exports with several keys',
    edits: [{ file: 'platform/pacing/exportSlots.ts', search: '|| ofSite.length >= mostOfSite', replace: '' }],
    test: { file: 'test/unit/export-slots.test.ts', name: 'one site holds half of the places at most' },
  },
  {
    id: 'waiting-files-hold-places',
    rule: 10,
    bug: 'a file that waits for its turn holds a place of the process, so that two sites keep everybody from files',
    edits: [
      {
        file: 'platform/pacing/heavy.ts',
        search: 'const slot = slots.take(asker);',
        replace: 'const slot = slots.take(asker);\n      slot.begin();',
      },
    ],
    test: { file: heavy, name: 'files of two sites that wait for their turns keep no other site from its own' },
  },
  {
    id: 'slow-downloads-keep-their-places',
    rule: 10,
    bug: 'downloads that nobody reads hold all places of the process for ten minutes',
    edits: [
      {
        file: 'platform/pacing/exportSlots.ts',
        search: 'const tookMs = file.pace?.tookMs() ?? 0;',
        replace: 'const tookMs = 0;',
      },
    ],
    test: { file: 'test/unit/export-slots.test.ts', name: 'the client that has read slowest' },
  },
  {
    id: 'two-sites-keep-all-places',
    rule: 10,
    bug: 'two sites that read at leisure and ask again hold all places of the process',
    edits: [{ file: 'platform/pacing/exportSlots.ts', search: 'countOf(tenantId) > 1', replace: 'countOf(tenantId) > 2' }],
    test: { file: 'test/unit/export-slots.test.ts', name: 'where all read fast' },
  },
  {
    id: 'lost-places-keep-their-connection',
    rule: 10,
    bug: 'a client whose download lost its place keeps its connection, and may ask for the next',
    edits: [{ file: 'api/handler.ts', search: ', { signal: cut });', replace: ');\n    void cut;' }],
    test: { file: 'test/integration/export-copy.test.ts', name: 'four downloads that nobody reads' },
  },
  {
    id: 'any-download-loses-its-place',
    rule: 10,
    bug: 'whoever asks for a file ends the download of somebody who reads it fast enough',
    edits: [{ file: 'platform/pacing/clientPace.ts', search: 'handedMs = null;', replace: '' }],
    test: { file: 'test/unit/export-slots.test.ts', name: 'a client that reads a MiB in ten seconds keeps its place' },
  },
  {
    id: 'heavy-work-without-a-bound',
    rule: 10,
    bug: 'reports, files, documents and questions of one site run side by side, as many as it asks for',
    edits: [{ file: 'platform/pacing/heavy.ts', search: 'mostOfOne: ofSite,', replace: '' }],
    test: { file: heavy, name: 'while a report of a site is on its way, its question, its file and its document wait' },
  },
  {
    id: 'who-fills-a-line-keeps-it',
    rule: 10,
    bug: 'whoever fills a line that others share keeps everybody else from it',
    edits: [
      {
        file: 'platform/pacing/eviction.ts',
        search: 'if (last === undefined || most.length <= own + 1) return null;',
        replace: 'if (last === undefined || most.length > own) return null;',
      },
    ],
    test: { file: 'test/unit/turns.test.ts', name: 'a line that one of those who share it fills takes in another' },
  },
  {
    id: 'accounts-take-all-questions',
    rule: 10,
    bug: 'buyer accounts, which are free, have all that runs of questions together',
    edits: [{ file: 'platform/pacing/heavy.ts', search: '[kind, ofAccounts(kind)]', replace: '[kind]' }],
    test: { file: heavy, name: 'questions of buyer accounts have half of what runs and a line of their own' },
  },
  {
    id: 'calls-without-an-answer-pile-up',
    rule: 10,
    bug: 'a connection sends calls without waiting until the memory is full',
    edits: [
      { file: 'process/api/calls.ts', search: 'if (connection.unanswered >= MOST_UNANSWERED) socket.destroy();', replace: '' },
    ],
    test: {
      file: 'test/unit/unanswered-calls.test.ts',
      name: 'a connection with more calls than it may have without an answer is cut',
    },
  },
  {
    id: 'answers-nobody-reads-are-kept',
    rule: 10,
    bug: 'an answer whose client never reads it is kept for as long as its connection stays',
    edits: [{ file: 'process/api/server.ts', search: 'server.timeout = stalledMs;', replace: '' }],
    test: { file: 'test/unit/stalled-answers.test.ts', name: 'a client that asks and never reads loses its connection' },
  },
  {
    id: 'who-is-gone-keeps-its-turn',
    rule: 10,
    bug: 'a caller that went away keeps its place in the line, and its work is done for nobody',
    edits: [{ file: 'platform/pacing/fairQueue.ts', search: "gone?.addEventListener('abort', giveUp);", replace: '' }],
    test: { file: heavy, name: 'a caller that goes away gives its place in the line to the next' },
  },
];
