/** Classes of visitors: what an owner decides about each, and which one a robot belongs to. Gates know the same table. */
import { MAX_UA_CHARS } from './crawlers.ts';
import { AI_AGENTS, OTHER_ROBOTS } from './robots.generated.ts';

/** What becomes of a class. */
export const CLASS_POLICIES = ['read', 'charge', 'block'] as const;
/** One of them. */
export type ClassPolicy = (typeof CLASS_POLICIES)[number];

/**
 * Every class with what holds until an owner decides otherwise: AI agents and automation that nothing names pay, everybody else reads, so that a
 * site is still found, shared, measured and watched. `pretender`: says to be a browser, and asks as none does.
 */
export const DEFAULT_CLASSES = {
  ai: 'charge',
  automation: 'charge',
  pretender: 'charge',
  search: 'read',
  preview: 'read',
  ads: 'read',
  feed: 'read',
  monitor: 'read',
  app: 'read',
} as const satisfies Readonly<Record<string, ClassPolicy>>;
/** A class that an owner decides about. */
export type VisitorClass = keyof typeof DEFAULT_CLASSES;
/** What becomes of every class. */
export type ClassPolicies = Readonly<Record<VisitorClass, ClassPolicy>>;
/** All of them, in the order in which they are shown. */
export const VISITOR_CLASSES = Object.keys(DEFAULT_CLASSES) as readonly VisitorClass[];

const CLASS_OF = new Map<string, VisitorClass>([
  ...AI_AGENTS.map((name) => [name, 'ai'] as const),
  ...OTHER_ROBOTS.map(([name, visitorClass]) => [name, visitorClass as VisitorClass] as const),
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
  return CLASS_OF.get(robotIn(userAgent) ?? '') ?? 'automation';
}

/** Who runs the robot that a User-Agent or a label names; null where no list says it. */
export function robotOperatorOf(userAgent: string): string | null {
  const name = robotIn(userAgent);
  const operator = OTHER_ROBOTS.find(([robot]) => robot === name)?.[2] ?? '-';
  return operator === '-' ? null : operator;
}

function robotIn(userAgent: string): string | null {
  const text = userAgent.slice(0, MAX_UA_CHARS).toLowerCase();
  return (AI.exec(text) ?? OTHER.exec(text))?.[0] ?? null;
}
