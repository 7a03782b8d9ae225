import { useQuery } from '../../core/data.ts';
import { count, exactCount, exactSpan, span } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Await } from '../../parts/await.ts';
import { Figure, Figures } from '../../parts/figure.ts';
import { Panel } from '../../parts/panel.ts';
import { TIMES_DOCUMENT } from './documents.ts';

interface Percentiles {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

interface Answer {
  readonly tenant: {
    readonly webhookTimes: {
      readonly failing: number;
      readonly firstAttempt: Percentiles;
      readonly delivered: Percentiles & { readonly deliveries: number };
    } | null;
  } | null;
}

/** How fast webhooks were in the last seven days, and how many fail now. */
export function Times(): View {
  const query = useQuery<Answer>(TIMES_DOCUMENT);
  return html`<${Panel}>
    <${Await} of=${query} rows=${2} empty=${({ tenant }: Answer) => !tenant?.webhookTimes}>
      ${({ tenant }: Answer) => {
        const times = tenant?.webhookTimes;
        if (!times) return null;
        const { delivered, firstAttempt, failing } = times;
        const typical = (of: Percentiles): View => html`95 of 100 within ${span(of.p95Ms)}`;
        return html`<${Figures}>
          <${Figure} label="Delivered, 7 days" value=${count(delivered.deliveries)} exact=${exactCount(delivered.deliveries)} />
          <${Figure} label="Until delivered" value=${span(delivered.p50Ms)} exact=${exactSpan(delivered.p50Ms)} note=${typical(delivered)} />
          <${Figure} label="Until first tried" value=${span(firstAttempt.p50Ms)} exact=${exactSpan(firstAttempt.p50Ms)} note=${typical(firstAttempt)} />
          <${Figure} label="Failing now" value=${count(failing)} exact=${exactCount(failing)} />
        <//>`;
      }}
    <//>
  <//>`;
}
