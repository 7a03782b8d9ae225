import type { View } from '../../core/html.ts';
import { html, useEffect, useState } from '../../core/html.ts';
import { mutate, mutation } from '../../core/mutate.ts';
import { Panel } from '../../parts/panel.ts';
import { useReview } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { ClassPolicy, VisitorClass } from './crawlerEffect.ts';
import { fateChanges } from './crawlerEffect.ts';
import type { ClassRule, Gate } from './gate.ts';
import { Fates, gateNow, rulesOf, SAID } from './gate.ts';

export const SET_VISITOR_CLASS_DOCUMENT = mutation('setVisitorClass', 'visitorClass policy');

/** Classes as people know them, with the best known of each. */
const CLASSES: Readonly<Record<VisitorClass, { readonly name: string; readonly such: string }>> = {
  AI: { name: 'AI agents', such: 'GPTBot, ClaudeBot, PerplexityBot and others of a public list' },
  AUTOMATION: { name: 'Other automation', such: 'curl, scripts, robots of no list, and requests without a User-Agent' },
  PRETENDER: { name: 'Tools that pretend', such: 'say they are a browser, and ask for Markdown as none does' },
  MASQUERADE: { name: 'False robots', such: 'claim to be Googlebot, Bingbot or GPTBot, from an address that is not theirs' },
  SEARCH: { name: 'Search engines', such: 'Googlebot, Bingbot, Search Console, Seznam, Naver' },
  PREVIEW: { name: 'Link previews', such: 'Facebook, X, LinkedIn, Slack, WhatsApp, Mastodon' },
  ADS: { name: 'Advertising', such: 'AdSense, AdsBot, Criteo, brand safety' },
  FEED: { name: 'Feed readers', such: 'Feedly, Inoreader, NetNewsWire' },
  MONITOR: { name: 'Monitors', such: 'UptimeRobot, Pingdom, health checks, Lighthouse' },
  APP: { name: 'Apps', such: 'your own apps (CFNetwork, okhttp), and browsers of few readers' },
};

const POLICIES = [
  { key: 'READ', label: 'Read free', does: 'read free' },
  { key: 'CHARGE', label: 'Pay', does: 'pay' },
  { key: 'BLOCK', label: 'Blocked', does: 'are turned away' },
] as const;

/** What becomes of a class, in words. */
const doesOf = (policy: ClassPolicy): string => POLICIES.find(({ key }) => key === policy)?.does ?? policy;

interface Chosen {
  readonly visitorClass: VisitorClass;
  readonly policy: ClassPolicy;
}

/** What becomes of each class of visitors, and the switch that changes it. */
export function Visitors({ gate, done }: { readonly gate: Gate; readonly done: () => void }): View {
  const [chosen, choose] = useState<Chosen | null>(null);
  const review = useReview({
    title: chosen === null ? 'Change a class of visitors' : `Change: ${CLASSES[chosen.visitorClass].name}`,
    look: async () => {
      const { version, gate: before, agents } = await gateNow();
      const rules = rulesOf(before);
      const next = chosen as Chosen;
      const after = { ...rules, classes: { ...rules.classes, [next.visitorClass]: next.policy } };
      return { next, version, was: rules.classes[next.visitorClass], changes: fateChanges(agents?.nodes ?? [], rules, after) };
    },
    isIdle: ({ next, was }) => next.policy === was,
    show: ({ next: { visitorClass, policy }, was, changes }) => html`<${Fates} of=${changes}
      first=${`${CLASSES[visitorClass].name} ${doesOf(policy)}; until now they ${doesOf(was)}.`}
      also=${['Names that your lists below have stay as those lists say.']} />`,
    make: ({ next, version }) => mutate(SET_VISITOR_CLASS_DOCUMENT, { ...next, ifVersion: version }),
    confirm: 'Save',
    said: SAID,
    done,
  });
  useEffect(() => {
    if (chosen !== null) void review.start();
  }, [chosen]);
  return html`<${Panel} flush title="Visitors" about="People always read free. A User-Agent is what a visitor says of itself; where an operator publishes addresses, they are checked.">
      ${review.outcome()}
      <${Table} label="Classes of visitors" columns=${columnsOf(choose)} rows=${gate.visitorClasses} keyOf=${({ visitorClass }: ClassRule) => visitorClass} />
    <//>
    ${review.dialog}`;
}

function columnsOf(choose: (chosen: Chosen) => void): readonly Column<ClassRule>[] {
  return [
    {
      head: 'Class',
      isName: true,
      width: 'wide',
      cell: ({ visitorClass }) =>
        html`${CLASSES[visitorClass].name}<br /><small class="muted">${CLASSES[visitorClass].such}</small>`,
    },
    { head: 'Usual', cell: ({ usual }) => html`<span class="muted">${doesOf(usual)}</span>` },
    {
      head: html`<span class="sr">What becomes of it</span>`,
      align: 'end',
      cell: ({ visitorClass, policy }) => html`<span class="choice" role="group" aria-label=${CLASSES[visitorClass].name}>
        ${POLICIES.map(
          ({ key, label }) => html`<button key=${key} type="button" aria-pressed=${key === policy}
            onClick=${() => (key === policy ? undefined : choose({ visitorClass, policy: key }))}>${label}</button>`,
        )}
      </span>`,
    },
  ];
}
