import { useQuery } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { compareLists, entriesOf } from '../../core/lists.ts';
import { mutate, mutation } from '../../core/mutate.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, useReview, useTyped } from '../../parts/review.ts';
import type { Policy } from './crawlerEffect.ts';
import { fateChanges } from './crawlerEffect.ts';
import type { Gate, GateAnswer } from './gate.ts';
import { Fates, GATE_DOCUMENT, gateNow, rulesOf, SAID } from './gate.ts';
import { ListChange } from './prices.ts';
import { Visitors } from './visitors.ts';

export const SET_CRAWLER_POLICY_DOCUMENT = mutation('setCrawlerPolicy', 'allow charge block');
export const SET_SEO_ALLOWLIST_DOCUMENT = mutation('setSeoAllowlist', 'fragments');
export const SET_GATE_SCOPE_DOCUMENT = mutation('setGateScope', 'mode');

/** Who reads free, who pays, who is turned away, and what the gate looks at. */
export function Crawlers(): View {
  const query = useQuery<GateAnswer>(GATE_DOCUMENT);
  return html`<${Await} of=${query} rows=${8}>
    ${({ tenant }: GateAnswer) =>
      tenant === null
        ? null
        : html`<div class="stack">
            <${Visitors} gate=${tenant.gate} done=${query.reload} />
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
      const rules = rulesOf(before);
      const changes = fateChanges(agents?.nodes ?? [], rules, { ...rules, policy });
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
  return html`<${Panel} title="Crawlers by name" about="These lists win over the classes above. Fragments of User-Agents, one a line; block wins over allow, allow over charge.">
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
      const rules = rulesOf(before);
      const changes = fateChanges(agents?.nodes ?? [], rules, { ...rules, search: fragments });
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
  return html`<${Panel} title="Search engines" about="A User-Agent named here is treated as a search engine, which reads free unless you decide otherwise above.">
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
  const [forms, setForms, resetForms] = useTyped(gate.forms.join('\n'));
  const isSite = mode === 'SITE';
  const after = {
    mode,
    excludePrefixes: isSite ? entriesOf(exclude) : [],
    includeExtensions: isSite && entriesOf(extensions).length > 0 ? entriesOf(extensions) : null,
    forms: entriesOf(forms),
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
        formsText(before.forms, after.forms),
      ]} />`,
    make: ({ version }) => mutate(SET_GATE_SCOPE_DOCUMENT, { ...after, ifVersion: version }),
    confirm: 'Save',
    said: SAID,
    done: () => {
      for (const reset of [resetMode, resetExclude, resetExtensions, resetForms]) reset();
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
      <${Field} label="Forms of an article" rows=${5} value=${forms} onInput=${setForms} error=${review.errorAt('forms')}
        hint="What other addresses of an article add to its own, one a line, such as .md or /amp. They have its price and its licences." />
      ${review.outcome('mode', 'excludePrefixes', 'includeExtensions', 'forms', 'gateScope.excludePrefixes', 'gateScope.includeExtensions')}
      <div class="actions"><${Button} onClick=${review.start}>Review change<//></div>
    </div>
    ${review.dialog}
  <//>`;
}

/** What becomes of other addresses of articles, in words. */
function formsText(before: readonly string[], after: readonly string[]): string {
  const [added, gone] = [after.filter((form) => !before.includes(form)), before.filter((form) => !after.includes(form))];
  const told = [
    ...(added.length > 0 ? [`Addresses of an article that end with ${added.join(', ')} get its price.`] : []),
    ...(gone.length > 0
      ? [`Those that end with ${gone.join(', ')} become pages of their own: free where nobody is named for them.`]
      : []),
  ];
  return told.length > 0 ? told.join(' ') : 'Prices do not change.';
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
