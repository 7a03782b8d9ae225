/** What the gate of a site decides by, as the screens that change it read it anew, and what a change does to the agents that came. */
import { ask } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { Problem } from '../../core/problem.ts';
import { Count, Money } from '../../parts/figure.ts';
import { Effect } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { ClassPolicy, FateChange, Policy, Rules, SeenAgent, VisitorClass } from './crawlerEffect.ts';

/** What the gate decides by, and who came in the last seven days. */
export const GATE_DOCUMENT = `query gate($tenantId: ID) {
  tenant(tenantId: $tenantId) {
    version
    gate {
      mode excludePrefixes includeExtensions forms seoAllowlist crawlerPolicy { allow charge block }
      visitorClasses { visitorClass policy usual }
    }
    agents(window: { lastDays: 7 }, orderBy: HITS, first: 100) { nodes { agent visitorClass hits earnedMicro } }
  }
}`;

/** What becomes of a class, and what does until an owner decides otherwise. */
export interface ClassRule {
  readonly visitorClass: VisitorClass;
  readonly policy: ClassPolicy;
  readonly usual: ClassPolicy;
}

/** The settings of a gate. */
export interface Gate {
  readonly mode: 'PREFIXES' | 'SITE';
  readonly excludePrefixes: readonly string[];
  readonly includeExtensions: readonly string[] | null;
  /** What other addresses of an article add to its own. */
  readonly forms: readonly string[];
  readonly seoAllowlist: readonly string[];
  readonly crawlerPolicy: Policy;
  readonly visitorClasses: readonly ClassRule[];
}

interface Settings {
  readonly version: number;
  readonly gate: Gate;
  readonly agents: { readonly nodes: readonly SeenAgent[] } | null;
}

/** The answer of `GATE_DOCUMENT`. */
export interface GateAnswer {
  readonly tenant: Settings | null;
}

/** What is said after a change. */
export const SAID = 'Saved. Gates fetch it with the next price that they ask for, within five minutes at most.';

/** The settings as they are now. Throws `not_found` where the site is gone. */
export async function gateNow(): Promise<Settings> {
  const { tenant } = await ask<GateAnswer>(GATE_DOCUMENT);
  if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
  return tenant;
}

/** By what the gate tells agents apart. */
export function rulesOf({ crawlerPolicy, seoAllowlist, visitorClasses }: Gate): Rules {
  const classes = Object.fromEntries(visitorClasses.map(({ visitorClass, policy }) => [visitorClass, policy]));
  return { policy: crawlerPolicy, search: seoAllowlist, classes: classes as Rules['classes'] };
}

const FATE_COLUMNS: readonly Column<FateChange>[] = [
  { head: 'Agent', isName: true, cell: ({ agent }) => agent },
  { head: 'Now', cell: ({ before }) => before },
  { head: 'Then', cell: ({ after }) => after },
  { head: 'Requests, 7 days', align: 'end', cell: ({ hits }) => html`<${Count} of=${hits} />` },
  { head: 'Paid, 7 days', align: 'end', width: 'late', cell: ({ earnedMicro }) => html`<${Money} micro=${earnedMicro} />` },
];

/** The agents that a change treats otherwise. */
export function Fates({
  of: changes,
  first = null,
  also = [],
}: {
  readonly of: readonly FateChange[];
  /** What the change comes to, where the agents alone do not say it. */
  readonly first?: string | null;
  readonly also?: readonly string[];
}): View {
  const hits = changes.reduce((sum, one) => sum + one.hits, 0);
  const seen =
    changes.length === 0
      ? 'None of the agents of the last seven days is treated otherwise, as far as their names tell.'
      : `${many(changes.length, 'agent')} of the last seven days, with ${many(hits, 'request')}, ${changes.length === 1 ? 'is' : 'are'} treated otherwise.`;
  return html`<${Effect} lines=${[...(first === null ? [] : [first]), seen, ...also]} />
    ${changes.length > 0 ? html`<${Table} label="Agents that are treated otherwise" columns=${FATE_COLUMNS} rows=${changes} keyOf=${({ agent }: FateChange) => agent} />` : null}`;
}
