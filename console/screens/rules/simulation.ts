import { ask } from '../../core/data.ts';
import { day } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { Problem } from '../../core/problem.ts';
import { Count, Money } from '../../parts/figure.ts';
import { Effect } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { SIMULATION_DOCUMENT } from './documents.ts';
import type { Rule } from './words.ts';

/** Requests by what became of them. */
export interface Sums {
  readonly paid: number;
  readonly missed: number;
  readonly refused: number;
  readonly free: number;
  readonly earnedMicro: string;
  readonly missedMicro: string;
}

/** The same requests, as they were and by the rules. */
export interface Compared {
  readonly was: Sums;
  readonly byRules: Sums;
}

/** What rules would have made of the requests of the last 28 days, as the API answers it. */
export interface Simulation extends Compared {
  readonly version: number;
  readonly requests: number;
  readonly replayed: number;
  readonly assumedPaths: number;
  readonly rules: readonly { readonly ruleId: string | null }[];
  readonly pages: { readonly nodes: readonly (Compared & { readonly host: string; readonly path: string })[] };
  readonly agents: { readonly nodes: readonly (Compared & { readonly agent: string })[] };
}

/** A simulation, and the list of rules that it is of. */
export interface Simulated {
  readonly simulation: Simulation;
  readonly rules: readonly Rule[];
  /** As of which moment the rules were taken, ms since 1970. */
  readonly at: number;
}

/** Asks what a list of rules would have made of the last 28 days, as of now or of a moment to come. Throws the refusal that the list itself would meet. */
export async function simulate(rules: readonly Rule[], from: number | null): Promise<Simulated> {
  const at = Math.max(Date.now(), from ?? 0);
  const { tenant } = await ask<{ tenant: { simulatePriceRules: Simulation } | null }>(SIMULATION_DOCUMENT, { rules, at });
  if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
  return { simulation: tenant.simulatePriceRules, rules, at };
}

/** Draws a simulation; `first` says what is changed, `ruleId` names the rule that it is about. */
export function showSimulation({ simulation, at }: Simulated, first: View, ruleId: string | null = null): View {
  const { was, byRules, requests, replayed, assumedPaths, pages, agents, rules } = simulation;
  const isLater = at > Date.now();
  const decides = ruleId !== null && rules.some((one) => one.ruleId === ruleId);
  const notes = [
    'Who paid then pays the new price, who did not pay is missed: nobody comes or goes because of a price.',
    ...(isLater ? [`By the rules in force on ${day(at)}.`] : []),
    ...(replayed < requests
      ? [`The window is large: ${many(replayed, 'request')} of ${requests.toLocaleString('en-US')} are in these figures.`]
      : []),
    ...(assumedPaths > 0
      ? [`For ${many(assumedPaths, 'request')} the path of the page is not known; the first article prefix is taken.`]
      : []),
    'A price that a buyer saw before is accepted for 10 minutes more.',
  ];
  const nothing = html`<p class="about">No agent asked for a page in the last 28 days, so there is nothing to try it on.</p>`;
  return html`<${Effect} lines=${[first]} />
    ${
      requests === 0
        ? nothing
        : html`${ruleId === null || decides ? null : html`<p class="about">It would have decided none of the requests of the last 28 days.</p>`}
            <${Table} label="Requests of the last 28 days" columns=${SUM_COLUMNS} rows=${linesOf(was, byRules)} keyOf=${({ name }: Line) => name} />
            <${Groups} title="Pages" columns=${columnsOf('Page', (page: PageRow) => page.path)} rows=${pages.nodes} />
            <${Groups} title="Agents" columns=${columnsOf('Agent', (one: AgentRow) => one.agent)} rows=${agents.nodes} />`
    }
    <p class="about">${notes.join(' ')}</p>`;
}

type PageRow = Simulation['pages']['nodes'][number];
type AgentRow = Simulation['agents']['nodes'][number];

interface Line {
  readonly name: string;
  readonly was: View;
  readonly byRules: View;
}

function linesOf(was: Sums, byRules: Sums): readonly Line[] {
  const both = (name: string, show: (sums: Sums) => View): Line => ({ name, was: show(was), byRules: show(byRules) });
  const counted = (sums: Sums, of: 'paid' | 'missed'): View =>
    html`<${Money} micro=${of === 'paid' ? sums.earnedMicro : sums.missedMicro} /> <span class="muted">${many(sums[of], 'request')}</span>`;
  return [
    both('Earned', (sums) => counted(sums, 'paid')),
    both('Missed: not paid', (sums) => counted(sums, 'missed')),
    both('Refused', ({ refused }) => html`<${Count} of=${refused} />`),
    both('Read free', ({ free }) => html`<${Count} of=${free} />`),
  ];
}

const SUM_COLUMNS: readonly Column<Line>[] = [
  { head: 'Last 28 days', isName: true, cell: ({ name }) => name },
  { head: 'As it was', align: 'end', cell: ({ was }) => was },
  { head: 'By these rules', align: 'end', cell: ({ byRules }) => byRules },
];

function columnsOf<Row extends Compared>(head: string, nameOf: (row: Row) => string): readonly Column<Row>[] {
  return [
    { head, isName: true, width: 'wide', cell: nameOf },
    { head: 'Earned', align: 'end', cell: ({ was }) => html`<${Money} micro=${was.earnedMicro} />` },
    { head: 'Then', align: 'end', cell: ({ byRules }) => html`<${Money} micro=${byRules.earnedMicro} />` },
    { head: 'Missed then', align: 'end', width: 'late', cell: ({ byRules }) => html`<${Money} micro=${byRules.missedMicro} />` },
    { head: 'Refused then', align: 'end', cell: ({ byRules }) => html`<${Count} of=${byRules.refused} />` },
  ];
}

function Groups<Row>({
  title,
  columns,
  rows,
}: {
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}): View {
  return html`<h3>${title} <span class="muted">those that change most</span></h3>
    <${Table} label=${`${title} by these rules`} columns=${columns} rows=${rows} />`;
}
