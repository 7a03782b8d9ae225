import type { View } from '../core/html.ts';
import { html, useEffect, useRef, useState } from '../core/html.ts';
import type { Problem } from '../core/problem.ts';
import { problemOf } from '../core/problem.ts';
import { ProblemText } from './await.ts';
import type { ButtonKind } from './button.ts';
import { Button } from './button.ts';
import { Notice } from './panel.ts';

/** What the main button of a dialog does; what it throws is shown, and the dialog stays. */
export interface Confirm {
  readonly label: string;
  readonly kind?: ButtonKind;
  readonly disabled?: boolean;
  readonly run: () => unknown;
}

/**
 * A dialog over the page: the browser keeps the focus inside and gives it back, Esc closes. Its children say what the change will do,
 * before it is made. It closes itself when `confirm.run` is through.
 */
export function Dialog({
  title,
  open,
  onClose,
  confirm,
  children,
}: {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly confirm?: Confirm;
  readonly children?: View;
}): View {
  const box = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const dialog = box.current;
    if (open && dialog && !dialog.open) dialog.showModal();
    if (!open) dialog?.close();
    setProblem(null);
  }, [open]);
  if (!open) return null;
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem(null);
    try {
      await confirm?.run();
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog ref=${box} class="dialog" aria-label=${title} onCancel=${cancel}>
    <header><h2>${title}</h2><${Button} kind="quiet" label="Close" onClick=${onClose}>✕<//></header>
    <div class="body">
      ${children}
      ${problem ? html`<${Notice} tone="bad" title="Nothing was changed"><${ProblemText} problem=${problem} /><//>` : null}
    </div>
    <footer>
      <${Button} onClick=${onClose}>${confirm ? 'Cancel' : 'Close'}<//>
      ${confirm ? html`<${Button} kind=${confirm.kind ?? 'primary'} disabled=${confirm.disabled} onClick=${run}>${confirm.label}<//>` : null}
    </footer>
  </dialog>`;
}
