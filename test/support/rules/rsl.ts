/** License documents of random prices, and what a reader makes of one. */
import { expect } from 'vitest';
import { compilePattern, isWithin, matches } from '../../../modules/kernel/pages/scope.ts';
import type { XmlElement } from '../../../modules/kernel/xml.ts';
import { isElement } from '../../../modules/kernel/xml.ts';
import type { Outcome } from '../../../modules/pricing/rules/compiled.ts';
import { mayOverlap } from '../../../modules/pricing/rules/conflicts.ts';
import type { CompiledPricing, Pricing } from '../../../modules/pricing/rules/pricing.ts';
import { rslContents, rslDocument } from '../../../modules/pricing/rules/rsl/contents.ts';
import { rslPaths } from '../../../modules/pricing/rules/rsl/paths.ts';
import { readXmlElement } from '../../../platform/xml.ts';

/** The license.xml of a site at `alpha.example`. */
export function rslOf(pricing: CompiledPricing, atMs: number, sellsTraining: boolean): string {
  const contents = rslContents({ host: 'alpha.example', paths: rslPaths(pricing, atMs), sellsTraining });
  return rslDocument(contents, 'https://svc.example/_svc/olp', 1_760_000_000_000);
}

/** What a reader makes of a document: of the contents that match, the longest pattern; of its licenses, the one that permits the use. */
export function askedFor(
  document: string,
  asked: { readonly path: string; readonly kind: string; readonly use: string },
): Outcome {
  const root = readXmlElement(document, 1_000_000);
  const contents = childrenOf(root, 'content').filter(({ attributes }) =>
    matches(compilePattern(patternOf(attributes)), asked.path),
  );
  const [first] = contents;
  const own = contents.filter(({ attributes }) => attributes['url'] === first?.attributes['url']);
  const licences = own.flatMap((content) => childrenOf(content, 'license'));
  const permits = licences.filter((one) => wordsOf(childrenOf(one, 'permits')[0]).includes(asked.use));
  const withheld = licences.flatMap((one) => wordsOf(childrenOf(one, 'prohibits')[0]));
  expect(permits.length === 0 || !withheld.includes(asked.use)).toBe(true);
  const payments = permits.flatMap((one) => childrenOf(one, 'payment'));
  const paid = payments.find(({ attributes }) => attributes['type'] === (asked.kind === 'read' ? 'crawl' : 'use'));
  if (paid) return { priceMicro: BigInt(Math.round(Number(wordsOf(childrenOf(paid, 'amount')[0])[0]) * 1e6)) };
  return payments.some(({ attributes }) => attributes['type'] === 'free') ? 'free' : 'refused';
}

function patternOf(attributes: Readonly<Record<string, string>>): string {
  return (attributes['url'] ?? '').slice('https://alpha.example'.length);
}

function childrenOf(element: XmlElement | null, name: string): readonly XmlElement[] {
  return (element?.children ?? []).filter(isElement).filter((child) => child.name === name);
}

function wordsOf(element: XmlElement | undefined): readonly string[] {
  const [text] = element?.children ?? [];
  return typeof text === 'string' ? text.split(' ') : [];
}

/** True when of any two patterns that share pages the longer is inside the other: others are not to be printed for each use. */
export function areNested({ rules }: Pricing): boolean {
  const patterns = (rules ?? []).map(({ path }) => path ?? '/');
  return patterns.every((a) =>
    patterns.every((b) => {
      const [long, short] = a.length >= b.length ? [a, b] : [b, a];
      return !mayOverlap(compilePattern(a), compilePattern(b)) || isWithin(compilePattern(long), compilePattern(short));
    }),
  );
}
