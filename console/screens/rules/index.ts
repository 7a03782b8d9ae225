import { useQuery } from '../../core/data.ts';
import { plain } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useEffect, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Badge, Panel } from '../../parts/panel.ts';
import { useReview } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { SiteRules } from './documents.ts';
import { RULES_DOCUMENT, rulesNow, SET_RULES_DOCUMENT } from './documents.ts';
import { RuleForm } from './form.ts';
import { showSimulation, simulate } from './simulation.ts';
import type { Rule } from './words.ts';
import { effectText, pagesText, readersText, ruleText, standingOf, whenText } from './words.ts';

interface Answer {
  readonly tenant: SiteRules | null;
}

/** What the screen says after each change of rules. */
const IN_FORCE = 'Saved. Quotes show it within two seconds.';

/** The price rules of the site, in the order in which they are looked at. */
export function Rules(): View {
  const query = useQuery<Answer>(RULES_DOCUMENT);
  return html`<${Await} of=${query} rows=${8}>
    ${({ tenant }: Answer) => (tenant === null ? null : html`<${List} site=${tenant} done=${query.reload} />`)}
  <//>`;
}

function List({ site, done }: { readonly site: SiteRules; readonly done: () => void }): View {
  const [edited, edit] = useState<Rule | 'new' | null>(null);
  const [removed, remove] = useState<Rule | null>(null);
  const removal = useReview({
    title: 'Remove the rule',
    look: async () => {
      const { version, priceRules } = await rulesNow();
      const rest = priceRules.filter(({ id }) => id !== removed?.id);
      return { ...(await simulate(rest, null)), version };
    },
    show: (looked) => showSimulation(looked, removed === null ? '' : `This holds no more: ${ruleText(removed)}.`),
    make: ({ rules, version }) => mutate(SET_RULES_DOCUMENT, { rules, ifVersion: version }),
    confirm: 'Remove it',
    danger: true,
    said: IN_FORCE,
    done,
  });
  useEffect(() => {
    if (removed !== null) void removal.start();
  }, [removed]);
  const rules = site.priceRules;
  const add = html`<${Button} kind="primary" onClick=${() => edit('new')}>Add a rule<//>`;
  const about = 'The first that fits decides: the longest path, then whom it names, then use, kind and time.';
  return html`<${Panel} flush title="Price rules" about=${about} actions=${add}>
      ${removal.outcome()}
      ${
        rules.length === 0
          ? html`<${Empty} title="No rule yet">Every agent pays $${plain(site.priceUsdc)} for a read, and ${plain(site.citationMultiplier ?? '5')} times as much for a citation.<//>`
          : html`<${Table} label="Price rules" rows=${rules} keyOf=${({ id }: Rule) => id} columns=${columnsOf(edit, (rule) => remove({ ...rule }))}
              total=${['Everything else', '', `$${plain(site.priceUsdc)}`, '']} />`
      }
    <//>
    ${removal.dialog}
    ${edited === null ? null : html`<${RuleForm} key=${edited === 'new' ? '' : edited.id} rule=${edited === 'new' ? null : edited} onClose=${() => edit(null)} done=${done} />`}`;
}

function columnsOf(edit: (rule: Rule) => void, remove: (rule: Rule) => void): readonly Column<Rule>[] {
  return [
    {
      head: 'Pages',
      isName: true,
      width: 'wide',
      cell: (rule) =>
        html`<span class="two"><span>${pagesText(rule)}</span><small>${readersText(rule)} · ${rule.id}</small></span>`,
    },
    { head: 'When', width: 'late', cell: (rule) => html`<${When} rule=${rule} />` },
    { head: 'They pay', align: 'end', cell: (rule) => html`<${Effect} rule=${rule} />` },
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

function When({ rule }: { readonly rule: Rule }): View {
  const standing = standingOf(rule, Date.now());
  if (standing === 'over') return html`<${Badge}>over<//> ${whenText(rule)}`;
  return standing === 'to come' ? html`<${Badge} tone="accent">to come<//> ${whenText(rule)}` : (whenText(rule) ?? 'always');
}

function Effect({ rule }: { readonly rule: Rule }): View {
  if (rule.effect === 'REFUSE') return html`<${Badge} tone="bad">refused<//>`;
  return rule.effect === 'FREE' ? html`<${Badge}>free<//>` : html`<span class="exact">${effectText(rule)}</span>`;
}
