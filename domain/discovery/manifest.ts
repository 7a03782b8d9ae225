import type { CompiledPricing } from '../pricing/pricing.ts';
import { prefixTemplate } from './routeTemplate.ts';

/** What a manifest tells of a site. */
export interface ManifestFacts {
  readonly host: string;
  readonly pricing: CompiledPricing;
  readonly lastUpdatedMs: number;
}

/** The manifest of a host in the draft's shape; amounts in micro-USDC. What it says is advice: the 402 of a page decides. */
export function manifestOf({ host, pricing, lastUpdatedMs }: ManifestFacts): object {
  const items = (pricing.articlePrefixes ?? ['/']).flatMap((prefix) => {
    const routeTemplate = prefixTemplate(prefix);
    if (routeTemplate === null || pricing.isFree('')) return [];
    const resource = { url: `https://${host}${routeTemplate}`, mimeType: 'text/html' };
    return [{ resource, type: 'http', accepts: [], input: { method: 'GET', routeTemplate }, output: { mimeType: 'text/html' } }];
  });
  return { x402Version: 2, lastUpdated: Math.floor(lastUpdatedMs / 1_000), items };
}
