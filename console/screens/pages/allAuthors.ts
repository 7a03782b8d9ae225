import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Field } from '../../parts/field.ts';
import { useReview } from '../../parts/review.ts';
import { allCreditsOf } from './credits.ts';
import { lookAt, SET_CREDITS_DOCUMENT } from './documents.ts';
import { showPriceEffect } from './showEffect.ts';

/** Sets who is paid for all pages at once, one author a line. */
export function AllAuthors({ onClose, done }: { readonly onClose: () => void; readonly done: () => void }): View {
  const [text, setText] = useState('');
  const review = useReview({
    title: 'Replace the authors of all pages',
    look: async () => {
      const { pages, wrong } = allCreditsOf(text);
      if (wrong !== null) {
        throw new Problem('invalid', `This line is no slug, author, wallet and weight: ${wrong}`, { parameter: 'pages' });
      }
      return { ...(await lookAt({ credits: pages })), named: pages };
    },
    show: (
      effect,
    ) => html`<p>${many(effect.named.length, 'page')} ${effect.named.length === 1 ? 'has' : 'have'} authors here then, and no other.</p>
      ${showPriceEffect(effect)}`,
    make: ({ named, version }) => mutate(SET_CREDITS_DOCUMENT, { pages: named, ifVersion: version }),
    confirm: 'Replace all authors',
    danger: true,
    done: () => {
      done();
      onClose();
    },
  });
  return html`<${Dialog} title="Replace the authors of all pages" open=${true} onClose=${onClose} confirm=${{ label: 'Review change', stays: true, run: review.start }}>
      <${Field} label="Authors" rows=${10} value=${text} onInput=${setText} error=${review.errorAt('pages', 'credits', 'credits_inline')}
        placeholder=${'first, ann, 0x1111…, 2\nfirst, bob, 0x2222…, 1'}
        hint="One author a line: slug, author, wallet, weight. Pages that no line names have no authors here afterwards." />
      ${review.outcome('pages', 'credits', 'credits_inline')}
    <//>
    ${review.dialog}`;
}
