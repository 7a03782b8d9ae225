import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Button } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Field } from '../../parts/field.ts';
import { useReview } from '../../parts/review.ts';
import type { AuthorRow, CreditsInput } from './credits.ts';
import { creditsOf, creditsOfText, creditsText, emptyRow, rowsOf, weightOf } from './credits.ts';
import type { PricedPage } from './documents.ts';
import { lookAt, REMOVE_PAGE_CREDITS_DOCUMENT, SET_PAGE_CREDITS_DOCUMENT } from './documents.ts';
import { showPayees } from './showEffect.ts';

/** Who is paid for a page: rows to edit, then what each would get of a read. */
export function Authors({
  page,
  onClose,
  done,
}: {
  readonly page: PricedPage;
  readonly onClose: () => void;
  readonly done: () => void;
}): View {
  const stored = rowsOf(page.credits);
  const [rows, setRows] = useState<readonly AuthorRow[]>(stored ?? []);
  const [text, setText] = useState(stored === null ? creditsText(page.credits) : null);
  const slug = page.slug ?? '';
  const after = (): void => {
    done();
    onClose();
  };
  const typed = (): CreditsInput => {
    const credits = text === null ? creditsOf(rows, page.credits) : creditsOfText(text);
    const bad = text === null ? rows.findIndex(({ weight }) => !(weightOf(weight) > 0)) : -1;
    if (bad >= 0) {
      const parameter = `pageCredits.credits.contributors.${bad}.weight`;
      throw new Problem('invalid', 'A weight is a number above 0.', { parameter });
    }
    if (credits === null)
      throw new Problem('invalid', 'This is not the JSON of credits: an object with contributors.', { parameter: 'pageCredits' });
    return credits;
  };
  const save = useReview({
    title: `Authors of ${page.title ?? page.path}`,
    look: async () => ({ ...(await lookAt({ pageCredits: { slug, credits: typed() } })), credits: typed() }),
    show: showPayees,
    make: ({ credits, version }) => mutate(SET_PAGE_CREDITS_DOCUMENT, { slug, credits, ifVersion: version }),
    confirm: 'Save authors',
    done: after,
  });
  const remove = useReview({
    title: `Nobody is paid for ${page.title ?? page.path}`,
    look: () => lookAt({ withoutCreditsOf: slug }),
    show: showPayees,
    make: ({ version }) => mutate(REMOVE_PAGE_CREDITS_DOCUMENT, { slug, ifVersion: version }),
    confirm: 'Take all authors away',
    danger: true,
    done: after,
  });
  const set = (at: number, changed: Partial<AuthorRow>): void =>
    setRows(rows.map((row, index) => (index === at ? { ...row, ...changed } : row)));
  const error = (at: number, member: string): string | undefined =>
    save.errorAt(`pageCredits.credits.contributors.${at}.${member}`, `credits_inline.${slug}.contributors.${at}.${member}`);
  return html`<${Dialog} title=${`Authors of ${page.title ?? page.path}`} open=${true} onClose=${onClose} confirm=${{ label: 'Review shares', stays: true, run: save.start }}>
      <p class="about">Each read is shared out by weight, to the micro-dollar, and paid straight to these wallets.</p>
      ${
        text === null
          ? html`${rows.map(
              (row, at) => html`<${Row} key=${at} row=${row} at=${at} error=${(member: string) => error(at, member)}
                set=${(changed: Partial<AuthorRow>) => set(at, changed)} remove=${rows.length > 1 ? () => setRows(rows.filter((_, index) => index !== at)) : null} />`,
            )}
              <div><${Button} kind="quiet" onClick=${() => setRows([...rows, emptyRow()])}>Add an author<//></div>`
          : html`<${Field} label="Credits (JSON)" hint="Authors of this page stand in groups." rows=${12} value=${text} onInput=${setText} />`
      }
      ${save.outcome(...rows.flatMap((_, at) => ['authorId', 'wallet', 'weight'].flatMap((member) => [`pageCredits.credits.contributors.${at}.${member}`, `credits_inline.${slug}.contributors.${at}.${member}`])))}
      ${remove.outcome()}
      ${page.credits === null ? null : html`<div class="actions"><${Button} kind="danger" onClick=${remove.start}>Take all away<//></div>`}
    <//>
    ${save.dialog} ${remove.dialog}`;
}

function Row({
  row,
  at,
  error,
  set,
  remove,
}: {
  readonly row: AuthorRow;
  readonly at: number;
  readonly error: (member: string) => string | undefined;
  readonly set: (changed: Partial<AuthorRow>) => void;
  readonly remove: (() => void) | null;
}): View {
  return html`<fieldset class="author">
    <legend class="sr">Author ${at + 1}</legend>
    <${Field} label="Author" value=${row.authorId} error=${error('authorId')} onInput=${(authorId: string) => set({ authorId })} />
    <${Field} label="Wallet" value=${row.wallet} placeholder="0x…" error=${error('wallet')} onInput=${(wallet: string) => set({ wallet })} />
    <${Field} label="Weight" inputMode="decimal" value=${row.weight} error=${error('weight')} onInput=${(weight: string) => set({ weight })} />
    ${remove ? html`<${Button} kind="quiet" label=${`Remove author ${at + 1}`} onClick=${remove}>✕<//>` : null}
  </fieldset>`;
}
