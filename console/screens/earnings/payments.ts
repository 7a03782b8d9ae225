import { useList } from '../../core/data.ts';
import { words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { setQuery, useRoute } from '../../core/router.ts';
import { useWindow } from '../../core/windows.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Notice, Panel } from '../../parts/panel.ts';
import type { PaymentRow } from '../payments/table.ts';
import { PaymentsTable } from '../payments/table.ts';
import { PAYMENTS_DOCUMENT } from './document.ts';
import { filtersOf, paymentFilters } from './filters.ts';

const STATES = ['FINAL', 'SETTLED', 'BROADCAST', 'ACCEPTED', 'HELD', 'FAILED', 'EXPIRED', 'SUPERSEDED', 'REVIEW'];
const ORDERS = ['NEWEST', 'OLDEST', 'LARGEST', 'SMALLEST'];

type Answer = {
  readonly tenant: {
    readonly payments: {
      readonly nodes: readonly PaymentRow[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    } | null;
  } | null;
};

/** Payments one by one, whatever became of them. */
export function Payments(): View {
  const { query } = useRoute();
  const { window } = useWindow();
  const { known, unknown } = paymentFilters(filtersOf(query));
  const state = STATES.find((one) => one === query['state']);
  const orderBy = ORDERS.find((one) => one === query['order']) ?? 'NEWEST';
  const filter = { window, ...known, ...(state === undefined ? {} : { states: [state] }) };
  // A filter that is left aside in silence would list payments of others below its words.
  const list = useList<Answer, PaymentRow>(
    unknown.length > 0 ? null : PAYMENTS_DOCUMENT,
    { filter, orderBy },
    ({ tenant }) => tenant?.payments ?? null,
  );
  return html`<${Panel} title="Payments" flush actions=${html`<${Choice} name="state" label="State" all="Every state" options=${STATES} value=${state ?? ''} />
    <${Choice} name="order" label="Order" options=${ORDERS} value=${orderBy} />`}>
    ${
      unknown.length > 0
        ? html`<${Notice} action=${html`<${Button} onClick=${() => setQuery(Object.fromEntries(unknown.map(({ name }) => [name, null])))}>Leave it out<//>`}>
            Payments cannot be filtered by ${unknown.map(({ label }) => label).join(' and ')}.
          <//>`
        : html`<${Await} of=${list} rows=${8}>
            ${() => html`<${PaymentsTable} rows=${list.rows} more=${list.more} orderBy=${orderBy} empty="No payment in this window." />`}
          <//>`
    }
  <//>`;
}

function Choice({
  name,
  label,
  all,
  options,
  value,
}: {
  readonly name: string;
  readonly label: string;
  readonly all?: string;
  readonly options: readonly string[];
  readonly value: string;
}): View {
  const pick = (event: Event): void => setQuery({ [name]: (event.currentTarget as HTMLSelectElement).value });
  return html`<select aria-label=${label} value=${value} onChange=${pick}>
    ${all === undefined ? null : html`<option value="">${all}</option>`}
    ${options.map((one) => html`<option key=${one} value=${one}>${words(one)}</option>`)}
  </select>`;
}
