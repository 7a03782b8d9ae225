/** Who is paid for a page, as it is typed: a row an author, or text where authors stand in groups. */

/** One author of a page as it is typed. */
export interface AuthorRow {
  readonly authorId: string;
  readonly wallet: string;
  readonly weight: string;
}

/** Credits as `CreditsInput` takes them. */
export interface CreditsInput {
  readonly title?: string;
  readonly contributors: readonly unknown[];
}

const EMPTY: AuthorRow = { authorId: '', wallet: '', weight: '1' };

/** A further row to fill. */
export function emptyRow(): AuthorRow {
  return EMPTY;
}

/** The rows of stored credits; null where authors stand in groups, which rows cannot show. */
export function rowsOf(credits: string | null): readonly AuthorRow[] | null {
  if (credits === null) return [EMPTY];
  const { contributors = [] } = parsed(credits);
  const rows: AuthorRow[] = [];
  for (const one of contributors as readonly Readonly<Record<string, unknown>>[]) {
    if (one['members'] !== undefined && one['members'] !== null) return null;
    rows.push({
      authorId: String(one['authorId'] ?? ''),
      wallet: String(one['wallet'] ?? ''),
      weight: String(one['weight'] ?? 1),
    });
  }
  return rows.length === 0 ? [EMPTY] : rows;
}

/** Credits from rows; those that are wholly empty are left out. The title that was there stays. */
export function creditsOf(rows: readonly AuthorRow[], before: string | null): CreditsInput {
  const filled = rows.filter(({ authorId, wallet }) => authorId.trim() !== '' || wallet.trim() !== '');
  const title = before === null ? undefined : parsed(before).title;
  return {
    ...(title === undefined || title === null ? {} : { title }),
    contributors: filled.map(({ authorId, wallet, weight }) => ({
      authorId: authorId.trim(),
      wallet: wallet.trim(),
      weight: weightOf(weight),
    })),
  };
}

/** A weight as it was typed; nothing is 1, what is no number is NaN. */
export function weightOf(typed: string): number {
  return Number(typed.trim() === '' ? '1' : typed.trim().replace(',', '.'));
}

/** Stored credits as text to edit. */
export function creditsText(credits: string | null): string {
  return credits === null ? '' : JSON.stringify(JSON.parse(credits), null, 2);
}

/** Text as credits; null where it is none. */
export function creditsOfText(text: string): CreditsInput | null {
  try {
    const value = JSON.parse(text) as CreditsInput;
    return Array.isArray(value?.contributors) ? value : null;
  } catch {
    return null;
  }
}

/** Authors of many pages, one a line: slug, author, wallet, weight. The first line that is none is told. */
export function allCreditsOf(text: string): {
  readonly pages: readonly { readonly slug: string; readonly credits: CreditsInput }[];
  readonly wrong: string | null;
} {
  const pages = new Map<string, unknown[]>();
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [slug = '', authorId = '', wallet = '', weight = '1', ...more] = line.split(/\s*[,;\t]\s*/);
    if (slug === '' || authorId === '' || wallet === '' || more.length > 0 || !(Number(weight) > 0))
      return { pages: [], wrong: line };
    pages.set(slug, [...(pages.get(slug) ?? []), { authorId, wallet, weight: Number(weight) }]);
  }
  return { pages: [...pages].map(([slug, contributors]) => ({ slug, credits: { contributors } })), wrong: null };
}

/** A page to import as it is typed: `path`, or `path, title`. */
export interface ImportedPage {
  readonly slug: string;
  readonly path: string;
  readonly title?: string;
}

/** What each line of a text names; `prefixes` are those of the site, so that a slug is the one its quotes have. */
export function importOf(
  text: string,
  prefixes: readonly string[] | null,
): { readonly pages: readonly ImportedPage[]; readonly wrong: readonly string[] } {
  const pages = new Map<string, ImportedPage>();
  const wrong: string[] = [];
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [, given = '', title] = /^(\S+?)(?:\s*[,;\t]\s*(.*)|\s+(.*))?$/.exec(line)?.slice(0, 3) ?? [];
    const path = pathOf(given);
    if (path === null) {
      wrong.push(line);
      continue;
    }
    const prefix = (prefixes ?? ['/']).map((one) => `/${one}/`.replace(/\/+/g, '/')).filter((one) => path.startsWith(one));
    const longest = prefix.sort((a, b) => b.length - a.length)[0] ?? '/';
    const slug = path.slice(longest.length);
    if (slug === '') wrong.push(line);
    else pages.set(path, { slug, path, ...(title ? { title } : {}) });
  }
  return { pages: [...pages.values()], wrong };
}

function pathOf(text: string): string | null {
  try {
    const path = /^https?:\/\//i.test(text) ? decodeURI(new URL(text).pathname) : text;
    return path.startsWith('/') ? path : null;
  } catch {
    return null;
  }
}

function parsed(credits: string): { readonly title?: string | null; readonly contributors?: readonly unknown[] } {
  return JSON.parse(credits) as { title?: string | null; contributors?: readonly unknown[] };
}
