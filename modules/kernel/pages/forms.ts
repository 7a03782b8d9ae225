/**
 * Forms of articles: other addresses at which a site gives the same text, such as `trio.md` and `trio/amp` of `trio`. They have the article's slug, and
 * so its price, its authors and its licences. The rule is pure; whether an address is a page of its own after all is for who knows the site's list
 * (`locateArticle`).
 */
import type { ResourceUrl } from '../hosts/host.ts';

/** What a form adds to the address of its article, unless the site decides otherwise. */
export const DEFAULT_FORMS: readonly string[] = [
  '.md',
  '.txt',
  '.json',
  '.html',
  '.htm',
  '/index.html',
  '/index.md',
  '/amp',
  '/print',
  '/feed',
];

/** Most forms of a site. */
export const MAX_FORMS = 20;
/** An ending of a file name, or a last part of a path; lower case. */
const FORM = /^(?:\.[a-z0-9]{1,15}|\/[a-z0-9][a-z0-9._-]{0,31})$/;
/** How many forms one address may be of another: `trio.html.md` is the Markdown of the HTML of `trio`. */
const MOST_CUTS = 2;
/** Many sites have these in the one address of a page, and feeds of what has no price. */
const OF_NAMED_PAGES: ReadonlySet<string> = new Set(['.html', '.htm', '/feed']);

/** An article that an address may be a form of. */
export interface Article {
  /** Its slug, or its path where paths are asked about. */
  readonly slug: string;
  /** False where only a site that names the article can say so: the address may just as well be the page's one address. */
  readonly isSure: boolean;
}

/** True for a form that a site may set. */
export function isForm(form: string): boolean {
  return FORM.test(form);
}

/**
 * The articles that a slug (or a path) may be a form of, the nearest first, at most four; empty for a slug that is none. The form is compared without
 * case. Beside `trio`, `trio.md` may be a form of `trio.html`, where a site has that in its addresses. Slugs alone are compared: nobody is asked.
 */
export function articlesOf(slug: string, forms: readonly string[]): readonly Article[] {
  const articles: Article[] = [];
  let rest = slug;
  let isSure = true;
  for (let cut = 0; cut < MOST_CUTS; cut++) {
    const form = formOf(rest, forms);
    if (form === null) break;
    rest = rest.slice(0, -form.length);
    isSure &&= !OF_NAMED_PAGES.has(form);
    articles.push({ slug: rest, isSure });
    if (form !== '.html' && forms.includes('.html')) articles.push({ slug: `${rest}.html`, isSure: false });
  }
  return articles;
}

/** True when a path may be a form of the page at another path. */
export function isFormOf(path: string, article: string, forms: readonly string[]): boolean {
  return articlesOf(path, forms).some(({ slug }) => slug === article);
}

/** The address of an article, of which `resource` with the slug `slug` is a form: without query, which no price depends on. */
export function resourceOfArticle(resource: ResourceUrl, slug: string, article: string): ResourceUrl {
  const path = resource.path.slice(0, resource.path.length - slug.length) + article;
  const url = new URL(resource.url);
  url.pathname = path.split('/').map(encodeURIComponent).join('/');
  url.search = '';
  return { url: url.href, host: resource.host, path };
}

/** The longest form that a slug ends with and leaves a name in front of; null: none. */
function formOf(slug: string, forms: readonly string[]): string | null {
  const small = slug.toLowerCase();
  let longest: string | null = null;
  for (const form of forms) {
    const leaves = slug.length - form.length;
    const isOne = leaves > 0 && small.length === slug.length && small.endsWith(form) && slug[leaves - 1] !== '/';
    if (isOne && form.length > (longest?.length ?? 0)) longest = form;
  }
  return longest;
}
