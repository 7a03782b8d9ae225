import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalXml, printXml } from '../../modules/kernel/xml.ts';
import type { Outcome } from '../../modules/pricing/rules/compiled.ts';
import { NOBODY } from '../../modules/pricing/rules/compiled.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import { RSL_NAMESPACE, rslContents } from '../../modules/pricing/rules/rsl/contents.ts';
import { rslPaths } from '../../modules/pricing/rules/rsl/paths.ts';
import { robotsLines } from '../../modules/pricing/rules/rsl/robots.ts';
import { readXmlElement } from '../../platform/xml.ts';
import { anyAsked, anyPricing, pricingOf } from '../support/rules/arbitrary.ts';
import { areNested, askedFor, rslOf } from '../support/rules/rsl.ts';

const FLOOR = 1_000n;
const USES = ['search', 'ai-index', 'ai-input', 'ai-train'] as const;
const anyQuestion = anyPricing.chain((pricing) =>
  fc.record({ pricing: fc.constant(pricing), asked: anyAsked(pricing), sellsTraining: fc.boolean() }),
);

test('for each use, the document asks for a page what the gate asks an agent that nobody verified', () => {
  fc.assert(
    fc.property(anyQuestion, fc.constantFrom(...USES), ({ pricing, asked, sellsTraining }, use) => {
      const { path, slug, kind, atMs } = asked;
      fc.pre(slug !== null && areNested(pricing));
      const price = compilePricing(pricing, FLOOR).resolve({ ...NOBODY, slug, path, kind, atMs, terms: [use] });
      const told = askedFor(rslOf(compilePricing(pricing, FLOOR), atMs, sellsTraining), { path, kind, use });
      const outcome: Outcome =
        price.kind === 'free' ? 'free' : price.kind === 'refused' ? 'refused' : { priceMicro: price.micro };
      if (use === 'ai-train' && !sellsTraining) expect(told).toBe('refused');
      else expect(told).toEqual(outcome);
    }),
    { numRuns: 600 },
  );
});

test('no line for robots.txt grants a use for which a page costs money or is refused, whoever asks, nor denies one that is free on every page', () => {
  fc.assert(
    fc.property(anyQuestion, fc.constantFrom('search', 'ai-input', 'ai-train'), ({ pricing, asked, sellsTraining }, use) => {
      const { path, slug, kind, operator, category, atMs } = asked;
      fc.pre(slug !== null);
      const compiled = compilePricing(pricing, FLOOR);
      const paths = rslPaths(compiled, atMs);
      const isByAgent = compiled.namedByRules.size > 0;
      const { group } = robotsLines({ documentUrl: 'https://svc.example/license.xml', paths, isByAgent, sellsTraining });
      const said = group.flatMap((line) => /^Content-(?:Usage|Signal): (.*)$/.exec(line)?.[1]?.split(', ') ?? []);
      const price = compiled.resolve({ slug, path, kind, operator, category, atMs, terms: [use] });
      const [grants, denials] = [[`${use}=yes`], [`${use}=no`]];
      if (use !== 'ai-input') grants.push(use === 'search' ? 'search=y' : 'train-ai=y');
      if (use !== 'ai-input') denials.push(use === 'search' ? 'search=n' : 'train-ai=n');
      if (price.kind !== 'free') expect(said.filter((one) => grants.includes(one))).toEqual([]);
      const isAllFree = paths.every(
        ({ outcomeOf }) => outcomeOf('read', use) === 'free' && outcomeOf('citation', use) === 'free',
      );
      if (isAllFree && (use !== 'ai-train' || sellsTraining)) {
        expect(said.filter((one) => denials.includes(one))).toEqual([]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a license is found by any spelling of it, and by no other license of its content', () => {
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked: { atMs }, sellsTraining }) => {
      const contents = rslContents({ host: 'a.example', paths: rslPaths(compilePricing(pricing, FLOOR), atMs), sellsTraining });
      for (const { licences } of contents) {
        const named = licences.map(({ element }) => canonicalXml(element, RSL_NAMESPACE));
        expect(new Set(named).size).toBe(named.length);
        for (const [index, { element }] of licences.entries()) {
          const cut = printXml(element, '    ').replaceAll('\n', '\r\n \t');
          const prefixed = cut
            .replaceAll(/<(\/?)(?=[a-z])/g, '<$1r:')
            .replace('<r:license', `<r:license xmlns:r="${RSL_NAMESPACE}"`);
          for (const spelled of [cut, prefixed.replaceAll('<![CDATA[', '').replaceAll(']]>', '')]) {
            const read = readXmlElement(spelled, 16_384);
            expect(read && canonicalXml(read, RSL_NAMESPACE)).toBe(named[index]);
          }
        }
      }
    }),
    { numRuns: 200 },
  );
});

const xmllint = spawnSync('xmllint', ['--version']).status === 0;
if (!xmllint) console.log('NOT RUN: documents against their grammar, since there is no xmllint (apt-get install libxml2-utils)');

test.runIf(xmllint)('every document is one of RSL 1.0, by its grammar', () => {
  const documents = fc
    .sample(anyQuestion, 200)
    .map((one) => rslOf(compilePricing(one.pricing, FLOOR), one.asked.atMs, one.sellsTraining));
  expect(complaintsAbout(documents)).toEqual([]);
});

test.runIf(xmllint).each([
  ['a coin in place of a currency', 'currency="USD"', 'currency="USDC"'],
  ['a price below nothing', />0\.01</, '>-0.01<'],
  ['a use that nobody defined', 'search ai-index', 'search ai-think'],
  ['uses with commas between', 'search ai-index', 'search,ai-index'],
  ['a content of no address', 'url="https://alpha.example/*"', 'url=""'],
  ['a server that is no address', 'server="https://', 'server="ftp://'],
  ['a payment of an unknown type', 'type="crawl"', 'type="rent"'],
  ['two amounts in one payment', '</payment>', '<amount currency="USD">1</amount></payment>'],
  ['a document of another namespace', RSL_NAMESPACE, 'https://rsl.example/'],
  ['a content without a license', /<license>.*<\/license>/s, ''],
])('the grammar refuses %s', (_what, right, wrong) => {
  const document = rslOf(compilePricing(pricingOf({}), FLOOR), 0, false);
  const changed = document.replace(right, wrong);
  expect(changed).not.toBe(document);
  expect(complaintsAbout([document])).toEqual([]);
  expect(complaintsAbout([changed])).not.toEqual([]);
});

/** What xmllint says against documents by the grammar of RSL. */
function complaintsAbout(documents: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'rsl-'));
  try {
    const files = documents.map((document, index) => {
      const file = join(folder, `${index}.xml`);
      writeFileSync(file, document);
      return file;
    });
    const grammar = new URL('../support/rsl.rng', import.meta.url).pathname;
    const { status, stderr } = spawnSync('xmllint', ['--noout', '--nonet', '--relaxng', grammar, ...files], { encoding: 'utf8' });
    const complaints = stderr.split('\n').filter((line) => line !== '' && !line.endsWith(' validates'));
    return status === 0 || complaints.length > 0 ? complaints : [`xmllint ended with ${status}`];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
