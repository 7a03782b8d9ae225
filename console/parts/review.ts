import type { View } from '../core/html.ts';
import { html, useState } from '../core/html.ts';
import type { Problem } from '../core/problem.ts';
import { problemOf } from '../core/problem.ts';
import { ProblemText } from './await.ts';
import { Button } from './button.ts';
import { Dialog } from './dialog.ts';
import { Notice } from './panel.ts';

/** A change that is looked at before it is made. */
export interface Reviewed<Effect> {
  readonly title: string;
  /** Reads what the change would do. A refusal it throws is shown at the field, and no dialog opens. */
  readonly look: () => Promise<Effect>;
  /** Draws what it would do. */
  readonly show: (effect: Effect) => View;
  /** Makes the change as it was looked at. */
  readonly make: (effect: Effect) => Promise<unknown>;
  /** What the button says that makes it. */
  readonly confirm: string;
  readonly danger?: boolean;
  /** True where there is nothing to change. */
  readonly isIdle?: (effect: Effect) => boolean;
  /** Afterwards: what is shown is read again. */
  readonly done: () => unknown;
  /** What is said afterwards. */
  readonly said?: string;
}

/** What a screen shows of a change: its dialog, what went wrong where, and that it was made. */
export interface Review {
  /** Looks at the change; the dialog opens with what it would do. */
  readonly start: () => Promise<void>;
  readonly dialog: View;
  /** The refusal of a field; of a list of names that the API uses for it, or for what is inside. What was typed stays. */
  readonly errorAt: (...parameters: readonly string[]) => string | undefined;
  /** A refusal that is of no field, and what was done, as notices. `fields` are those that show theirs themselves. */
  readonly outcome: (...fields: readonly string[]) => View;
}

/** What was looked at, and the change it was looked at for: that one is made, whatever is typed meanwhile. */
interface Looked<Effect> {
  readonly effect: Effect;
  readonly of: Reviewed<Effect>;
}

/** Leads a change through: look, show, make. Somebody else's change meanwhile is told, and can be looked at anew. */
export function useReview<Effect>(of: Reviewed<Effect>): Review {
  const [looked, setLooked] = useState<Looked<Effect> | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isOld, setOld] = useState(false);
  const [isDone, setDone] = useState(false);
  const start = async (): Promise<void> => {
    setProblem(null);
    setOld(false);
    setDone(false);
    try {
      setLooked({ effect: await of.look(), of });
    } catch (error) {
      setLooked(null);
      setProblem(problemOf(error));
    }
  };
  const make = async (): Promise<void> => {
    if (looked === null) return;
    try {
      await looked.of.make(looked.effect);
    } catch (error) {
      const found = problemOf(error);
      if (found.parameter === null) {
        setOld(found.code === 'conflict');
        throw found;
      }
      setProblem(found);
      return;
    }
    setDone(true);
    of.done();
  };
  const place = problem?.parameter ?? null;
  const names = (parameters: readonly string[]): boolean =>
    place !== null && parameters.some((one) => place === one || place.startsWith(`${one}.`));
  const body =
    looked === null ? null : html`${looked.of.show(looked.effect)} ${isOld ? html`<${Again} onClick=${start} />` : null}`;
  const confirm = {
    label: of.confirm,
    kind: of.danger ? 'danger' : 'primary',
    disabled: isOld || looked === null || looked.of.isIdle?.(looked.effect) === true,
    run: make,
  };
  return {
    start,
    dialog: html`<${Dialog} title=${of.title} open=${looked !== null} onClose=${() => setLooked(null)} confirm=${confirm}>${body}<//>`,
    errorAt: (...parameters) => (names(parameters) ? (problem?.message ?? undefined) : undefined),
    outcome: (...fields) => {
      if (isDone) return html`<${Notice} tone="good">${of.said ?? 'Saved.'}<//>`;
      if (problem === null || names(fields)) return null;
      return html`<${Notice} tone="bad" title="Nothing was changed"><${ProblemText} problem=${problem} /><//>`;
    },
  };
}

function Again({ onClick }: { readonly onClick: () => unknown }): View {
  const action = html`<${Button} onClick=${onClick}>Look again<//>`;
  return html`<${Notice} tone="warn" title="Somebody changed this meanwhile" action=${action}>
    What you typed is kept. Look at what it would do now.
  <//>`;
}

/**
 * A value as it is stored until somebody types; then what was typed, whatever is stored meanwhile, until `reset`. Afterwards: saved, or given up. At the
 * end whether it differs from what is stored.
 */
export function useTyped<T>(stored: T): readonly [T, (typed: T) => void, () => void, boolean] {
  const [typed, setTyped] = useState<{ readonly value: T } | null>(null);
  const isOther = typed !== null && JSON.stringify(typed.value) !== JSON.stringify(stored);
  return [typed === null ? stored : typed.value, (value) => setTyped({ value }), () => setTyped(null), isOther];
}

/**
 * Fields of one change, and below them, once something was typed, the bar that leads on: Enter in a field does, too. What is wrong the service says. `discard` gives up what was typed.
 */
export function ReviewForm({
  review,
  isChanged,
  discard,
  children,
}: {
  readonly review: Review;
  readonly isChanged: boolean;
  readonly discard: () => void;
  readonly children?: View;
}): View {
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isChanged) void review.start();
  };
  return html`<form class="form" novalidate onSubmit=${submit}>
    ${children}
    ${
      isChanged
        ? html`<div class="save"><span>Not saved yet</span><${Button} kind="quiet" onClick=${discard}>Discard<//>
            <${Button} kind="primary" type="submit">Review change<//></div>`
        : null
    }
  </form>`;
}

/** What a change does, line by line: the first line is what it comes to. */
export function Effect({ lines }: { readonly lines: readonly View[] }): View {
  const [first, ...others] = lines;
  return html`<div class="effect">
    <p class="sum">${first}</p>
    ${others.length > 0 ? html`<ul>${others.map((line, at) => html`<li key=${at}>${line}</li>`)}</ul>` : null}
  </div>`;
}

/** Names as small labels, cut after some. */
export function Names({ of, most = 8 }: { readonly of: readonly string[]; readonly most?: number }): View {
  return html`<span class="names">
    ${of.slice(0, most).map((name) => html`<code key=${name}>${name}</code>`)}
    ${of.length > most ? html`<span class="muted">and ${(of.length - most).toLocaleString('en-US')} more</span>` : null}
  </span>`;
}
