import { useList } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { setQuery, useRoute } from '../../core/router.ts';
import { useWindow } from '../../core/windows.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Time } from '../../parts/figure.ts';
import { Head, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { WindowPicker } from '../../parts/windowPicker.ts';
import type { Changed, Entry } from './changes.ts';
import { actionText, changesOf, KNOWN_ACTIONS, viaText } from './changes.ts';

/** Who changed what, and what it was before. */
export const AUDIT_LOG_DOCUMENT = `query auditLog($tenantId: ID, $filter: AuditLogFilter, $after: String) {
  tenant(tenantId: $tenantId) {
    auditLog(filter: $filter, after: $after, first: 50) {
      totalCount pageInfo { hasNextPage endCursor } nodes { entryId actorId actorVia action target before after at }
    }
  }
}`;

interface Answer {
  readonly tenant: {
    readonly auditLog: {
      readonly totalCount: number | null;
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly Entry[];
    };
  } | null;
}

const ACTIONS = [
  { value: '', label: 'Every change' },
  ...KNOWN_ACTIONS.map((action) => ({ value: action, label: actionText(action) })).sort((a, b) => (a.label < b.label ? -1 : 1)),
];

/** Every change of the site: who, what, before and after. Entries are never changed or removed. */
export function AuditLog(): View {
  const { query } = useRoute();
  const { window } = useWindow();
  const [actor, setActor] = useState(query['who'] ?? '');
  const [target, setTarget] = useState(query['what'] ?? '');
  const filter = {
    window,
    ...(query['action'] ? { action: query['action'] } : {}),
    ...(query['who'] ? { actorId: query['who'] } : {}),
    ...(query['what'] ? { target: query['what'] } : {}),
  };
  const list = useList<Answer, Entry>(AUDIT_LOG_DOCUMENT, { filter }, ({ tenant }) => tenant?.auditLog ?? null);
  const search = (event: Event): void => {
    event.preventDefault();
    setQuery({ who: actor.trim(), what: target.trim() });
  };
  return html`<${Head} title="Audit log" about="Each change of the site, in the words of the service. Nobody can alter it."><${WindowPicker} /><//>
    <${Panel} flush title=${list.total === null ? 'Changes' : many(list.total, 'change')}>
      <form class="filters inset" role="search" onSubmit=${search}>
        <${Field} label="What happened" value=${query['action'] ?? ''} options=${ACTIONS} onInput=${(action: string) => setQuery({ action })} />
        <${Field} label="By whom" value=${actor} onInput=${setActor} />
        <${Field} label="To what" value=${target} onInput=${setTarget} />
        <${Button} type="submit">Search<//>
      </form>
      <${Await} of=${list} rows=${8} empty=${() => list.rows.length === 0} nothing=${html`<${Empty}>Nothing was changed in this window.<//>`}>
        ${() => html`<${Table} label="Changes" columns=${COLUMNS} rows=${list.rows} more=${list.more} keyOf=${({ entryId }: Entry) => entryId} />`}
      <//>
    <//>`;
}

const COLUMNS: readonly Column<Entry>[] = [
  { head: 'When', cell: ({ at }) => html`<${Time} at=${at} />` },
  {
    head: 'What',
    isName: true,
    cell: ({ action, target }) =>
      html`<span class="two"><span title=${action}>${actionText(action)}</span>${target === null ? null : html`<small><code>${target}</code></small>`}</span>`,
  },
  {
    head: 'By',
    width: 'late',
    cell: ({ actorId, actorVia }) => html`<span class="two"><span>${actorId}</span><small>${viaText(actorVia)}</small></span>`,
  },
  { head: 'Before and after', width: 'wide', cell: (entry) => html`<${Changes} of=${changesOf(entry)} />` },
];

const SHOWN = 4;

function Changes({ of: changes }: { readonly of: readonly Changed[] }): View {
  const [all, showAll] = useState(false);
  if (changes.length === 0) return html`<span class="muted">nothing that is shown</span>`;
  const shown = all ? changes : changes.slice(0, SHOWN);
  return html`<ul class="changes">
    ${shown.map(
      ({ place, before, after }) => html`<li key=${place}>
        ${place ? html`<span class="muted">${place}</span> ` : null}${before === null ? null : html`<del>${before}</del>`}${before !== null && after !== null ? html`<span aria-hidden="true"> → </span><span class="sr"> became </span>` : null}${after === null ? null : html`<ins>${after}</ins>`}
      </li>`,
    )}
    ${changes.length > shown.length ? html`<li><${Button} kind="quiet" onClick=${() => showAll(true)}>${changes.length - shown.length} more<//></li>` : null}
  </ul>`;
}
