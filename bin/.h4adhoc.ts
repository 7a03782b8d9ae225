import { openWorkshop } from '../test/mutants/workshop.ts';
import { MUTANTS } from '../test/mutants/list.ts';
const of = (id: string) => MUTANTS.find((m) => m.id === id)!;
const tries = [
  { ...of('no-open-purchase-guard'), test: { file: 'test/fault/undecided.test.ts', name: 'an authorization signed anew' } },
  { ...of('foreign-calldata-accepted'), test: { file: 'test/fault/undecided.test.ts', name: 'an authorization that was cancelled before' } },
  { ...of('blocked-author-not-refused'), id: 'mixed: no diagnosis', edits: [{ file: 'services/settlement/confirm.ts', search: "if (!own || (receipt.status === 'reverted' && !(await isLone(deps, batch)))) {", replace: 'if (own || !own) {' }], test: { file: 'test/fault/mixed-batch.test.ts', name: 'of fifty' } },
  { ...of('timeout-is-failed'), test: { file: 'test/fault/undecided.test.ts', name: 'while the receipt is lost' } },
  { id: 'browser', rule: 15, bug: '', edits: [{ file: 'examples/publisher/publisher.ts', search: "x-payment, access-control-expose-headers'", replace: "x-payment'" }], test: { file: 'test/e2e/browser-buyer.test.ts', name: 'a stock v2 client in a web page' } },
];
const shop = await openWorkshop(process.cwd());
for (const one of tries) console.log(one.id, one.test.name, '->', await shop.runWith(one), shop.said().slice(0, 2));
await shop.close();
process.exit(0);
