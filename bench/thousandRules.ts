import { compilePricing } from '../modules/pricing/rules/pricing.ts';
import type { RslContent } from '../modules/pricing/rules/rsl/contents.ts';
import { rslContents, rslDocument } from '../modules/pricing/rules/rsl/contents.ts';
import { rslPaths } from '../modules/pricing/rules/rsl/paths.ts';
import { pricingOf, ruleOf } from '../test/support/rules/arbitrary.ts';
import { alternate } from './harness/alternate.ts';
import type { Turn } from './harness/cpu.ts';
import { LIBRARY, withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure } from './harness/figure.ts';

const RULES = 1_000;
const HOST = 'offers.example';
const SERVER = 'https://svc.example/_svc/olp';

/**
 * `license.xml` of 1,000 rules from its prices to its text, which no site may have: five times as many as may be set. Beside it the same
 * elements put together by a template, with every price known.
 */
export async function thousandRules(quick: boolean): Promise<Figure> {
  const rules = Array.from({ length: RULES }, (_, index) =>
    ruleOf({ id: `rule-${index}`, path: `/articles/section-${index}/*`, effect: { price: '0.002' } }),
  );
  const pricing = compilePricing(pricingOf({ articlePrefixes: ['/articles/'], rules }), 1_000n);
  let atMs = 0;
  // A moment of its own for each, so that nothing is remembered.
  const contentsNow = () => rslContents({ host: HOST, paths: rslPaths(pricing, atMs++), sellsTraining: true });
  const ours = () => rslDocument(contentsNow(), SERVER, 0).length;
  const known = contentsNow();
  if (known.length <= RULES) throw new Error('the document leaves rules out');
  const times = quick ? 2 : 20;
  return makeFigure({
    id: 'offers.license-thousand',
    what: `license.xml of ${RULES} price rules, made once`,
    unit: 'ms',
    referenceName: 'its elements by a template',
    rounds: await alternate({
      rounds: quick ? 1 : 5,
      sides: { ours: () => perDocument(times, ours), reference: () => perDocument(times, () => byTemplate(known).length) },
    }),
    target: null,
    notes: `${ours()} bytes; a site may have 200 rules, and its document is made once for all who ask within 30 s`,
    isDetail: true,
  });
}

function perDocument(times: number, make: () => number): Promise<Turn> {
  return withCpu(LIBRARY, () => {
    const startedAt = performance.now();
    for (let turn = 0; turn < times; turn++) if (make() === 0) throw new Error('no document was made');
    return Promise.resolve({ value: (performance.now() - startedAt) / times, operations: times });
  });
}

function byTemplate(contents: readonly RslContent[]): string {
  const elements = contents.map(({ url, licences }) => {
    const data = JSON.stringify({ x402Version: 2, resource: { url } });
    const all = licences.map(
      ({ terms }) => `    <license>
      <permits type="usage">${terms.join(' ')}</permits>
      <payment type="crawl">
        <amount currency="USD">0.002</amount>
        <accepts type="application/x402+json"><![CDATA[${data}]]></accepts>
      </payment>
    </license>`,
    );
    return `  <content url="${url}" server="${SERVER}" lastmod="1970-01-01T00:00:00Z">\n${all.join('\n')}\n  </content>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<rsl xmlns="https://rslstandard.org/rsl" max-age="1">\n${elements.join('\n')}\n</rsl>\n`;
}
