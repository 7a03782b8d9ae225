import type { More } from '../../core/data.ts';
import { placesOf, words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href } from '../../core/router.ts';
import { Count, Money, Time } from '../../parts/figure.ts';
import { Badge } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { Deciding } from './decide.ts';
import type { Agent, AgentSums, Observation } from './document.ts';

/** The one label that is no agent's name. */
const OTHER = html`<small title="Agents that gave no name, or one beyond the 200 names of a day">unnamed agents</small>`;

/** Which order each head stands for. */
const SORTS: Readonly<Record<string, string>> = {
  Requests: 'HITS',
  Refused: 'UNANSWERED',
  Failed: 'PAYMENT_FAILED',
  Spoofed: 'MASQUERADES',
  Missed: 'UNANSWERED_MICRO',
  Earned: 'EARNED',
};

/** The columns with the order that a click on each head gives. */
function sorted(columns: readonly Column<Agent>[], orderBy: string): readonly Column<Agent>[] {
  return columns.map((column) => {
    const sort = typeof column.head === 'string' ? SORTS[column.head] : undefined;
    if (sort === undefined) return column;
    return { ...column, sort: { href: href('/agents', { sort }), now: sort === orderBy ? 'descending' : null } };
  });
}

/** What an agent did, in every table of agents. */
export const sumsOf = (rows: readonly AgentSums[]): readonly Column<AgentSums>[] => [
  { head: 'Requests', align: 'end', cell: ({ hits }) => html`<${Count} of=${hits} />` },
  { head: 'Verified', align: 'end', width: 'late', cell: ({ verifiedHits }) => html`<${Count} of=${verifiedHits} />` },
  { head: 'Paid', align: 'end', cell: ({ paid }) => html`<${Count} of=${paid} />` },
  { head: 'Free', align: 'end', width: 'late', cell: ({ servedFree }) => html`<${Count} of=${servedFree} />` },
  { head: 'Refused', align: 'end', width: 'late', cell: ({ unanswered }) => html`<${Count} of=${unanswered} />` },
  { head: 'Failed', align: 'end', width: 'late', cell: ({ paymentFailed }) => html`<${Count} of=${paymentFailed} />` },
  {
    head: 'Spoofed',
    align: 'end',
    width: 'late',
    cell: ({ masqueradeAttempts }) => html`<${Count} of=${masqueradeAttempts} />`,
  },
  {
    head: 'Missed',
    align: 'end',
    cell: ({ unansweredMicro }) =>
      html`<${Money} micro=${unansweredMicro} places=${placesOf(rows.map((row) => row.unansweredMicro))} />`,
  },
  {
    head: 'Earned',
    align: 'end',
    cell: ({ earnedMicro }) => html`<${Money} micro=${earnedMicro} places=${placesOf(rows.map((row) => row.earnedMicro))} />`,
  },
];

const agentsOf = (rows: readonly Agent[], deciding: Deciding): readonly Column<Agent>[] => [
  {
    head: 'Agent',
    isName: true,
    width: 'wide',
    cell: ({ agent, ownWords }) =>
      html`<span class="two"><a href=${href('/agents', { agent })}>${agent}</a>${agent === 'other' ? OTHER : null}${ownWords ? html`<small title="In the agent’s own words">${saidOf(ownWords)}</small>` : null}</span>`,
  },
  { head: 'Access', cell: deciding.of },
  ...sumsOf(rows),
];

/** What an agent says of itself, in one line. */
function saidOf({ operator, purpose }: NonNullable<Agent['ownWords']>): string {
  return `says: ${[operator, purpose].filter((word) => word !== null).join(', for ')}`;
}

/** Agents of the window, each leading to its own view. */
export function AgentsTable({
  rows,
  more,
  orderBy,
  deciding,
}: {
  readonly rows: readonly Agent[];
  readonly more: More | null;
  readonly orderBy: string;
  /** The switches beside them. */
  readonly deciding: Deciding;
}): View {
  return html`<${Table} label="Agents" columns=${sorted(agentsOf(rows, deciding), orderBy)} rows=${rows} keyOf=${({ agent }: Agent) => agent} empty="No agent came by in this window." more=${more} />`;
}

const SEEN: readonly Column<Observation>[] = [
  { head: 'When', cell: ({ at }) => html`<${Time} at=${at} />` },
  {
    head: 'Agent',
    isName: true,
    cell: ({ agent, verifiedAgent }) =>
      html`${agent}${verifiedAgent ? html` <span class="muted">as ${verifiedAgent}</span>` : null}`,
  },
  {
    head: 'Page',
    width: 'wide',
    cell: ({ slug, title, host }) => html`<span title=${slug}>${title ?? slug}</span> <span class="muted">${host}</span>`,
  },
  {
    head: 'User-Agent',
    width: 'late',
    cell: ({ agentUa }) => html`<span class="muted cut" title=${agentUa}>${agentUa ?? 'none'}</span>`,
  },
  {
    head: 'Proof',
    width: 'late',
    cell: ({ verified, sigInvalid, classifyReason }) =>
      classifyReason === 'masquerade'
        ? html`<${Badge} tone="bad">False address<//>`
        : html`<${Signature} verified=${verified} failed=${sigInvalid === true} />`,
  },
  {
    head: 'Outcome',
    cell: ({ verdict, reason }) => `${words(verdict)}${reason ? `: ${words(reason).toLowerCase()}` : ''}`,
  },
];

/** Requests as they were observed. */
export function Observations({ rows, empty }: { readonly rows: readonly Observation[]; readonly empty: string }): View {
  return html`<${Table} label="Requests" columns=${SEEN} rows=${rows} keyOf=${({ observationId }: Observation) => observationId} empty=${empty} />`;
}

/** Whether a request proved who it was. */
export function Signature({ verified, failed }: { readonly verified: boolean | null; readonly failed: boolean }): View {
  if (failed) return html`<${Badge} tone="bad">Failed<//>`;
  return verified ? html`<${Badge} tone="good">Verified<//>` : html`<span class="muted">none</span>`;
}
