import { count, exactUsd, usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { setQuery } from '../../core/router.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Figure, Figures } from '../../parts/figure.ts';
import { Panel } from '../../parts/panel.ts';

/** What requests of a window come to at another price. */
export interface WhatIf {
  readonly readMicro: string;
  readonly totals: {
    readonly paid: number;
    readonly unanswered: number;
    readonly blocked: number;
    readonly earnedMicro: string;
    readonly unansweredMicro: string;
    readonly ifPaidMicro: string;
    readonly ifDeniedMicro: string;
    readonly ifBlockedMicro: string;
  };
}

/** A price in USD as the API takes it; null where a text is none. */
export function priceOf(text: string | undefined): string | null {
  return text !== undefined && /^\d{1,6}(\.\d{1,6})?$/.test(text) ? text : null;
}

/** Asks for a price, and tells what the requests that were made would have come to at it. */
export function WhatIfPanel({ answer, price }: { readonly answer: WhatIf | null; readonly price: string | null }): View {
  const [typed, type] = useState(price ?? '');
  const isPrice = typed === '' || priceOf(typed) !== null;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isPrice) setQuery({ price: typed });
  };
  return html`<${Panel}
    title="What another price would have earned"
    about="From the requests of this window. It assumes that agents ask as often at any price, so each figure is the most it could have been."
  >
    <form class="filters" onSubmit=${submit}>
      <${Field} label="USD per read" value=${typed} onInput=${type} inputMode="decimal" placeholder="0.005"
        error=${isPrice ? null : 'A number with at most 6 places'} />
      <${Button} type="submit">Calculate<//>
    </form>
    ${answer === null ? null : html`<${Figures}><${Sums} of=${answer} /><//>`}
  <//>`;
}

function Sums({ of: { totals, readMicro } }: { readonly of: WhatIf }): View {
  const requests = (n: number): string => `${count(n)} ${n === 1 ? 'request' : 'requests'}`;
  return html`<${Figure} label="Earned" value=${usd(totals.earnedMicro)} exact=${exactUsd(totals.earnedMicro)} note=${`${requests(totals.paid)}, at prices of then`} />
    <${Figure} label="Those who paid" value=${usd(totals.ifPaidMicro)} exact=${exactUsd(totals.ifPaidMicro)} note=${`at ${usd(readMicro)} per read`} />
    <${Figure} label="Those refused, had all paid" value=${usd(totals.ifDeniedMicro)} exact=${exactUsd(totals.ifDeniedMicro)} note=${requests(totals.unanswered)} />
    <${Figure} label="Those blocked, had all paid" value=${usd(totals.ifBlockedMicro)} exact=${exactUsd(totals.ifBlockedMicro)} note=${requests(totals.blocked)} />`;
}
