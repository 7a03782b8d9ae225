import type { Page } from '../../core/data.ts';
import { change, useList } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { href, setQuery, useRoute } from '../../core/router.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Field } from '../../parts/field.ts';
import { Time } from '../../parts/figure.ts';
import { Badge, Head, Notice, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { Host } from './documents.ts';
import { HOSTS_DOCUMENT, OPEN_HOST_DOCUMENT, REMOVE_HOST_DOCUMENT } from './documents.ts';
import { Proof } from './proof.ts';
import { MODES, nextActionText } from './words.ts';

interface Answer {
  readonly tenant: { readonly hosts: Page<Host> };
}

/** Hosts of the site: proven ones, those on their way, and how to prove one. */
export function Hosts(): View {
  const { query: asked } = useRoute();
  const list = useList<Answer, Host>(HOSTS_DOCUMENT, {}, ({ tenant }) => tenant.hosts);
  const [removing, remove] = useState<string | null>(null);
  const [isAdding, add] = useState(false);
  const open = list.rows.find(({ host }) => host === asked['host']) ?? null;
  const toAdd = html`<${Button} kind="primary" onClick=${() => add(true)}>Add a host<//>`;
  return html`<${Head} title="Hosts" about="Pages are sold on hosts that are proven to be yours.">${toAdd}<//>
    ${open && open.verifiedAt === null ? html`<${Open} host=${open} onChange=${list.reload} />` : null}
    ${open && open.verifiedAt !== null ? html`<${Notice} tone="good" title=${`${open.host} is proven`} action=${html`<${Button} onClick=${() => setQuery({ host: null })}>Close<//>`}>Leave the proof where it is: we look again every day.<//>` : null}
    <${Panel} flush>
      <${Await} of=${list} empty=${() => list.rows.length === 0} nothing=${html`<${Empty} title="No host yet" action=${toAdd}>Add the host that your pages are on, and prove it.<//>`}>
        ${() => html`<${Table} label="Hosts" columns=${columns(remove)} rows=${list.rows} keyOf=${({ host }: Host) => host} more=${list.more} />`}
      <//>
    <//>
    <${AddHost} open=${isAdding} onClose=${() => add(false)} onAdded=${list.reload} />
    <${RemoveHost} host=${removing} onClose=${() => remove(null)} onRemoved=${list.reload} />`;
}

function Open({ host, onChange }: { readonly host: Host; readonly onChange: () => void }): View {
  const close = html`<${Button} kind="quiet" onClick=${() => setQuery({ host: null })}>Close<//>`;
  return html`<${Panel} title=${`Prove ${host.host}`} about="Publish one of these, then check." actions=${close}>
    <${Proof} host=${host} onChange=${onChange} />
  <//>`;
}

function columns(remove: (host: string) => void): readonly Column<Host>[] {
  return [
    { head: 'Host', isName: true, width: 'wide', cell: ({ host }) => host },
    { head: 'State', cell: (host) => html`<${State} host=${host} />` },
    { head: 'What to do', width: 'late', cell: (host) => nextActionText(host) ?? html`<span class="muted">Nothing</span>` },
    { head: 'Last check', width: 'late', cell: ({ checkedAt }) => html`<${Time} at=${checkedAt} relative />` },
    {
      head: html`<span class="sr">Actions</span>`,
      align: 'end',
      cell: ({ host, verifiedAt }) => html`<div class="row-actions">
        ${verifiedAt === null ? html`<${Button} label=${`Prove ${host}`} href=${href('/hosts', { host })}>Prove<//>` : null}
        <${Button} kind="quiet" label=${`Remove ${host}`} onClick=${() => remove(host)}>Remove<//>
      </div>`,
    },
  ];
}

function State({ host }: { readonly host: Host }): View {
  if (host.verifiedAt === null) return html`<${Badge} tone="warn">Not proven<//>`;
  if (host.failingSince !== null) {
    return html`<${Badge} tone="bad" title="Rechecks of the proof fail: put it back, or the host lapses.">Proof missing<//>`;
  }
  const mode = MODES[host.enforcement?.mode ?? ''] ?? { label: 'Proven', tone: 'good' };
  return html`<${Badge} tone=${mode.tone}>${mode.label}<//>`;
}

function AddHost({
  open,
  onClose,
  onAdded,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}): View {
  const [host, setHost] = useState('');
  const run = async (): Promise<void> => {
    const { openHost } = await change<{ readonly openHost: { readonly host: string } }>(OPEN_HOST_DOCUMENT, {
      host: host.trim(),
      method: 'WELL_KNOWN',
    });
    setHost('');
    onAdded();
    setQuery({ host: openHost.host });
  };
  return html`<${Dialog} title="Add a host" open=${open} onClose=${onClose} confirm=${{ label: 'Add', disabled: host.trim() === '', run }}>
    <p>Nothing is sold there before you have proven that it is yours.</p>
    <${Field} label="Host name" value=${host} onInput=${setHost} placeholder="blog.example.com" required />
  <//>`;
}

function RemoveHost({
  host,
  onClose,
  onRemoved,
}: {
  readonly host: string | null;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}): View {
  const run = async (): Promise<void> => {
    await change(REMOVE_HOST_DOCUMENT, { host });
    onRemoved();
  };
  return html`<${Dialog} title=${`Remove ${host ?? ''}?`} open=${host !== null} onClose=${onClose} confirm=${{ label: 'Remove the host', kind: 'danger', run }}>
    <ul class="effects">
      <li>Nothing is priced for this host from now on: agents read its pages free, or as your server decides.</li>
      <li>What it earned stays, in every report.</li>
      <li>For 72 hours only a DNS record proves it again, for you or for anybody else.</li>
    </ul>
  <//>`;
}
