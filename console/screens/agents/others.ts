import { useQuery } from '../../core/data.ts';
import { count } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href } from '../../core/router.ts';
import { useWindow } from '../../core/windows.ts';
import { Await } from '../../parts/await.ts';
import { Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { OtherAgent, Others } from './document.ts';
import { OTHERS_DOCUMENT } from './document.ts';
import { sumsOf } from './tables.ts';

type Answer = { readonly tenant: { readonly otherAgents: Others | null } | null };

const namesOf = (rows: readonly OtherAgent[]): readonly Column<OtherAgent>[] => [
  { head: 'Name it sent', isName: true, width: 'wide', cell: nameOf },
  ...sumsOf(rows),
];

/** A name that is cut stands for several, so no filter finds them. */
function nameOf({ name, isCut }: OtherAgent): View {
  if (isCut || name === '') return html`<span title="Several names that begin alike">${name}…</span>`;
  return html`<a class="cut" title=${name} href=${href('/agents', { agent: 'other', name })}>${name}</a>`;
}

/** The largest names inside `other`, each leading to exactly its requests. */
export function OtherNames(): View {
  const others = useQuery<Answer>(OTHERS_DOCUMENT, { window: useWindow().window });
  return html`<${Await} of=${others} rows=${4} empty=${({ tenant }: Answer) => !tenant?.otherAgents}>
    ${({ tenant }: { readonly tenant: { readonly otherAgents: Others } }) => html`<${Names} of=${tenant.otherAgents} />`}
  <//>`;
}

function Names({ of: { agents, rest, restNames } }: { readonly of: Others }): View {
  const more = restNames === 0 ? '' : ` Not listed: ${count(rest.hits)} requests under ${count(restNames)} other names.`;
  return html`<${Panel} flush title="Largest names inside “other”" about=${`The User-Agents these requests sent; anybody can send any name.${more}`}>
    <${Table} label="Names inside other" columns=${namesOf(agents)} rows=${agents} keyOf=${({ name, isCut }: OtherAgent) => `${isCut} ${name}`}
      empty="No request in this window." />
  <//>`;
}
