import type { Check } from '../finding.ts';
import { ok, problem, unknown } from '../finding.ts';
import type { Came, Reply } from '../visitor.ts';
import { noPage } from './offer.ts';

interface Facts {
  readonly page: string | null;
  readonly agent: Reply | null;
  readonly person: Reply | null;
  readonly spelled: readonly { readonly path: string; readonly reply: Reply }[];
}

/** Does another spelling of its address give the page to an agent, free? */
export const spellingsCheck: Check<Facts> = {
  id: 'spellings',
  probe: async (world) => {
    const page = await world.page();
    if (page === null) return { page, agent: null, person: null, spelled: [] };
    const spelled: Facts['spelled'][number][] = [];
    for (const path of spellingsOf(page)) spelled.push({ path, reply: await world.visit(path, { as: 'agent' }) });
    return { page, agent: await world.asAgent(page), person: await world.asPerson(page), spelled };
  },
  judge: ({ page, agent, person, spelled }) => {
    if (page === null) return [noPage()];
    if (!agent?.came || agent.status !== 402 || !person?.came || person.status !== 200) {
      return [
        unknown(
          'Other spellings could not be judged: the page itself is not sold to agents and shown to people.',
          'See the findings about offer and readers.',
        ),
      ];
    }
    const given = spelled.filter(({ reply }) => reply.came && isSamePage(person, reply)).map(({ path }) => path);
    if (given.length === 0) return [ok('No other spelling of its address gives the page away.')];
    return [
      problem(
        `An agent gets the page free as ${given.join(', ')}.`,
        'Redirect other spellings to the one address of the page, or answer 404, before the page is made.',
      ),
    ];
  },
};

/** Other spellings that servers may take for the same page: doubled slash, other case, an escaped letter, a closing slash. */
export function spellingsOf(page: string): readonly string[] {
  const [path = '', query] = page.split('?', 2);
  const tail = query === undefined ? '' : `?${query}`;
  const at = path.replace(/\/$/, '').lastIndexOf('/');
  const [folder, name] = [path.slice(0, at), path.slice(at + 1)];
  const letter = /[A-Za-z]/.exec(name);
  const escaped =
    letter === null
      ? name
      : `${name.slice(0, letter.index)}%${name.charCodeAt(letter.index).toString(16)}${name.slice(letter.index + 1)}`;
  const upper = path === path.toUpperCase() ? path.toLowerCase() : path.toUpperCase();
  const closed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  const all = [
    `${folder}//${name}`,
    upper,
    `${folder}/${name.toUpperCase()}`,
    `${folder}/${name.toLowerCase()}`,
    `${folder}/${escaped}`,
    closed,
    `ftp://host.invalid${path}`, // a whole address, which servers route by its path
  ].map((one) => one + tail);
  return [...new Set(all)].filter((spelling) => spelling !== page && spelling !== tail);
}

/** The same page, though a counter or a nonce in it may differ: the same title and about the same length, or the same text. */
function isSamePage(person: Came, reply: Came): boolean {
  if (reply.status !== 200) return false;
  if (reply.body === person.body) return true;
  const [title, other] = [titleOf(person.body), titleOf(reply.body)];
  return title !== '' && title === other && Math.abs(person.body.length - reply.body.length) < person.body.length / 10;
}

function titleOf(html: string): string {
  const start = html.search(/<title[\s>]/i);
  return start === -1
    ? ''
    : (html
        .slice(start, start + 500)
        .split(/<\/title/i)[0]
        ?.replace(/^<title[^>]*>/i, '')
        .trim() ?? '');
}
