import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { listPaths } from '../../tools/check/sources.ts';
import { ROOT } from '../../tools/check/tool.ts';

const MOST_FILES = 40;

/**
 * Where a file gets a function of another by its deps, or is woken: `from` calls it as `call` says, and `by` imports it and, but for the API's
 * settlement, whose callers get it by their deps, `from` too.
 */
const HAND_OVERS: readonly { readonly from: string; readonly to: string; readonly by: string; readonly call: RegExp }[] = [
  { from: 'api/handler.ts', to: 'api/routes/gate/verify.ts', by: 'api/app.ts', call: /route\.handle\(/ },
  {
    from: 'services/settlement/accept/verify.ts',
    to: 'services/settlement/accept/settle.ts',
    by: 'process/api/settlement.ts',
    call: /deps\.settle\(/,
  },
  {
    from: 'services/settlement/accept/settle.ts',
    to: 'services/settlement/accept/waiter.ts',
    by: 'process/api/settlement.ts',
    call: /deps\.waiter\.wait\(/,
  },
  {
    from: 'db/settlement/intake.ts',
    to: 'services/settlement/batch/flights.ts',
    by: 'bin/worker.ts',
    call: /pg_notify\(.*\bACCEPTED_CHANNEL\b/s,
  },
];

/** What files of the list load of settlement beside it, and why a reader of one purchase may pass by. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  'calls above their rate, refusals, test keys and lost rows': [
    'domain/payment/firstLook.ts',
    'services/settlement/accept/repeats.ts',
    'services/settlement/answer/note.ts',
    'services/settlement/answer/refuse.ts',
  ],
  'shapes, states and locks that many share': [
    'db/settlement/lock.ts',
    'db/settlement/payment.ts',
    'db/settlement/states.ts',
    'domain/payment/state.ts',
    'services/settlement/answer/receipt.ts',
    'services/settlement/batch/batchItem.ts',
    'services/settlement/deps.ts',
    'services/settlement/starter.ts',
  ],
  'single statements': [
    'db/settlement/announce.ts',
    'db/settlement/attempts.ts',
    'db/settlement/held.ts',
    'db/settlement/relayer.ts',
    'db/settlement/splits.ts',
    'db/settlement/transfers.ts',
    'db/settlement/waiting.ts',
    'services/settlement/batch/transferRows.ts',
  ],
  'limits, order and gas, which decide when and not whether': [
    'domain/payment/carrier.ts',
    'domain/payment/expectedWait.ts',
    'domain/payment/payerLimits.ts',
    'domain/payment/pickBatch.ts',
    'domain/payment/queueRoom.ts',
    'domain/payment/resend.ts',
    'domain/payment/verdicts.ts',
    'services/settlement/relayer/funds.ts',
    'services/settlement/relayer/gasUsage.ts',
  ],
};

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The files of ours whose values a file loads. */
function loadedBy(path: string): string[] {
  const imports = read(path).matchAll(/^(?:import|export)(?! type\b)[^;]*?from '(\.[^']+)'/gm);
  return [...imports].map(([, target = '']) => join(dirname(path), target));
}

/** The table of ARCHITECTURE, one list a process. */
const [api = [], worker = []] = (read('ARCHITECTURE.md').split('### A verify, file by file')[1] ?? '')
  .split('\n### ', 1)
  .flatMap((section) => section.split('| **').slice(1))
  .map((part) => [...part.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = '']) => path));
const all = [...api, ...worker];

function layerOf(path: string): number {
  const folder = path.split('/')[0] ?? '';
  return [['api'], ['services'], ['db', 'chain', 'adapters'], ['domain']].findIndex((layer) => layer.includes(folder));
}

test(`a verify reads from the handler to the ledger in at most ${MOST_FILES} files, each there and named once`, () => {
  expect([api[0], api.at(-1), worker[0], worker.includes('db/settlement/ledger.ts')]).toEqual([
    'api/handler.ts',
    'domain/payment/guard.ts',
    'services/settlement/batch/flights.ts',
    true,
  ]);
  expect(all.length).toBeLessThanOrEqual(MOST_FILES);
  expect(new Set(all).size).toBe(all.length);
  const paths = new Set(listPaths());
  expect(all.filter((path) => !paths.has(path))).toEqual([]);
});

test('in each process the list never goes back up through the layers', () => {
  for (const list of [api, worker]) {
    const layers = list.map(layerOf);
    expect(layers).not.toContain(-1);
    expect(layers).toEqual([...layers].sort());
  }
});

test('each file is loaded by one before it, or handed over by one before it', () => {
  const reached = (path: string, index: number): boolean => {
    const before = all.slice(0, index);
    return (
      before.some((one) => loadedBy(one).includes(path)) ||
      HAND_OVERS.some(({ from, to }) => to === path && before.includes(from))
    );
  };
  expect(all.filter((path, index) => index > 0 && !reached(path, index))).toEqual([]);
});

test.each(HAND_OVERS)('$from hands over to $to, which $by brings together', ({ from, to, by, call }) => {
  expect(read(from)).toMatch(call);
  expect(loadedBy(by)).toContain(to);
  if (by !== 'process/api/settlement.ts') expect(loadedBy(by)).toContain(from);
});

test('whatever the list loads of settlement is on it, or is named as beside it', () => {
  const ofSettlement = /^(services\/settlement|db\/settlement|domain\/payment)\//;
  const loaded = new Set(all.flatMap(loadedBy).filter((path) => ofSettlement.test(path) && !all.includes(path)));
  expect([...loaded].sort()).toEqual(Object.values(BESIDE).flat().sort());
});
