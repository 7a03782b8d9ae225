import type { More } from '../../core/data.ts';
import { exactMoment, placesOf, short, words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href, routeNow } from '../../core/router.ts';
import { Money, Time } from '../../parts/figure.ts';
import type { Tone } from '../../parts/panel.ts';
import { Badge } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { LedgerEntry } from './words.ts';
import { reversedAt } from './words.ts';

/** A payment of a list. */
export interface PaymentRow {
  readonly paymentId: string;
  /** `MOCK`: a test, by which nobody earned anything. */
  readonly mode: string;
  readonly slug: string;
  readonly title: string | null;
  readonly host: string;
  readonly state: string;
  readonly micro: string;
  readonly acceptedAt: number;
  readonly reason: string | null;
  readonly payer?: string;
  /** What it wrote into the ledger, in no order. */
  readonly crossings: readonly LedgerEntry[];
}

const TONES: Readonly<Record<string, Tone>> = {
  FINAL: 'good',
  SETTLED: 'good',
  FAILED: 'bad',
  EXPIRED: 'bad',
  REVIEW: 'warn',
  HELD: 'warn',
  BROADCAST: 'accent',
  ACCEPTED: 'accent',
};

/** Where a payment stands. */
export function StateBadge({ state, reason }: { readonly state: string; readonly reason?: string | null }): View {
  return html`<${Badge} tone=${TONES[state] ?? 'plain'} title=${reason ? words(reason) : undefined}>${words(state)}<//>`;
}

/** That a sale was taken back, and when the ledger says so; its own screen has the correction. */
export function Reversal({ crossings }: Pick<PaymentRow, 'crossings'>): View {
  const at = reversedAt(crossings);
  if (at === null) return null;
  return html`<${Badge} tone="bad" title=${`Taken back ${exactMoment(at)}`}>Reversed<//>`;
}

/** A page by its title, or where that is unknown by its slug; a licence is no page. */
export function pageName(slug: string, title: string | null = null): string {
  if (slug.startsWith('licence:')) return 'Licence';
  return title ?? slug;
}

/** Payments, each leading to its own screen. */
export function PaymentsTable({
  rows,
  empty,
  more = null,
  orderBy,
}: {
  readonly rows: readonly PaymentRow[];
  readonly empty: string;
  readonly more?: More | null;
  /** In which order they are, where another may be chosen. */
  readonly orderBy?: string;
}): View {
  const sort = (most: string, least: string) => {
    if (orderBy === undefined) return {};
    const now = orderBy === most ? ('descending' as const) : orderBy === least ? ('ascending' as const) : null;
    return { sort: { href: href('/earnings', { ...routeNow().query, order: orderBy === most ? least : most }), now } };
  };
  const places = placesOf(rows.map(({ micro }) => micro));
  const columns: readonly Column<PaymentRow>[] = [
    {
      head: 'Accepted',
      ...sort('NEWEST', 'OLDEST'),
      cell: ({ acceptedAt, paymentId }) =>
        html`<a href=${href(`/earnings/payments/${paymentId}`)}><${Time} at=${acceptedAt} /></a>`,
    },
    {
      head: 'Page',
      isName: true,
      width: 'wide',
      cell: ({ slug, title, host }) =>
        html`<span title=${slug}><bdi>${pageName(slug, title)}</bdi></span> <span class="muted">${host}</span>`,
    },
    {
      head: 'State',
      cell: ({ state, reason, mode, crossings }) =>
        html`<${StateBadge} state=${state} reason=${reason} /> <${Reversal} crossings=${crossings} />${mode === 'MOCK' ? html` <${Badge} title="Bought with a test key: no money moved">Test<//>` : null}`,
    },
    {
      head: 'Buyer',
      width: 'late',
      cell: ({ payer }) => (payer === undefined ? '' : html`<code title=${payer}>${short(payer)}</code>`),
    },
    {
      head: 'Amount',
      align: 'end',
      ...sort('LARGEST', 'SMALLEST'),
      cell: ({ micro }) => html`<${Money} micro=${micro} places=${places} />`,
    },
  ];
  const shown = rows.some(({ payer }) => payer !== undefined) ? columns : columns.filter(({ head }) => head !== 'Buyer');
  return html`<${Table} label="Payments" columns=${shown} rows=${rows} keyOf=${({ paymentId }: PaymentRow) => paymentId} empty=${empty} more=${more} />`;
}
