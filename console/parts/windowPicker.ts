import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';
import { setQuery } from '../core/router.ts';
import { TIME_ZONE, useWindow, WINDOWS } from '../core/windows.ts';

/** Picks the window that the address says; `useWindow` reads it. */
export function WindowPicker(): View {
  const { key, days } = useWindow();
  const pick = (event: Event): void => {
    const picked = (event.currentTarget as HTMLSelectElement).value;
    if (picked === 'custom') setQuery({ window: 'custom', from: dayBefore(6), to: dayBefore(0) });
    else setQuery({ window: picked === WINDOWS[0].key ? null : picked, from: null, to: null });
  };
  const dated = (name: 'from' | 'to') => (event: Event) =>
    setQuery({ window: 'custom', ...days, [name]: (event.currentTarget as HTMLInputElement).value });
  return html`<div class="window-picker">
    <select aria-label="Window" title=${`By the clock of ${TIME_ZONE}`} value=${key} onChange=${pick}>
      ${WINDOWS.map((one) => html`<option key=${one.key} value=${one.key}>${one.label}</option>`)}
      <option value="custom">From … to …</option>
    </select>
    ${
      key === 'custom'
        ? html`<input type="date" aria-label="First day" value=${days.from} max=${days.to} onChange=${dated('from')} />
          <input type="date" aria-label="Last day" value=${days.to} min=${days.from} onChange=${dated('to')} />`
        : null
    }
  </div>`;
}

function dayBefore(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() - days);
  return [at.getFullYear(), String(at.getMonth() + 1).padStart(2, '0'), String(at.getDate()).padStart(2, '0')].join('-');
}
