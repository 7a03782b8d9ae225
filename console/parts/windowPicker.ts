import { day } from '../core/format.ts';
import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';
import { setQuery } from '../core/router.ts';
import type { LookedAt } from '../core/windows.ts';
import { daysOf, TIME_ZONE, useWindow, WINDOWS } from '../core/windows.ts';

/** Picks the window that the address says, and says which days it is, by whose clock; `useWindow` reads it. */
export function WindowPicker(): View {
  const at = useWindow();
  const { key, days } = at;
  const pick = (event: Event): void => {
    const picked = (event.currentTarget as HTMLSelectElement).value;
    if (picked === 'custom') setQuery({ window: 'custom', from: dayBefore(6), to: dayBefore(0) });
    else setQuery({ window: picked === WINDOWS[0].key ? null : picked, from: null, to: null });
  };
  const dated = (name: 'from' | 'to') => (event: Event) =>
    setQuery({ window: 'custom', ...days, [name]: (event.currentTarget as HTMLInputElement).value });
  return html`<div class="window-picker">
    <span class="window-days">${daysText(at)}<span class="muted"> ${zoneName()}</span></span>
    <select aria-label="Window" value=${key} onChange=${pick}>
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

/** `1–28 Nov`, `27 Oct – 28 Nov`, with the year where it is not this one. */
export function daysText(at: Pick<LookedAt, 'key' | 'days'>, now: Date = new Date()): string {
  const [from, to] = daysOf(at, now);
  const isOneMonth = from.getFullYear() === to.getFullYear() && from.getMonth() === to.getMonth();
  if (isOneMonth && from.getDate() === to.getDate()) return day(to.getTime(), now.getTime());
  return isOneMonth
    ? `${from.getDate()}–${day(to.getTime(), now.getTime())}`
    : `${day(from.getTime(), now.getTime())} – ${day(to.getTime(), now.getTime())}`;
}

/** The zone in a word, `Berlin time`; the whole name is what a file says. */
function zoneName(): string {
  return TIME_ZONE.includes('/') ? `${(TIME_ZONE.split('/').at(-1) ?? TIME_ZONE).replaceAll('_', ' ')} time` : TIME_ZONE;
}

function dayBefore(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() - days);
  return [at.getFullYear(), String(at.getMonth() + 1).padStart(2, '0'), String(at.getDate()).padStart(2, '0')].join('-');
}
