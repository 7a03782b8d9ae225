/** Which lists and price rules one decision about one agent comes to. */
import type { ClassPolicy, Policy, Rules, SeenAgent } from '../pages/crawlerEffect.ts';
import { FATES, fateOf } from '../pages/crawlerEffect.ts';
import type { Rule } from '../rules/words.ts';
import { standingOf } from '../rules/words.ts';

/**
 * What stands in the User-Agents of browsers, apps and most robots. The lists go by a part of it: by one of these words, which anybody may take for
 * a name, they would decide about people and other robots as well.
 */
const ORDINARY =
  'mozilla/5.0 (compatible; windows nt 10.0; win64; x64; x11; cros; linux x86_64; ubuntu; android; mobile; tablet; wv; build/; iphone; ipad; ipod; cpu os ' +
  'like mac os x; macintosh; intel; ppc; rv: en-us; applewebkit/ (khtml, like gecko) gecko/ chromium headlesschrome/ version/ mobile/15e148 safari/ firefox/ ' +
  'fxios/ focus/ crios/ edg/ edga/ edgios/ opr/ opera opt/ gsa/ ddg/ duckduckgo/ samsungbrowser/ ucbrowser/ yabrowser/ vivaldi/ brave/ silk/ instagram ' +
  'fban/ fbav/ whatsapp/ webview trident/ msie +http://www. +https:// .com .org .net .html .txt crawler spider robot fetch agent client preview search ' +
  'google bing apple amazon yahoo yandex facebook openai anthropic perplexity http/1.1 user';

/** What an owner decides about an agent. */
export type Decision = ClassPolicy;

/**
 * What an agent is known by: `host`, which its signature proved and a price rule can name; `name`, a part of its User-Agent; `unsure`, a name
 * that may not stand so in its User-Agent, where a dot is written `_`; `nameless`, all that have no name.
 */
export function kindOf(agent: string): 'host' | 'name' | 'unsure' | 'nameless' {
  if (agent === 'other') return 'nameless';
  if (agent.includes('.')) return 'host';
  return agent.includes('_') || ORDINARY.includes(agent.toLowerCase()) ? 'unsure' : 'name';
}

/** The lists with a decision about one name: it leaves all three, and stands in one only where its class does not say the same already. */
export function policyWith(agent: SeenAgent, decision: Decision, rules: Rules): Policy {
  const without = (list: readonly string[]): readonly string[] =>
    list.filter((one) => one.trim().toLowerCase() !== agent.agent.toLowerCase());
  const { allow, charge, block } = rules.policy;
  const rest = { allow: without(allow), charge: without(charge), block: without(block) };
  if (fateOf(agent, { ...rules, policy: rest }) === FATES[decision]) return rest;
  const list = ({ READ: 'allow', CHARGE: 'charge', BLOCK: 'block' } as const)[decision];
  return { ...rest, [list]: [...rest[list], agent.agent] };
}

/** What price rules decide about a proven host; null where they say more than one of the three, or of some of its requests alone. */
export function decisionOf(host: string, rules: readonly Rule[], now: number): Decision | null {
  const standing = rules.filter(
    (rule) => standingOf(rule, now) !== 'over' && (rule.operators.length === 0 || rule.operators.includes(host)),
  );
  const [only, ...others] = standing.filter(({ effect }) => effect !== 'PRICE');
  if (only === undefined) return 'CHARGE';
  if (others.length > 0 || standing.length > 1 || !isOfHost(only, host)) return null;
  return only.effect === 'FREE' ? 'READ' : 'BLOCK';
}

/** The rules with a decision about a proven host: one that names it alone in place of any that did; to charge it, none but a price of its own. */
export function rulesWith(rules: readonly Rule[], host: string, decision: Decision): readonly Rule[] {
  const rest = rules.filter((rule) => !isOfHost(rule, host) || (decision === 'CHARGE' && rule.effect === 'PRICE'));
  if (decision === 'CHARGE') return rest;
  const ids = new Set(rest.map(({ id }) => id));
  const name = host.slice(0, 60);
  const id = [name, ...Array.from({ length: rest.length }, (_, at) => `${name}-${at + 2}`)].find((one) => !ids.has(one)) ?? name;
  const effect = decision === 'READ' ? 'FREE' : 'REFUSE';
  const anything = { path: null, kind: null, categories: [], terms: [], from: null, until: null, priceUsdc: null } as const;
  return [...rest, { ...anything, id, operators: [host], effect }];
}

/** Whether a rule is for all requests of one host, always, and of nobody else. */
function isOfHost({ path, kind, operators, categories, terms, from, until }: Rule, host: string): boolean {
  const isAll =
    path === null && kind === null && categories.length === 0 && terms.length === 0 && from === null && until === null;
  return isAll && operators.length === 1 && operators[0] === host;
}
