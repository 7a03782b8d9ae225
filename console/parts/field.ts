import type { View } from '../core/html.ts';
import { html, useMemo } from '../core/html.ts';

let named = 0;

/** One input with its label: a line of text, `rows` of it, or with `options` a choice. `error` stands below it and is read with it. */
export function Field({
  label,
  hint,
  error,
  value,
  onInput,
  type = 'text',
  options,
  rows,
  required = false,
  disabled = false,
  placeholder,
  inputMode,
  autocomplete = 'off',
}: {
  readonly label: View;
  readonly hint?: View;
  readonly error?: View;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'text' | 'email' | 'url' | 'password' | 'date' | 'search' | 'number';
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly rows?: number;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly placeholder?: string;
  readonly inputMode?: 'decimal' | 'numeric' | 'text';
  readonly autocomplete?: string;
}): View {
  const id = useMemo(() => `field-${++named}`, []);
  const about = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ') || undefined;
  const input = (event: Event): void => onInput((event.currentTarget as HTMLInputElement).value);
  const common = {
    id,
    value,
    required,
    disabled,
    onInput: input,
    'aria-describedby': about,
    'aria-invalid': error ? 'true' : undefined,
  };
  const box = (): View => {
    if (options)
      return html`<select ...${common}>${options.map((one) => html`<option key=${one.value} value=${one.value}>${one.label}</option>`)}</select>`;
    if (rows) return html`<textarea ...${common} rows=${rows} placeholder=${placeholder} spellcheck=${false}></textarea>`;
    return html`<input ...${common} type=${type} placeholder=${placeholder} inputmode=${inputMode} autocomplete=${autocomplete} spellcheck=${false} />`;
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${box()}
    ${hint ? html`<p class="hint" id=${`${id}-hint`}>${hint}</p>` : null} ${error ? html`<p class="error" id=${`${id}-error`}>${error}</p>` : null}
  </div>`;
}

/** A box to tick. */
export function Check({
  label,
  hint,
  checked,
  disabled = false,
  onChange,
}: {
  readonly label: View;
  readonly hint?: View;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}): View {
  const tick = (event: Event): void => onChange((event.currentTarget as HTMLInputElement).checked);
  return html`<label class="check">
    <input type="checkbox" checked=${checked} disabled=${disabled} onChange=${tick} />
    <span>${label}${hint ? html`<span class="hint">${hint}</span>` : null}</span>
  </label>`;
}
