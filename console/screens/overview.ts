import { useQuery } from '../core/data.ts';
import { count, difference, exactCount, exactUsd, usd } from '../core/format.ts';
import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';
import { useWindow } from '../core/windows.ts';
import { Await } from '../parts/await.ts';
import { Figure, Figures } from '../parts/figure.ts';
import { Head, Panel } from '../parts/panel.ts';
import { WindowPicker } from '../parts/windowPicker.ts';

/** What the site earned and missed. */
export const OVERVIEW_DOCUMENT = `query overview($tenantId: ID, $window: WindowInput) {
  tenant(tenantId: $tenantId) {
    earnings(window: $window, compare: true) { totals { grossMicro events } previous { grossMicro events } }
  }
}`;

interface Answer {
  readonly tenant: {
    readonly earnings: {
      readonly totals: { readonly grossMicro: string; readonly events: number };
      readonly previous: { readonly grossMicro: string; readonly events: number } | null;
    };
  };
}

/** How the site does, at a glance. */
export function Overview(): View {
  const { window } = useWindow();
  const query = useQuery<Answer>(OVERVIEW_DOCUMENT, { window });
  return html`<${Head} title="Overview"><${WindowPicker} /><//>
    <${Panel}>
      <${Await} of=${query}>
        ${({ tenant: { earnings } }: Answer) => html`<${Figures}>
          <${Figure} label="Earned" value=${usd(earnings.totals.grossMicro)} exact=${exactUsd(earnings.totals.grossMicro)}
            change=${difference(earnings.totals.grossMicro, earnings.previous?.grossMicro)} />
          <${Figure} label="Sales" value=${count(earnings.totals.events)} exact=${exactCount(earnings.totals.events)}
            change=${difference(earnings.totals.events, earnings.previous?.events)} />
        <//>`}
      <//>
    <//>`;
}
