/** What becomes of an agent, and the switch beside its name that changes it after a look at the effect. */
import { useQuery } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useEffect, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { href } from '../../core/router.ts';
import type { IconName } from '../../parts/icon.ts';
import { Icon } from '../../parts/icon.ts';
import { useReview } from '../../parts/review.ts';
import type { FateChange, SeenAgent } from '../pages/crawlerEffect.ts';
import { FATES, fateChanges, fateOf } from '../pages/crawlerEffect.ts';
import { SET_CRAWLER_POLICY_DOCUMENT } from '../pages/crawlers.ts';
import type { Gate } from '../pages/gate.ts';
import { Fates, gateNow, rulesOf, SAID } from '../pages/gate.ts';
import { rulesNow, SET_RULES_DOCUMENT } from '../rules/documents.ts';
import type { Simulated } from '../rules/simulation.ts';
import { showSimulation, simulate } from '../rules/simulation.ts';
import type { Rule } from '../rules/words.ts';
import type { Decision } from './decision.ts';
import { decisionOf, kindOf, policyWith, rulesWith } from './decision.ts';

/** What decides about agents: the gate's lists and classes, and the price rules. */
export const DECISIONS_DOCUMENT = `query agentDecisions($tenantId: ID) {
  tenant(tenantId: $tenantId) {
    gate { seoAllowlist crawlerPolicy { allow charge block } visitorClasses { visitorClass policy } }
    priceRules { id path kind operators categories terms from until effect priceUsdc }
  }
}`;

interface Answer {
  readonly tenant: {
    readonly gate: Pick<Gate, 'seoAllowlist' | 'crawlerPolicy' | 'visitorClasses'> | null;
    readonly priceRules: readonly Rule[] | null;
  } | null;
}

const WORDS: readonly { readonly key: Decision; readonly label: string; readonly icon: IconName; readonly does: string }[] = [
  { key: 'READ', label: 'Allow', icon: 'allow', does: 'reads free' },
  { key: 'CHARGE', label: 'Charge', icon: 'charge', does: 'pays' },
  { key: 'BLOCK', label: 'Block', icon: 'block', does: 'is turned away' },
];

type Decidable = Pick<SeenAgent, 'agent' | 'visitorClass'>;

interface Chosen {
  readonly agent: Decidable;
  readonly decision: Decision;
}

/** What a change would do: of a name the gate's lists, of a proven host the price rules. */
type Looked =
  | {
      readonly of: 'name';
      readonly version: number;
      readonly policy: Gate['crawlerPolicy'];
      readonly changes: readonly FateChange[];
      readonly isReached: boolean;
    }
  | { readonly of: 'host'; readonly version: number; readonly simulated: Simulated };

/** The switch beside an agent, what came of it, and its dialog. */
export interface Deciding {
  /** Of an agent; nothing until it is known what becomes of agents now. */
  readonly of: (agent: Decidable) => View;
  readonly outcome: () => View;
  readonly dialog: View;
}

/** Decides about agents one by one. */
export function useDeciding(): Deciding {
  const query = useQuery<Answer>(DECISIONS_DOCUMENT);
  const [chosen, choose] = useState<Chosen | null>(null);
  const review = useReview<Looked>({
    title: chosen === null ? 'Change an agent' : `Change: ${chosen.agent.agent}`,
    look: () => look(chosen as Chosen),
    isIdle: (looked) => looked.of === 'name' && !looked.isReached,
    show: (looked) => show(looked, chosen as Chosen),
    make: (looked) =>
      looked.of === 'name'
        ? mutate(SET_CRAWLER_POLICY_DOCUMENT, { ...looked.policy, ifVersion: looked.version })
        : mutate(SET_RULES_DOCUMENT, { rules: looked.simulated.rules, ifVersion: looked.version }),
    confirm: 'Save',
    said: chosen !== null && kindOf(chosen.agent.agent) === 'host' ? 'Saved. Quotes show it within two seconds.' : SAID,
    done: query.reload,
  });
  useEffect(() => {
    if (chosen !== null) void review.start();
  }, [chosen]);
  const tenant = query.data?.tenant ?? null;
  return {
    of: (agent) => {
      if (!tenant?.gate || !tenant.priceRules) return null;
      const kind = kindOf(agent.agent);
      if (kind === 'nameless') return null;
      if (kind === 'unsure')
        return html`<a href=${href('/pages', { view: 'crawlers' })} title="By this name a list would decide about other visitors, or about nobody: choose a part of the User-Agent">By name</a>`;
      const now =
        kind === 'host'
          ? decisionOf(agent.agent, tenant.priceRules, Date.now())
          : policyOf(fateOf(seen(agent), rulesOf(tenant.gate as Gate)));
      return html`<${Switch} agent=${agent.agent} now=${now} choose=${(decision: Decision) => choose({ agent, decision })} />`;
    },
    outcome: () => review.outcome(),
    dialog: review.dialog,
  };
}

function Switch({
  agent,
  now,
  choose,
}: {
  readonly agent: string;
  /** Null: price rules say more than one of the three. */
  readonly now: Decision | null;
  readonly choose: (decision: Decision) => void;
}): View {
  const rules = now === null ? html`<a href=${href('/pages', { view: 'rules' })}>By price rules</a>` : null;
  return html`<span class="switch" role="group" aria-label=${`What becomes of ${agent}`}>
    ${WORDS.map(
      ({
        key,
        label,
        icon,
      }) => html`<button key=${key} type="button" class=${key.toLowerCase()} title=${label} aria-pressed=${key === now}
        onClick=${() => (key === now ? undefined : choose(key))}><${Icon} name=${icon} /><span>${label}</span></button>`,
    )}
  </span>${rules}`;
}

async function look({ agent, decision }: Chosen): Promise<Looked> {
  if (kindOf(agent.agent) === 'host') {
    const { version, priceRules } = await rulesNow();
    return { of: 'host', version, simulated: await simulate(rulesWith(priceRules, agent.agent, decision), null) };
  }
  const { version, gate, agents } = await gateNow();
  const rules = rulesOf(gate);
  const policy = policyWith(seen(agent), decision, rules);
  const after = { ...rules, policy };
  const isReached = fateOf(seen(agent), after) === FATES[decision];
  return { of: 'name', version, policy, changes: fateChanges(agents?.nodes ?? [], rules, after), isReached };
}

function show(looked: Looked, { agent: { agent }, decision }: Chosen): View {
  const does = WORDS.find(({ key }) => key === decision)?.does ?? '';
  if (looked.of === 'host')
    return showSimulation(
      looked.simulated,
      decision === 'CHARGE'
        ? `${agent} pays the usual prices: the price rules for it alone are removed.`
        : `${agent}, where its signature verifies, ${does}.`,
    );
  if (!looked.isReached)
    return html`<p>${agent} stays as it is: a list of <a href=${href('/pages', { view: 'crawlers' })}>Crawlers by name</a> has a part of its name, and wins. Change it there.</p>`;
  return html`<${Fates} of=${looked.changes} first=${`Every visitor whose User-Agent has “${agent}” in it ${does}. A User-Agent is what a visitor says of itself.`} />`;
}

/** An agent as the effect of lists is reckoned: by its name and class alone. */
const seen = ({ agent, visitorClass }: Decidable): SeenAgent => ({ agent, visitorClass, hits: 0, earnedMicro: '0' });

function policyOf(fate: ReturnType<typeof fateOf>): Decision {
  return (Object.keys(FATES) as Decision[]).find((key) => FATES[key] === fate) ?? 'CHARGE';
}
