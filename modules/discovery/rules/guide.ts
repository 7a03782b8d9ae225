/** The guide of a host for language models (llms.txt): how its pages are bought, in words. */
import { formatUsdc } from '../../kernel/money/money.ts';
import type { DocumentName } from '../../kernel/pages/documents.ts';
import { DOCUMENTS, documentUrl } from '../../kernel/pages/documents.ts';
import type { PriceClass } from '../../pricing/rules/classes.ts';
import type { Outcome } from '../../pricing/rules/compiled.ts';

/** What a guide is made of. */
export interface GuideFacts {
  readonly baseUrl: string;
  readonly host: string;
  readonly classes: readonly PriceClass[];
  /** False: pages that name nobody are free. */
  readonly hasUnnamed: boolean;
}

/** More patterns than this stand in the manifest only. */
const MAX_LINES = 20;

/** The text; the same for the same prices. */
export function guideOf({ baseUrl, host, classes, hasUnnamed }: GuideFacts): string {
  const prices = classes.slice(0, MAX_LINES).map(({ pattern, read, citation }) => {
    const cite = microOf(citation) === null ? '' : `, a citation ${words(citation)}`;
    return `- \`${pattern}\`: a read ${words(read)}${cite}`;
  });
  const links = Object.keys(DOCUMENTS)
    .filter((name) => name !== 'llms.txt')
    .map((name) => `- [${name}](${documentUrl(baseUrl, host, name as DocumentName)})`);
  return [
    `# ${host}`,
    '',
    '> Agents pay for pages of this site by x402, in USDC; the money goes to the authors of the page.',
    '',
    '## How to read a page',
    '',
    '- Ask for it with GET. A 402 holds the offer: x402 version 2 in the header PAYMENT-REQUIRED, version 1 in the body.',
    '- Sign it with any x402 client and ask again. The answer is the page, and a licence that opens it again for ten minutes.',
    `- By a tool of the Model Context Protocol: ${baseUrl}/_svc/mcp (buy_page)`,
    `- Many pages at once, for longer or for training: ${baseUrl}/_svc/licenses/quote`,
    '',
    '## Prices',
    '',
    ...prices,
    ...(classes.length > MAX_LINES ? ['- further patterns: see x402.json'] : []),
    ...(hasUnnamed ? [] : ['- pages that name no author are free']),
    '- the 402 of a page decides; the first pattern that fits is its own',
    '',
    '## Documents',
    '',
    ...links,
    `- [How the service is called](${baseUrl}/_svc/openapi.json)`,
    `- [Keys that sign licences](${baseUrl}/.well-known/jwks.json)`,
    '',
  ].join('\n');
}

function words(outcome: Outcome): string {
  if (outcome === 'free') return 'is free';
  return outcome === 'refused' ? 'is not given' : `costs ${formatUsdc(outcome.priceMicro)} USDC`;
}

function microOf(outcome: Outcome): bigint | null {
  return typeof outcome === 'string' ? null : outcome.priceMicro;
}
