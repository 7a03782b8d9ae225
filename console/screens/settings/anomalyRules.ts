import { words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useEffect, useState } from '../../core/html.ts';
import { changedIn } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Check, Field } from '../../parts/field.ts';
import { Time } from '../../parts/figure.ts';
import type { Tone } from '../../parts/panel.ts';
import { Badge, Panel } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { Rule, SiteSettings } from './documents.ts';
import { CREATE_RULE_DOCUMENT, DELETE_RULE_DOCUMENT, UPDATE_RULE_DOCUMENT } from './documents.ts';
import { METRICS, RANGES, ruleText, thresholdOf, typedThreshold, unitOf } from './words.ts';

interface Props {
  readonly site: SiteSettings;
  readonly done: () => void;
}

/** Rules that tell when a figure goes out of bounds. */
export function Rules({ site, done }: Props): View {
  const [edited, edit] = useState<Rule | 'new' | null>(null);
  const [removed, remove] = useState<Rule | null>(null);
  const rules = site.anomalyRules.nodes;
  const removal = useReview({
    title: 'Remove the rule',
    look: async () => removed,
    show: (rule) =>
      html`<${Effect} lines=${[rule ? `Nobody is told any more when: ${ruleText(rule)}.` : '', 'What it told before stays.']} />`,
    make: (rule) => mutate(DELETE_RULE_DOCUMENT, { ruleId: rule?.ruleId }),
    confirm: 'Remove it',
    danger: true,
    done,
  });
  useEffect(() => {
    if (removed !== null) void removal.start();
  }, [removed]);
  const add = html`<${Button} onClick=${() => edit('new')}>Add a rule<//>`;
  return html`<${Panel} flush title="Alert rules" about="Checked every five minutes. When a rule is met, your webhooks and the address above are told." actions=${add}>
      ${removal.outcome()}
      ${
        rules.length === 0
          ? html`<${Empty}>No rule yet: nobody is told when something goes wrong.<//>`
          : html`<${Table} label="Rules" columns=${columnsOf(edit, (rule) => remove({ ...rule }))} rows=${rules} keyOf=${({ ruleId }: Rule) => ruleId} />`
      }
    <//>
    ${removal.dialog}
    ${edited === null ? null : html`<${RuleForm} key=${edited === 'new' ? 'new' : edited.ruleId} rule=${edited === 'new' ? null : edited} onClose=${() => edit(null)} done=${done} />`}`;
}

const PHASES: Readonly<Record<string, { readonly tone: Tone; readonly text: string }>> = {
  armed: { tone: 'good', text: 'Watching' },
  breached: { tone: 'bad', text: 'Breached' },
  throttled: { tone: 'plain', text: 'Quiet after a breach' },
};

function columnsOf(edit: (rule: Rule) => void, remove: (rule: Rule) => void): readonly Column<Rule>[] {
  return [
    { head: 'Rule', isName: true, width: 'wide', cell: (rule) => ruleText(rule) },
    {
      head: 'State',
      cell: ({ enabled, phase }) => {
        if (!enabled) return html`<${Badge}>Off<//>`;
        const { tone, text } = PHASES[phase] ?? { tone: 'plain', text: words(phase) };
        return html`<${Badge} tone=${tone}>${text}<//>`;
      },
    },
    { head: 'Last alert', width: 'late', cell: ({ firedAt }) => html`<${Time} at=${firedAt} />` },
    {
      head: html`<span class="sr">Actions</span>`,
      align: 'end',
      cell: (rule) => html`<span class="row-actions">
        <${Button} kind="quiet" label=${`Change: ${ruleText(rule)}`} onClick=${() => edit(rule)}>Change<//>
        <${Button} kind="quiet" label=${`Remove: ${ruleText(rule)}`} onClick=${() => remove(rule)}>Remove<//>
      </span>`,
    },
  ];
}

const UNITS = { number: 'how many', usd: 'US dollars', percent: 'percent', part: 'percent' } as const;

function RuleForm({
  rule,
  onClose,
  done,
}: {
  readonly rule: Rule | null;
  readonly onClose: () => void;
  readonly done: () => void;
}): View {
  const [metric, setMetric] = useState(rule?.metric ?? 'EARNED_DROP_PCT');
  const [range, setRange] = useState<string>(rule?.range ?? 'LAST_24H');
  const [threshold, setThreshold] = useState(rule ? typedThreshold(rule.metric, rule.threshold) : '50');
  const [host, setHost] = useState(rule?.host ?? '');
  const [enabled, setEnabled] = useState(rule?.enabled ?? true);
  const title = rule === null ? 'Add a rule' : 'Change the rule';
  const review = useReview({
    title,
    look: async () => {
      const value = thresholdOf(metric, threshold);
      if (value === null) throw new Problem('invalid', 'Write a number.', { parameter: 'threshold' });
      return { metric, range, threshold: value, host: host.trim() === '' ? null : host.trim(), enabled };
    },
    show: (next) =>
      html`<${Effect} lines=${[
        next.enabled ? `You are told when: ${ruleText(next)}.` : 'The rule is kept and does not run.',
        ...(rule === null ? [] : [`Until now: ${ruleText(rule)}${rule.enabled ? '' : ', not enabled'}.`]),
        ...(rule !== null && (rule.metric !== next.metric || rule.range !== next.range || rule.host !== next.host)
          ? ['It starts over: earlier findings are forgotten.']
          : []),
      ]} />`,
    make: (next) =>
      rule === null
        ? mutate(CREATE_RULE_DOCUMENT, next)
        : mutate(UPDATE_RULE_DOCUMENT, { ruleId: rule.ruleId, ...changedIn(next, rule) }),
    confirm: rule === null ? 'Add it' : 'Save',
    done: () => {
      done();
      onClose();
    },
  });
  return html`<${Dialog} title=${title} open=${true} onClose=${onClose} confirm=${{ label: 'Review change', stays: true, run: review.start }}>
      <${Field} label="Tell me when" value=${metric} options=${METRICS} onInput=${setMetric} error=${review.errorAt('metric')} />
      <${Field} label=${`Threshold (${UNITS[unitOf(metric)]})`} inputMode="decimal" value=${threshold} onInput=${setThreshold} error=${review.errorAt('threshold')} />
      <${Field} label="Within" value=${range} options=${RANGES} onInput=${setRange} error=${review.errorAt('range')} />
      <${Field} label="Host" value=${host} onInput=${setHost} hint="Leave empty for all hosts together." error=${review.errorAt('host')} />
      <${Check} label="Enabled" checked=${enabled} onChange=${setEnabled} />
      ${review.outcome('metric', 'threshold', 'range', 'host')}
    <//>
    ${review.dialog}`;
}
