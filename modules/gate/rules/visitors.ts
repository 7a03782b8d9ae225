/** Classes of visitors: what an owner decides about each, and which one a robot belongs to. Gates know the same table. */
import { MAX_UA_CHARS } from './crawlers.ts';
import { AI_AGENTS, DEFAULTS, OTHER_ROBOTS } from './robots.generated.ts';

/** What becomes of a class. */
export const CLASS_POLICIES = ['read', 'charge', 'block'] as const;
/** One of them. */
export type ClassPolicy = (typeof CLASS_POLICIES)[number];

/**
 * Every class with what holds until an owner decides otherwise: AI agents and automation that nothing names pay, everybody else reads, so that a
 * site is still found, shared, measured and watched. `pretender`: says to be a browser, and asks as none does. `masquerade`: says to be a robot whose
 * addresses are known, and comes from none of them.
 */
export const DEFAULT_CLASSES = DEFAULTS satisfies Readonly<Record<string, ClassPolicy>>;
/** A class that an owner decides about. */
export type VisitorClass = keyof typeof DEFAULT_CLASSES;
/** What becomes of every class. */
export type ClassPolicies = Readonly<Record<VisitorClass, ClassPolicy>>;
/** All of them, in the order in which they are shown. */
export const VISITOR_CLASSES = Object.keys(DEFAULT_CLASSES) as readonly VisitorClass[];

/** The class of whoever says to be a robot and comes from none of its addresses, and the reason that gates give for it. */
export const MASQUERADE = 'masquerade';

/** Robots by their names; the operator is null where no list says it. */
const ROBOTS = new Map<string, { readonly visitorClass: VisitorClass; readonly operator: string | null }>([
  ...AI_AGENTS.map((name) => [name, { visitorClass: 'ai', operator: null }] as const),
  ...OTHER_ROBOTS.map(
    ([name, visitorClass, operator]) =>
      [name, { visitorClass: visitorClass as VisitorClass, operator: operator === '-' ? null : operator }] as const,
  ),
]);
const patternOf = (names: readonly string[], end: string): RegExp => {
  const escaped = [...names].sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
  return new RegExp(`(?<![a-z0-9-])(?:${escaped.join('|')})${end}`);
};
const AI = patternOf(AI_AGENTS, '(?![a-z0-9-])');
const OTHER = patternOf(
  OTHER_ROBOTS.map(([name]) => name),
  '',
);

/**
 * The class of a robot by its User-Agent or its label, as an observation of an agent has it; `automation` where no list names it. No more than
 * 512 characters are looked at.
 */
export function robotClassOf(userAgent: string): VisitorClass {
  return robotIn(userAgent)?.visitorClass ?? 'automation';
}

/** Who runs the robot that a User-Agent or a label names; null where no list says it. */
export function robotOperatorOf(userAgent: string): string | null {
  return robotIn(userAgent)?.operator ?? null;
}

function robotIn(userAgent: string) {
  const text = userAgent.slice(0, MAX_UA_CHARS).toLowerCase();
  return ROBOTS.get((AI.exec(text) ?? OTHER.exec(text))?.[0] ?? '');
}
