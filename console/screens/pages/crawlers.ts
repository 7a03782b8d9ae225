import { ask, useQuery } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { compareLists, entriesOf, many } from '../../core/lists.ts';
import { mutate, mutation } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Count, Money } from '../../parts/figure.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, useReview, useTyped } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { FateChange, Policy, SeenAgent } from './crawlerEffect.ts';
import { fateChanges } from './crawlerEffect.ts';
import { ListChange } from './prices.ts';

/** What the gate decides by, and who came in the last seven days. */
export const GATE_DOCUMENT = `query gate($tenantId: ID) {
  tenant(tenantId: $tenantId) {
    version
    gate { mode excludePrefixes includeExtensions seoAllowlist crawlerPolicy { allow charge block } }
    agents(window: { lastDays: 7 }, orderBy: HITS, first: 100) { nodes { agent hits earnedMicro } }
  }
}`;
export const SET_CRAWLER_POLICY_DOCUMENT = mutation('setCrawlerPolicy', 'allow charge block');
export const SET_SEO_ALLOWLIST_DOCUMENT = mutation('setSeoAllowlist', 'fragments');
export const SET_GATE_SCOPE_DOCUMENT = mutation('setGateScope', 'mode');

interface Gate {
  readonly mode: 'PREFIXES' | 'SITE';
  readonly excludePrefixes: readonly string[];
  readonly includeExtensions: readonly string[] | null;
  readonly seoAllowlist: readonly string[];
  readonly crawlerPolicy: Policy;
}

interface Settings {
  readonly version: number;
  readonly gate: Gate;
  readonly agents: { readonly nodes: readonly SeenAgent[] } | null;
}

interface Answer {
  readonly tenant: Settings | null;
}

const SAID = 'Saved. Gates fetch it within five minutes.';

async function gateNow(): Promise<Settings> {
  const { tenant } = await ask<Answer>(GATE_DOCUMENT);
  if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
  return tenant;
}

/** Who reads free, who pays, who is turned away, and what the gate looks at. */
export function Crawlers(): View {
  const query = useQuery<Answer>(GATE_DOCUMENT);
  return html`<${Await} of=${query} rows=${8}>
    ${({ tenant }: Answer) =>
      tenant === null
        ? null
        : html`<div class="stack">
            <${PolicyForm} gate=${tenant.gate} done=${query.reload} />
            <${SearchForm} gate=${tenant.gate} done=${query.reload} />
            <${ScopeForm} gate=${tenant.gate} done=${query.reload} />
          </div>`}
  <//>`;
}

interface FormProps {
  readonly gate: Gate;
  readonly done: () => void;
}

function PolicyForm({ gate, done }: FormProps): View {
  const { crawlerPolicy: now } = gate;
  const [block, setBlock, resetBlock] = useTyped(now.block.join('\n'));
  const [allow, setAllow, resetAllow] = useTyped(now.allow.join('\n'));
  const [charge, setCharge, resetCharge] = useTyped(now.charge.join('\n'));
  const policy = { block: entriesOf(block), allow: entriesOf(allow), charge: entriesOf(charge) };
  const review = useReview({
    title: 'Change the crawler policy',
    look: async () => {
      const { version, gate: before, agents } = await gateNow();
      const search = before.seoAllowlist;
      const changes = fateChanges(agents?.nodes ?? [], { policy: before.crawlerPolicy, search }, { policy, search });
      const all = (one: Policy): readonly string[] => [
        ...one.block.map((f) => `block ${f}`),
        ...one.allow.map((f) => `allow ${f}`),
        ...one.charge.map((f) => `charge ${f}`),
      ];
      return { version, changes, lists: compareLists(all(before.crawlerPolicy), all(policy)) };
    },
    show: ({ changes, lists }) => html`<${Fates} of=${changes} /> <${ListChange} ...${lists} />`,
    make: ({ version }) => mutate(SET_CRAWLER_POLICY_DOCUMENT, { ...policy, ifVersion: version }),
    confirm: 'Save the policy',
    said: SAID,
    done: () => {
      for (const reset of [resetBlock, resetAllow, resetCharge]) reset();
      done();
    },
  });
  const error = (name: string): string | undefined => review.errorAt(name, `crawlerPolicy.${name}`);
  return html`<${Panel} title="Crawlers" about="People and search engines read free, every other crawler pays. Fragments of User-Agents, one a line; block wins over allow, allow over charge.">
    <div class="form wide">
      <div class="thirds">
        <${Field} label="Block" rows=${5} value=${block} onInput=${setBlock} error=${error('block')} hint="Turned away." />
        <${Field} label="Allow" rows=${5} value=${allow} onInput=${setAllow} error=${error('allow')} hint="Read free." />
        <${Field} label="Charge" rows=${5} value=${charge} onInput=${setCharge} error=${error('charge')} hint="Pay, whatever else is known of them." />
      </div>
      ${review.outcome('block', 'allow', 'charge', 'crawlerPolicy.block', 'crawlerPolicy.allow', 'crawlerPolicy.charge')}
      <div class="actions"><${Button} kind="primary" onClick=${review.start}>Review change<//></div>
    </div>
    ${review.dialog}
  <//>`;
}

function SearchForm({ gate, done }: FormProps): View {
  const [text, setText, reset] = useTyped(gate.seoAllowlist.join('\n'));
  const fragments = entriesOf(text);
  const review = useReview({
    title: 'Change the search engines',
    look: async () => {
      const { version, gate: before, agents } = await gateNow();
      const policy = before.crawlerPolicy;
      const changes = fateChanges(agents?.nodes ?? [], { policy, search: before.seoAllowlist }, { policy, search: fragments });
      return { version, changes, lists: compareLists(before.seoAllowlist, fragments) };
    },
    show: ({ changes, lists }) => html`<${Fates} of=${changes} /> <${ListChange} ...${lists} />`,
    make: ({ version }) => mutate(SET_SEO_ALLOWLIST_DOCUMENT, { fragments, ifVersion: version }),
    confirm: 'Save',
    said: SAID,
    done: () => {
      reset();
      done();
    },
  });
  return html`<${Panel} title="Search engines" about="These read free, so that the site is found.">
    <div class="form">
      <${Field} label="Fragments of User-Agents" rows=${6} value=${text} onInput=${setText} error=${review.errorAt('fragments', 'seoAllowlist')} hint="One a line." />
      ${review.outcome('fragments', 'seoAllowlist')}
      <div class="actions"><${Button} onClick=${review.start}>Review change<//></div>
    </div>
    ${review.dialog}
  <//>`;
}

const MODES = [
  { value: 'PREFIXES', label: 'Articles alone' },
  { value: 'SITE', label: 'The whole site' },
];

function ScopeForm({ gate, done }: FormProps): View {
  const [mode, setMode, resetMode] = useTyped<string>(gate.mode);
  const [exclude, setExclude, resetExclude] = useTyped(gate.excludePrefixes.join('\n'));
  const [extensions, setExtensions, resetExtensions] = useTyped((gate.includeExtensions ?? []).join('\n'));
  const isSite = mode === 'SITE';
  const after = {
    mode,
    excludePrefixes: isSite ? entriesOf(exclude) : [],
    includeExtensions: isSite && entriesOf(extensions).length > 0 ? entriesOf(extensions) : null,
  };
  const review = useReview({
    title: 'Change what the gate looks at',
    look: async () => {
      const { version, gate: before } = await gateNow();
      return { version, before };
    },
    show: ({ before }) =>
      html`<${Effect} lines=${[
        html`Gates look at ${scopeText(after)}; now they look at ${scopeText(before)}.`,
        'What a gate does not look at is served to everybody, and is in no report.',
        'Prices do not change.',
      ]} />`,
    make: ({ version }) => mutate(SET_GATE_SCOPE_DOCUMENT, { ...after, ifVersion: version }),
    confirm: 'Save',
    said: SAID,
    done: () => {
      for (const reset of [resetMode, resetExclude, resetExtensions]) reset();
      done();
    },
  });
  return html`<${Panel} title="What the gate looks at">
    <div class="form">
      <${Field} label="Gate looks at" value=${mode} options=${MODES} onInput=${setMode} error=${review.errorAt('mode')} />
      ${
        isSite
          ? html`<${Field} label="But not under" rows=${3} value=${exclude} onInput=${setExclude} hint="Path prefixes, one a line."
                error=${review.errorAt('excludePrefixes', 'gateScope.excludePrefixes')} />
              <${Field} label="Only files that end with" rows=${2} value=${extensions} onInput=${setExtensions}
                hint="One a line, such as .pdf. None: everything."
                error=${review.errorAt('includeExtensions', 'gateScope.includeExtensions')} />`
          : null
      }
      ${review.outcome('mode', 'excludePrefixes', 'includeExtensions', 'gateScope.excludePrefixes', 'gateScope.includeExtensions')}
      <div class="actions"><${Button} onClick=${review.start}>Review change<//></div>
    </div>
    ${review.dialog}
  <//>`;
}

/** What a gate looks at, in words. */
function scopeText({
  mode,
  excludePrefixes,
  includeExtensions,
}: {
  readonly mode: string;
  readonly excludePrefixes: readonly string[];
  readonly includeExtensions: readonly string[] | null;
}): string {
  if (mode === 'PREFIXES') return 'articles alone';
  const but = excludePrefixes.length > 0 ? ` but ${excludePrefixes.join(', ')}` : '';
  const only = includeExtensions ? `, there only at files that end with ${includeExtensions.join(', ')}` : '';
  return `the whole site${but}${only}`;
}

const FATE_COLUMNS: readonly Column<FateChange>[] = [
  { head: 'Agent', isName: true, cell: ({ agent }) => agent },
  { head: 'Now', cell: ({ before }) => before },
  { head: 'Then', cell: ({ after }) => after },
  { head: 'Requests, 7 days', align: 'end', cell: ({ hits }) => html`<${Count} of=${hits} />` },
  { head: 'Paid, 7 days', align: 'end', width: 'late', cell: ({ earnedMicro }) => html`<${Money} micro=${earnedMicro} />` },
];

function Fates({ of: changes }: { readonly of: readonly FateChange[] }): View {
  const hits = changes.reduce((sum, one) => sum + one.hits, 0);
  const first =
    changes.length === 0
      ? 'None of the agents of the last seven days is treated otherwise, as far as their names tell.'
      : `${many(changes.length, 'agent')} of the last seven days, with ${many(hits, 'request')}, ${changes.length === 1 ? 'is' : 'are'} treated otherwise.`;
  return html`<${Effect} lines=${[first]} />
    ${changes.length > 0 ? html`<${Table} label="Agents that are treated otherwise" columns=${FATE_COLUMNS} rows=${changes} keyOf=${({ agent }: FateChange) => agent} />` : null}`;
}
