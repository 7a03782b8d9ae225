/** Classes of visitors as the service knows them: the same table as at publishers' gates. */
import { expect, test } from 'vitest';
import { operatorOf } from '../../modules/gate/rules/agent.ts';
import { nameOf } from '../../modules/gate/rules/agentName.ts';
import { DEFAULT_CLASSES, robotClassOf, VISITOR_CLASSES } from '../../modules/gate/rules/visitors.ts';
import { KNOWN_VISITORS as visitors } from '../../packages/publisher/src/cli/knownVisitors.ts';
import { createClassifier } from '../../packages/publisher/src/core/who.ts';

/** Engines of the owner's own list (`seoAllowlist`), which are no robots of the table. */
const LISTED = /googlebot|bingbot|duckduckbot|applebot|yandexbot|baiduspider/i;

test.each(visitors.filter(({ class: named }) => named !== 'person'))('$class: $userAgent', ({ class: named, userAgent }) => {
  expect(robotClassOf(userAgent)).toBe(LISTED.test(userAgent) ? robotClassOf(userAgent) : named);
});

test('a gate that was told nothing does with each class what the service says is usual', () => {
  const told = createClassifier({
    seoAllowlist: ['googlebot'],
    crawlerPolicy: { allow: [], charge: [], block: [] },
    visitorClasses: DEFAULT_CLASSES,
  });
  const untold = createClassifier(null);
  for (const { userAgent } of visitors.filter(({ userAgent: ua }) => !LISTED.test(ua)))
    expect([userAgent, untold(userAgent)]).toEqual([userAgent, told(userAgent)]);
  expect(untold.pretender()).toEqual(told.pretender());
  expect(new Set(visitors.map(({ class: named }) => named))).toEqual(
    new Set([...VISITOR_CLASSES.filter((name) => name !== 'pretender' && name !== 'masquerade'), 'person']),
  );
});

test('reports name who runs a robot, by the label that its User-Agent gets', () => {
  const agents = {
    'Twitterbot/1.0': 'X',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)': 'Slack',
    'kube-probe/1.31': 'Kubernetes',
    'ELB-HealthChecker/2.0': 'Amazon',
    'Scraper/1.0': null,
  };
  for (const [userAgent, operator] of Object.entries(agents))
    expect([userAgent, operatorOf(nameOf(userAgent) ?? '')]).toEqual([userAgent, operator]);
});
