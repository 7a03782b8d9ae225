import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { Came, Reply } from '../visitor.ts';
import { noPage } from './offer.ts';

interface Facts {
  readonly page: string | null;
  readonly agent: Reply | null;
  readonly person: Reply | null;
  readonly forms: readonly { readonly path: string; readonly reply: Reply }[];
  /** What the site's forms add to an address; null: the service does not say. */
  readonly known: readonly string[] | null;
}

/** What sites add to an address for another form of its page, besides what the settings name. */
const USUAL = ['.md', '.txt', '.json', '.html', '/index.html', '/amp', '/print', '/feed', '/embed', '?amp=1', '?print=1'];
/** Addresses that a page names itself; more of one page are not asked for. */
const MOST_NAMED = 4;
/** Less than this is no text of a page. */
const TEXT_CHARS = 20;

/** Does another form of the page give it to an agent, free? The forms that sites have, and those that the page names: its canonical, its alternates. */
export const formsCheck: Check<Facts> = {
  id: 'forms',
  probe: async (world) => {
    const page = await world.page();
    const known = (await world.config())?.forms ?? null;
    if (page === null) return { page, agent: null, person: null, forms: [], known };
    const person = await world.asPerson(page);
    const named = person.came ? namedIn(person, world.site).filter((path) => path !== page) : [];
    const usual = [...new Set([...(known ?? []), ...USUAL])].map((form) => withForm(page, form));
    const forms: Facts['forms'][number][] = [];
    for (const path of [...new Set([...named.slice(0, MOST_NAMED), ...usual])]) {
      forms.push({ path, reply: await world.visit(path, { as: 'agent' }) });
    }
    return { page, agent: await world.asAgent(page), person, forms, known };
  },
  judge: ({ page, agent, person, forms, known }) => {
    if (page === null) return [noPage()];
    if (!agent?.came || agent.status !== 402 || !person?.came || person.status !== 200) {
      return [
        unknown(
          'Other forms of the page could not be judged: the page itself is not sold to agents and shown to people.',
          'See the findings about offer and readers.',
        ),
      ];
    }
    const text = sampleOf(person);
    const given = forms.filter(({ reply }) => reply.came && reply.status === 200 && isText(reply, text)).map(({ path }) => path);
    const findings: Finding[] = [];
    if (given.length > 0) {
      findings.push(
        problem(
          `An agent gets the page free as ${given.join(', ')}.`,
          'Name what these add to its address among the forms of articles (setGateScope, `forms`), or redirect them to the page.',
        ),
      );
    }
    if (known?.length === 0) {
      findings.push(
        warning('The site has no forms of articles: each address has a price of its own, or none.', 'Set forms (setGateScope).'),
      );
    }
    if (findings.length > 0) return findings;
    return [ok(`None of ${forms.length} other forms of the page gives it away.`)];
  },
};

/** The address of a form of a page. */
function withForm(page: string, form: string): string {
  const [path = ''] = page.split('?', 1);
  const plain = path.replace(/\/$/, '');
  return plain + form;
}

/** Paths of the site that a page names as its canonical address or as alternates of itself. */
export function namedIn({ body }: Pick<Came, 'body'>, site: URL): readonly string[] {
  const paths: string[] = [];
  for (const [tag] of body.slice(0, 200_000).matchAll(/<link\b[^>]{0,1000}>/gi)) {
    const rel = attribute(tag, 'rel').toLowerCase().split(/\s+/);
    const isOther = attribute(tag, 'hreflang') !== '';
    if (isOther || !(rel.includes('canonical') || rel.includes('alternate') || rel.includes('amphtml'))) continue;
    const url = URL.canParse(attribute(tag, 'href'), site) ? new URL(attribute(tag, 'href'), site) : null;
    if (url?.host === site.host) paths.push(url.pathname + url.search);
  }
  return [...new Set(paths)];
}

function attribute(tag: string, name: string): string {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(tag);
  return (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').replaceAll('&amp;', '&');
}

/** The longest run of text of a page: its other forms have it, too, whatever stands around it. */
function sampleOf({ body }: Pick<Came, 'body'>): string {
  const inner = body.replace(/<(script|style|title|head|nav|footer)\b[\s\S]*?<\/\1>/gi, ' ');
  const runs = inner.split(/<[^>]*>/).map(plain);
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '').slice(0, 80);
}

function isText({ body }: Pick<Came, 'body'>, text: string): boolean {
  return text.length >= TEXT_CHARS && plain(body.replace(/<[^>]*>/g, ' ').replaceAll('\\n', ' ')).includes(text);
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
