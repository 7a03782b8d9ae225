/** Forms of articles: other addresses and media types in which a site gives a page, all for the one price of the page. */

/**
 * True for a plain path that ends as a form of an article does. Whether it is one, the service says with the quote: the site may list the address as a
 * page of its own.
 */
export function mayBeForm(forms: readonly string[], path: string): boolean {
  const small = path.toLowerCase();
  return forms.some((form) => small.endsWith(form));
}

/** True for the address of a page's Markdown. */
export function isMarkdownPath(path: string): boolean {
  return /\.(?:md|markdown)$/i.test(path);
}

/**
 * True when a reader would rather have Markdown than HTML (RFC 9110 §12.5.1): it names Markdown with a quality above 0, and HTML with a lower one, later
 * with the same, or not at all. A wildcard asks for no Markdown.
 */
export function prefersMarkdown(accept: string): boolean {
  let [markdown, html] = [0, 0];
  let isHtmlFirst = false;
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = qualityOf(parameters);
    if (/^text\/(?:x-)?markdown$/.test(type)) markdown = Math.max(markdown, quality);
    if (type !== 'text/html' && type !== 'application/xhtml+xml') continue;
    html = Math.max(html, quality);
    isHtmlFirst ||= markdown === 0;
  }
  return markdown > 0 && (markdown > html || (markdown === html && !isHtmlFirst));
}

/** A quality that is no number between 0 and 1 asks for nothing. */
function qualityOf(parameters: readonly string[]): number {
  const text = parameters.find((part) => /^q\s*=/.test(part))?.replace(/^q\s*=\s*/, '');
  if (text === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

/** About how many tokens a model reads in so many octets of UTF-8: four to one, near enough for any script. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / 4);
}
