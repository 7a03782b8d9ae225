import type { Capability, CodeArtifact } from './challenge.ts';
import { findMetaTags } from './challengeMeta.ts';

/** What a site's front page answered. */
export interface FrontPage {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the page. */
  readonly html: string;
}

/** What can be installed on a site. */
export interface PlatformCapability {
  readonly capability: Capability;
  readonly codeArtifact: CodeArtifact | null;
}

interface Platform extends PlatformCapability {
  /** Words of the generator tag, lower case. */
  readonly generator?: RegExp;
  readonly header?: readonly [name: string, value: RegExp];
  readonly html?: RegExp;
}

const CLOSED: PlatformCapability = { capability: 'locked', codeArtifact: null };
const BUILDER: PlatformCapability = { capability: 'dns_only', codeArtifact: null };
const WORDPRESS: PlatformCapability = { capability: 'code', codeArtifact: 'wordpress_plugin' };
const NODE: PlatformCapability = { capability: 'code', codeArtifact: 'npm' };
const NODE_LIKELY: PlatformCapability = { capability: 'prefer_code', codeArtifact: 'npm' };

/** Marks of platforms, the more particular first: a closed platform may run on Node, and a builder behind a known server. */
const PLATFORMS: readonly Platform[] = [
  { ...CLOSED, html: /substackcdn\.com|cdn-client\.medium\.com|assets\.tumblr\.com|www\.blogger\.com\/static/i },
  { ...CLOSED, generator: /^(blogger|tumblr|medium|substack)/ },
  { ...CLOSED, header: ['x-tumblr-user', /./] },
  { ...BUILDER, generator: /^(wix|squarespace|webflow|shopify|weebly|jimdo|duda|framer|ghost\(pro\))/ },
  { ...BUILDER, header: ['x-wix-request-id', /./] },
  { ...BUILDER, header: ['x-shopid', /./] },
  { ...BUILDER, header: ['server', /^squarespace/i] },
  { ...BUILDER, html: /static\.parastorage\.com|static1\.squarespace\.com|cdn\.shopify\.com|data-wf-site=/i },
  { ...WORDPRESS, generator: /^wordpress/ },
  { ...WORDPRESS, header: ['link', /rel="?https:\/\/api\.w\.org\//i] },
  { ...WORDPRESS, html: /\/wp-(content|includes)\//i },
  { ...NODE, header: ['x-powered-by', /^(next\.js|express|nuxt|fastify|koa)/i] },
  { ...NODE, html: /\/_next\/static\/|id="__next_data__"|\/_nuxt\//i },
  { ...NODE_LIKELY, header: ['x-vercel-id', /./] },
  { ...NODE_LIKELY, header: ['server', /^(vercel|netlify)/i] },
  { ...NODE_LIKELY, generator: /^(astro|gatsby|hexo|eleventy|docusaurus|sveltekit|remix)/ },
];

/** What a site lets its owner install, by the marks of the platform it runs on; `unknown` without a mark. */
export function detectCapability({ headers, html }: FrontPage): PlatformCapability {
  const generator = (findMetaTags(html, 'generator')[0] ?? '').toLowerCase();
  for (const platform of PLATFORMS) {
    const byGenerator = platform.generator?.test(generator) ?? false;
    const [name = '', value] = platform.header ?? [];
    const byHeader = value?.test(headers[name] ?? '') ?? false;
    if (byGenerator || byHeader || (platform.html?.test(html) ?? false)) {
      return { capability: platform.capability, codeArtifact: platform.codeArtifact };
    }
  }
  return { capability: 'unknown', codeArtifact: null };
}
