import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Field } from '../../parts/field.ts';
import { Effect, Names, useReview } from '../../parts/review.ts';
import { importOf } from './credits.ts';
import { IMPORT_PAGES_DOCUMENT, pricesNow } from './documents.ts';

/** Adds pages to the catalogue, one a line. */
export function Import({
  prefixes,
  onClose,
  done,
}: {
  readonly prefixes: readonly string[] | null;
  readonly onClose: () => void;
  readonly done: () => void;
}): View {
  const [text, setText] = useState('');
  const review = useReview({
    title: 'Import pages',
    look: async () => {
      const { pages, wrong } = importOf(text, prefixes);
      if (wrong.length > 0)
        throw new Problem('invalid', `These lines name no page: ${wrong.slice(0, 3).join(' · ')}`, { parameter: 'pages' });
      if (pages.length === 0) throw new Problem('invalid', 'Write one page a line.', { parameter: 'pages' });
      return { pages, version: (await pricesNow()).version };
    },
    show: ({ pages }) =>
      html`<${Effect} lines=${[
        html`${many(pages.length, 'page')} ${pages.length === 1 ? 'is' : 'are'} in the catalogue then: <${Names} of=${pages.map(({ path }) => path)} />`,
        'Pages that are there already, by the same slug, get the path and title of these lines, and lose authors they were imported with.',
        'Authors that you set here are not touched. A page without any is free.',
      ]} />`,
    make: ({ pages, version }) => mutate(IMPORT_PAGES_DOCUMENT, { pages, ifVersion: version }),
    confirm: 'Import',
    done: () => {
      done();
      onClose();
    },
  });
  return html`<${Dialog} title="Import pages" open=${true} onClose=${onClose} confirm=${{ label: 'Review', stays: true, run: review.start }}>
      <${Field} label="Pages" rows=${10} value=${text} onInput=${setText} error=${review.errorAt('pages', 'input')}
        placeholder=${'/articles/first, The first article\n/articles/second'}
        hint="One page a line: its path or address, then a comma and its title. At most 5,000 at once." />
      ${review.outcome('pages', 'input')}
    <//>
    ${review.dialog}`;
}
