import { giveBackFocus } from '../core/focus.ts';
import type { View } from '../core/html.ts';
import { html, useLayoutEffect, useRef, useState } from '../core/html.ts';
import type { Problem } from '../core/problem.ts';
import { problemOf } from '../core/problem.ts';
import { ProblemText } from './await.ts';
import type { ButtonKind } from './button.ts';
import { Button } from './button.ts';
import { Icon } from './icon.ts';
import { Notice } from './panel.ts';

/** What the main button of a dialog does; what it throws is shown, and the dialog stays. */
export interface Confirm {
  readonly label: string;
  readonly kind?: ButtonKind;
  readonly disabled?: boolean;
  /** The dialog stays when it is through: another one shows what it came to. */
  readonly stays?: boolean;
  readonly run: () => unknown;
}

/**
 * A dialog over the page: the browser keeps the focus inside, Esc closes, Enter in a field does what the main button does, and afterwards the
 * focus is where it was. Its children say what the change will do, before it is made. It closes itself when `confirm.run` is through.
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
  const [isBusy, setBusy] = useState(false);
  const under = useRef(false);
  useLayoutEffect(() => {
    setProblem(null);
    if (!open) return;
    const opener = document.activeElement;
    if (!box.current?.open) box.current?.showModal();
    box.current?.querySelector<HTMLElement>('.body :is(input, select, textarea)')?.focus();
    return () => giveBackFocus(opener);
  }, [open]);
  if (!open) return null;
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    event.stopPropagation(); // a dialog may stand inside the form of another
    if (!confirm || confirm.disabled || under.current) return;
    under.current = true;
    setBusy(true);
    setProblem(null);
    try {
      await confirm.run();
      if (!confirm.stays) onClose();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      under.current = false;
      setBusy(false);
    }
  };
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog ref=${box} class="dialog" aria-label=${title} onCancel=${cancel}>
    <header><h2>${title}</h2><${Button} kind="quiet" label="Close" onClick=${onClose}><${Icon} name="close" /><//></header>
    <form novalidate onSubmit=${run}><div class="body">
      ${children}
      ${problem ? html`<${Notice} tone="bad" title="Nothing was changed"><${ProblemText} problem=${problem} /><//>` : null}
    </div>
    <footer>
      <${Button} onClick=${onClose}>${confirm ? 'Cancel' : 'Close'}<//>
      ${confirm ? html`<${Button} type="submit" kind=${confirm.kind ?? 'primary'} disabled=${confirm.disabled} busy=${isBusy}>${confirm.label}<//>` : null}
    </footer></form>
  </dialog>`;
}
