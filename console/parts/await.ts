import type { QueryOf } from '../core/data.ts';
import { ago } from '../core/format.ts';
import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';
import type { Problem } from '../core/problem.ts';
import { Button } from './button.ts';
import { Notice } from './panel.ts';

/**
 * Draws what a query came to: a quiet frame while it loads, the error with a way to ask again, an older answer to the same question with a
 * word about its age, `nothing` where `empty` says that there is nothing, else its children with the data.
 */
export function Await<T>({
  of: query,
  empty,
  nothing,
  rows = 4,
  isReport = false,
  children,
}: {
  readonly of: QueryOf<T>;
  readonly empty?: (data: T) => boolean;
  readonly nothing?: View;
  /** Lines of the frame that is shown meanwhile. */
  readonly rows?: number;
  /** Figures, a chart and a list will be there, each in a frame of its own. */
  readonly isReport?: boolean;
  readonly children: (data: T) => View;
}): View {
  if (query.state === 'loading') return isReport ? html`<${Report} rows=${rows} />` : html`<${Skeleton} rows=${rows} />`;
  if (query.data === null) return html`<${Failed} problem=${query.problem} again=${query.reload} />`;
  const isBusy = query.state === 'stale' && query.problem === null;
  const inside = empty?.(query.data) === true ? (nothing ?? html`<${Empty}>Nothing in this window.<//>`) : children(query.data);
  return html`<div class=${query.state === 'stale' ? 'await stale' : 'await'} aria-busy=${isBusy}>
    ${query.problem === null ? null : html`<${Older} problem=${query.problem} at=${query.state === 'stale' ? query.fetchedAt : null} again=${query.reload} />`}
    ${inside}
  </div>`;
}

/** Lines where text will be. */
export function Skeleton({ rows = 4 }: { readonly rows?: number }): View {
  return html`<div class="skeleton" role="status" aria-busy="true">
    <span class="sr">Loading</span>
    ${Array.from({ length: rows }, (_, row) => html`<div key=${row} aria-hidden="true"></div>`)}
  </div>`;
}

/** Places where figures, a chart and a list will be: what is asked now has no figures yet, and those of before are of something else. */
function Report({ rows }: { readonly rows: number }): View {
  return html`<div class="stack">
    <div class="panel"><div class="body skeleton figures" aria-hidden="true">${Array.from({ length: 5 }, (_, at) => html`<div key=${at}></div>`)}</div></div>
    <div class="panel"><div class="body skeleton" aria-hidden="true"><div class="chart"></div></div></div>
    <div class="panel"><div class="body"><${Skeleton} rows=${rows} /></div></div>
  </div>`;
}

/** A place with nothing in it yet, and what would bring something. */
export function Empty({
  title,
  action,
  children,
}: {
  readonly title?: View;
  readonly action?: View;
  readonly children?: View;
}): View {
  return html`<div class="empty">
    ${title ? html`<strong>${title}</strong>` : null}
    <p>${children}</p>
    ${action}
  </div>`;
}

/** A problem in words, with what support needs. */
export function ProblemText({ problem }: { readonly problem: Problem | null }): View {
  if (problem === null) return 'Something went wrong.';
  return html`${problem.message} ${problem.requestId ? html`<span class="muted">Call <code>${problem.requestId}</code></span>` : null}`;
}

function Failed({ problem, again }: { readonly problem: Problem | null; readonly again: () => void }): View {
  return html`<${Notice} tone="bad" title="This could not be loaded" action=${html`<${Button} onClick=${again}>Try again<//>`}>
    <${ProblemText} problem=${problem} />
  <//>`;
}

function Older({
  problem,
  at,
  again,
}: {
  readonly problem: Problem;
  readonly at: number | null;
  readonly again: () => void;
}): View {
  const title = at === null ? 'Not everything could be loaded' : `This is what was known ${ago(at)}`;
  return html`<${Notice} tone="warn" title=${title} action=${html`<${Button} onClick=${again}>Try again<//>`}>
    <${ProblemText} problem=${problem} />
  <//>`;
}
