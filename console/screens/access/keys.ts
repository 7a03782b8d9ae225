import type { Page } from '../../core/data.ts';
import { change, useList } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Check, Field } from '../../parts/field.ts';
import { Time } from '../../parts/figure.ts';
import { Badge, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { Key, Minted } from './documents.ts';
import { KEYS_DOCUMENT, MINT_CONNECT_KEY_DOCUMENT, MINT_KEY_DOCUMENT, REVOKE_KEY_DOCUMENT } from './documents.ts';
import { ShownOnce } from './shownOnce.ts';

interface Answer {
  readonly tenant: { readonly keys: Page<Key> };
}

/** What each right lets a key do. */
export const SCOPES: readonly { readonly key: string; readonly label: string; readonly about: string }[] = [
  {
    key: 'TENANT_READ',
    label: 'Sell pages',
    about: 'Ask for prices, settle payments, check licences, report what agents did. All that a web server needs.',
  },
  { key: 'EARNINGS_READ_ALL', label: 'Read earnings', about: 'Every payment, author and statement: for bookkeeping.' },
  { key: 'AUDIT_READ', label: 'Read the audit', about: 'Which agents asked for which pages, and what became of it.' },
  { key: 'MEMBER_READ', label: 'Read the roster', about: 'Names and e-mail addresses of authors.' },
];
const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SCOPES.map(({ key, label }) => [key, label])),
  DOMAIN_MANAGE: 'Prove hosts',
};

/** Keys of the site: mint, copy once, see when each was used, revoke. */
export function Keys(): View {
  const list = useList<Answer, Key>(KEYS_DOCUMENT, {}, ({ tenant }) => tenant.keys);
  const [minted, setMinted] = useState<(Minted & { readonly isConnect: boolean }) | null>(null);
  const [minting, setMinting] = useState<'key' | 'connect' | null>(null);
  const [revoking, revoke] = useState<Key | null>(null);
  const actions = html`<${Button} onClick=${() => setMinting('connect')}>Connect WordPress<//>
    <${Button} kind="primary" onClick=${() => setMinting('key')}>Mint a key<//>`;
  const onMinted = (key: Minted, isConnect: boolean): void => {
    setMinted({ ...key, isConnect });
    list.reload();
  };
  const about = minted?.isConnect
    ? 'Paste it into Settings → Content Settlement of your WordPress. It lasts 30 days and can prove hosts until one is proven.'
    : 'Copy it to your server now. It cannot be shown again; if it is lost, mint another and revoke this one.';
  return html`${minted ? html`<${ShownOnce} title="Your new key, shown this once" secret=${minted.token} about=${about} onDone=${() => setMinted(null)} />` : null}
    <${Panel} flush title="Keys" about="With a key a server of yours asks this service. At most 20 are active." actions=${actions}>
      <${Await} of=${list} empty=${() => list.rows.length === 0} nothing=${html`<${Empty} title="No key yet">Mint one for your web server.<//>`}>
        ${() => html`<${Table} label="Keys" columns=${columns(revoke)} rows=${list.rows} keyOf=${({ keyId }: Key) => keyId} more=${list.more} />`}
      <//>
    <//>
    <${MintKey} open=${minting === 'key'} onClose=${() => setMinting(null)} onMinted=${onMinted} />
    <${ConnectKey} open=${minting === 'connect'} onClose=${() => setMinting(null)} onMinted=${onMinted} />
    <${RevokeKey} of=${revoking} onClose=${() => revoke(null)} onRevoked=${list.reload} />`;
}

function isOver({ revokedAt, expiresAt }: Key): boolean {
  return revokedAt !== null || (expiresAt !== null && expiresAt <= Date.now());
}

function columns(revoke: (key: Key) => void): readonly Column<Key>[] {
  return [
    { head: 'Name', isName: true, cell: ({ name }) => name },
    { head: 'Key', width: 'late', cell: ({ prefix, last4 }) => html`<code>${prefix}…${last4}</code>` },
    { head: 'May', width: 'late', cell: ({ scopes }) => scopes.map((scope) => LABELS[scope] ?? scope).join(', ') },
    { head: 'State', cell: (key) => html`<${State} of=${key} />` },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? html`<span class="muted">Never</span>` : html`<${Time} at=${lastUsedAt} relative />`,
    },
    { head: 'Minted', width: 'late', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    {
      head: html`<span class="sr">Actions</span>`,
      align: 'end',
      cell: (key) =>
        isOver(key) ? null : html`<${Button} kind="quiet" label=${`Revoke ${key.name}`} onClick=${() => revoke(key)}>Revoke<//>`,
    },
  ];
}

function State({ of: key }: { readonly of: Key }): View {
  if (key.revokedAt !== null) return html`<${Badge}>Revoked<//>`;
  if (isOver(key)) return html`<${Badge}>Ended<//>`;
  if (key.prefix === 'svc_test_') return html`<${Badge} tone="accent" title="Its payments never count as money.">Test<//>`;
  if (key.expiresAt !== null) return html`<${Badge} tone="warn">Ends <${Time} at=${key.expiresAt} relative /><//>`;
  return html`<${Badge} tone="good">Active<//>`;
}

const LIVES: readonly { readonly value: string; readonly label: string }[] = [
  { value: '', label: 'Never' },
  { value: '7', label: 'After 7 days' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After a year' },
];
const DAY_MS = 86_400_000;

interface MintDialog {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMinted: (key: Minted, isConnect: boolean) => void;
}

function MintKey({ open, onClose, onMinted }: MintDialog): View {
  const [name, setName] = useState('Web server');
  const [scopes, setScopes] = useState<readonly string[]>(['TENANT_READ']);
  const [days, setDays] = useState('');
  const [isTest, setTest] = useState(false);
  const toggle = (key: string) => (on: boolean) =>
    setScopes(SCOPES.map((one) => one.key).filter((one) => (one === key ? on : scopes.includes(one))));
  const run = async (): Promise<void> => {
    const expiresAt = days === '' ? null : Date.now() + Number(days) * DAY_MS;
    const { mintKey } = await change<{ readonly mintKey: Minted }>(MINT_KEY_DOCUMENT, { name, scopes, expiresAt, test: isTest });
    onMinted(mintKey, false);
  };
  const disabled = name.trim() === '' || scopes.length === 0;
  return html`<${Dialog} title="Mint a key" open=${open} onClose=${onClose} confirm=${{ label: 'Mint', disabled, run }}>
    <${Field} label="What it is for" value=${name} onInput=${setName} required />
    <fieldset>
      <legend>It may</legend>
      ${SCOPES.map(({ key, label, about }) => html`<${Check} key=${key} label=${label} hint=${about} checked=${scopes.includes(key)} onChange=${toggle(key)} />`)}
    </fieldset>
    <${Field} label="It ends" value=${days} onInput=${setDays} options=${LIVES} />
    <${Check} label="For tests" hint="Its payments are played: no money moves, nothing counts. Only where the operator allows test keys." checked=${isTest} onChange=${setTest} />
  <//>`;
}

function ConnectKey({ open, onClose, onMinted }: MintDialog): View {
  const [name, setName] = useState('WordPress');
  const run = async (): Promise<void> => {
    const { mintConnectKey } = await change<{ readonly mintConnectKey: Minted }>(MINT_CONNECT_KEY_DOCUMENT, { name });
    onMinted(mintConnectKey, true);
  };
  return html`<${Dialog} title="Connect WordPress" open=${open} onClose=${onClose} confirm=${{ label: 'Mint the connection key', disabled: name.trim() === '', run }}>
    <p>The plugin proves your host with this key automatically. It lasts 30 days; replace it with a lasting one once you are connected.</p>
    <${Field} label="Which installation it is for" value=${name} onInput=${setName} required />
  <//>`;
}

function RevokeKey({
  of: key,
  onClose,
  onRevoked,
}: {
  readonly of: Key | null;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}): View {
  const run = async (): Promise<void> => {
    await change(REVOKE_KEY_DOCUMENT, { keyId: key?.keyId });
    onRevoked();
  };
  return html`<${Dialog} title=${`Revoke “${key?.name ?? ''}”?`} open=${key !== null} onClose=${onClose} confirm=${{ label: 'Revoke the key', kind: 'danger', run }}>
    <ul class="effects">
      <li>The very next call with it is refused. It cannot be taken back.</li>
      ${
        key?.lastUsedAt == null
          ? html`<li>It was never used.</li>`
          : html`<li>It was used <${Time} at=${key.lastUsedAt} relative />. A gate that runs with it sells nothing more: agents read free until it has another key.</li>`
      }
      <li>Payments that were taken in settle.</li>
    </ul>
  <//>`;
}
