import { useList } from '../../core/data.ts';
import { plain } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Time } from '../../parts/figure.ts';
import { Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { PRICE_HISTORY_DOCUMENT } from './documents.ts';

interface Price {
  readonly priceUsdc: string;
  readonly citationMultiplier: string | null;
}

interface Change {
  readonly version: number;
  readonly at: number;
  readonly actorId: string | null;
  readonly actorVia: string | null;
  readonly from: Price | null;
  readonly to: Price;
}

interface Answer {
  readonly tenant: {
    readonly priceHistory: {
      readonly totalCount: number | null;
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly Change[];
    } | null;
  } | null;
}

/** A price as it was set: `$0.01, a citation 5 ×`. */
function priceOf({ priceUsdc, citationMultiplier }: Price): string {
  return `$${plain(priceUsdc)}, a citation ${citationMultiplier ?? '5'} ×`;
}

const COLUMNS: readonly Column<Change>[] = [
  { head: 'Since', isName: true, cell: ({ at }) => html`<${Time} at=${at} />` },
  { head: 'Price', cell: ({ to }) => priceOf(to) },
  {
    head: 'Before',
    width: 'late',
    cell: ({ from }) => (from === null ? html`<span class="muted">the first</span>` : priceOf(from)),
  },
  { head: 'By', width: 'late', cell: ({ actorId }) => actorId ?? html`<span class="muted">–</span>` },
];

/** The prices of before, with who set them. */
export function History(): View {
  const list = useList<Answer, Change>(PRICE_HISTORY_DOCUMENT, {}, ({ tenant }) => tenant?.priceHistory ?? null);
  return html`<${Panel} flush title="Price history">
    <${Await} of=${list} empty=${() => list.rows.length === 0} nothing=${html`<${Empty}>The price was never changed.<//>`}>
      ${() => html`<${Table} label="Price history" columns=${COLUMNS} rows=${list.rows} more=${list.more} keyOf=${({ version }: Change) => String(version)} />`}
    <//>
  <//>`;
}
