import { change } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import type { Problem } from '../../core/problem.ts';
import { problemOf } from '../../core/problem.ts';
import { ProblemText } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Notice } from '../../parts/panel.ts';
import type { SetupSite } from './documents.ts';
import { SET_CREDITS_DOCUMENT, SET_PAYEE_DOCUMENT } from './documents.ts';

interface Author {
  readonly authorId: string;
  readonly wallet: string;
  readonly weight: string;
}

const NOBODY: Author = { authorId: '', wallet: '', weight: '1' };
const WALLET = /^0x[0-9a-fA-F]{40}$/;
const MOST_AUTHORS = 50;

/** Names who is paid: one payee for all pages that name nobody, or the authors of one page. */
export function Authors({ site, onChange }: { readonly site: SetupSite; readonly onChange: () => void }): View {
  const [way, setWay] = useState<'all' | 'page'>('all');
  return html`<div class="stack">
    <p>Money goes straight to wallets; this service never holds it. Authors are paid in USDC, on the networks that Settings names.</p>
    <div class="choice" role="group" aria-label="Who is paid">
      <button type="button" aria-pressed=${way === 'all'} onClick=${() => setWay('all')}>One payee for all pages</button>
      <button type="button" aria-pressed=${way === 'page'} onClick=${() => setWay('page')}>Authors of a page</button>
    </div>
    ${way === 'all' ? html`<${OnePayee} site=${site} onChange=${onChange} />` : html`<${OfPage} onChange=${onChange} />`}
  </div>`;
}

function OnePayee({ site, onChange }: { readonly site: SetupSite; readonly onChange: () => void }): View {
  const [author, setAuthor] = useState<Author>({ ...NOBODY, ...site.defaultPayee });
  const { problem, submit } = useForm(async () => {
    const { authorId, wallet } = author;
    await change(SET_PAYEE_DOCUMENT, { payee: { authorId: authorId.trim(), wallet: wallet.trim() } });
    onChange();
  });
  return html`<form class="form" onSubmit=${submit}>
    <${AuthorFields} of=${author} onInput=${setAuthor} />
    <p class="hint">Is paid for each page that names nobody. A page that names its authors pays them instead.</p>
    <${Saved} problem=${problem} />
    <div><${Button} type="submit" kind="primary" disabled=${!isWhole(author)}>Save the payee<//></div>
  </form>`;
}

function OfPage({ onChange }: { readonly onChange: () => void }): View {
  const [slug, setSlug] = useState('');
  const [authors, setAuthors] = useState<readonly Author[]>([NOBODY]);
  const [saved, setSaved] = useState('');
  const { problem, submit } = useForm(async () => {
    setSaved('');
    const contributors = authors.map(({ authorId, wallet, weight }) => ({
      authorId: authorId.trim(),
      wallet: wallet.trim(),
      weight: Number(weight),
    }));
    await change(SET_CREDITS_DOCUMENT, { slug: slug.trim(), credits: { contributors } });
    setSaved(slug.trim());
    onChange();
  });
  const set = (at: number) => (author: Author) => setAuthors(authors.map((one, place) => (place === at ? author : one)));
  const disabled = slug.trim() === '' || !authors.every(isWhole);
  return html`<form class="form" onSubmit=${submit}>
    <${Field} label="Page" value=${slug} onInput=${setSlug} placeholder="first-article" hint="Its slug: what follows the article prefix in the address." required />
    ${authors.map(
      (author, at) => html`<fieldset key=${at}>
        <legend>Author ${at + 1}</legend>
        <${AuthorFields} of=${author} onInput=${set(at)} hasShare=${authors.length > 1} />
      </fieldset>`,
    )}
    <${Saved} problem=${problem} />
    ${saved === '' ? null : html`<${Notice} tone="good">The authors of ${saved} are paid from now on.<//>`}
    <div class="actions">
      <${Button} type="submit" kind="primary" disabled=${disabled}>Save the page<//>
      ${authors.length < MOST_AUTHORS ? html`<${Button} onClick=${() => setAuthors([...authors, NOBODY])}>Another author<//>` : null}
      ${authors.length > 1 ? html`<${Button} kind="quiet" onClick=${() => setAuthors(authors.slice(0, -1))}>Take the last one away<//>` : null}
    </div>
  </form>`;
}

function AuthorFields({
  of: author,
  onInput,
  hasShare = false,
}: {
  readonly of: Author;
  readonly onInput: (author: Author) => void;
  readonly hasShare?: boolean;
}): View {
  const error = author.wallet !== '' && !WALLET.test(author.wallet.trim()) ? '0x and 40 hexadecimal digits.' : null;
  return html`<${Field} label="Author" value=${author.authorId} onInput=${(authorId: string) => onInput({ ...author, authorId })} placeholder="ann" hint="A short name of your own; earnings use it." required />
    <${Field} label="Wallet" value=${author.wallet} onInput=${(wallet: string) => onInput({ ...author, wallet })} placeholder="0x…" error=${error} required />
    ${hasShare ? html`<${Field} label="Share against the others" value=${author.weight} onInput=${(weight: string) => onInput({ ...author, weight })} inputMode="decimal" />` : null}`;
}

function isWhole({ authorId, wallet, weight }: Author): boolean {
  return authorId.trim() !== '' && WALLET.test(wallet.trim()) && Number(weight) > 0;
}

/** A form that sends itself once and says what went wrong. */
export function useForm(send: () => Promise<void>): {
  readonly problem: Problem | null;
  readonly submit: (event: Event) => Promise<void>;
} {
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem(null);
    try {
      await send();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return { problem, submit };
}

/** What went wrong with a form; nothing where nothing did. */
export function Saved({ problem }: { readonly problem: Problem | null }): View {
  return problem ? html`<${Notice} tone="bad" title="Not saved"><${ProblemText} problem=${problem} /><//>` : null;
}
