import { useQuery } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useEffect } from '../../core/html.ts';
import { setQuery, useRoute } from '../../core/router.ts';
import { useSession } from '../../core/session.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Head, Notice, Panel } from '../../parts/panel.ts';
import { Authors } from './authors.ts';
import type { SetupAnswer, SetupSite } from './documents.ts';
import { SETUP_DOCUMENT } from './documents.ts';
import type { Progress, StepKey } from './progress.ts';
import { progressOf, STEPS } from './progress.ts';
import type { StepProps } from './steps.ts';
import { BeginSite, FirstSale, Package, Price, ProveHost, ServerKey, TestPurchase } from './steps.ts';

/** How often steps that wait for somebody else look again. */
const LOOK_MS = 5_000;
const WINDOW = { named: 'LAST_90_DAYS', timeZone: 'UTC' };
/** Steps that end by what happens elsewhere: at the owner's server, or at an agent's. */
const WAITING: readonly StepKey[] = ['host', 'package', 'test', 'sale'];

/** From nothing to a first sale. The state is the site's own, so that a reload, or another day, goes on where one was. */
export function Setup(): View {
  const { sites, tenantId, canCreateSite } = useSession();
  const { query: asked } = useRoute();
  const isNew = asked['step'] === 'new' || sites.length === 0;
  const query = useQuery<SetupAnswer>(isNew ? null : SETUP_DOCUMENT, { window: WINDOW });
  const begin = (id: string): void => setQuery({ site: id, step: null });
  const another =
    canCreateSite && !isNew ? html`<${Button} onClick=${() => setQuery({ step: 'new' })}>Set up another site<//>` : null;
  return html`<${Head} title="Set up" about="From nothing to your first sale. Each step looks for itself whether it is done.">${another}<//>
    ${
      isNew
        ? html`<${Begin} canCreate=${canCreateSite} hasSites=${sites.length > 0} onBegun=${begin} />`
        : html`<${Await} of=${{ ...query, state: query.data ? 'ready' : query.state }} rows=${8}>
            ${({ tenant }: SetupAnswer) => html`<${Stepper} site=${tenant} tenantId=${tenantId ?? ''} onChange=${query.reload} />`}
          <//>`
    }`;
}

function Begin({
  canCreate,
  hasSites,
  onBegun,
}: {
  readonly canCreate: boolean;
  readonly hasSites: boolean;
  readonly onBegun: (tenantId: string) => void;
}): View {
  const back = hasSites
    ? html`<${Button} kind="quiet" onClick=${() => setQuery({ step: null })}>Back to the site you have<//>`
    : null;
  const inside = canCreate
    ? html`<${BeginSite} onBegun=${onBegun} />`
    : html`<${Notice} title="The operator adds sites here">Ask the operator of this service for one; then continue here.<//>`;
  return html`<${Steps} steps=${progressOf(null)} open="site" actions=${back}>${inside}<//>`;
}

function Stepper({ site, tenantId, onChange }: StepProps): View {
  const { query: asked } = useRoute();
  const steps = progressOf(site);
  const next = steps.find(({ done }) => !done)?.key ?? 'sale';
  const open = STEPS.find((key) => key === asked['step']) ?? next;
  const isWaiting = WAITING.includes(open) && steps.some(({ key, done }) => WAITING.includes(key) && !done);
  useEffect(() => {
    if (!isWaiting) return;
    const look = (): void => {
      if (document.visibilityState === 'visible') onChange();
    };
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [isWaiting, onChange]);
  return html`${site.status === 'active' ? null : html`<${Notice} tone="warn" title=${`This site is ${site.status}`}>Ask the operator before you go on.<//>`}
    ${hasPlan(site) ? null : html`<${Notice} tone="warn" title="The plan of this site does not include the API">Its keys are refused until the operator sets the plan Studio or above. Everything else can be prepared.<//>`}
    <${Steps} steps=${steps} open=${open}><${Inside} step=${open} ...${{ site, tenantId, onChange }} /><//>`;
}

function hasPlan({ plan }: SetupSite): boolean {
  return plan !== null && ['studio', 'scale', 'enterprise'].includes(plan);
}

function Inside({ step, ...props }: StepProps & { readonly step: StepKey }): View {
  const { site, onChange } = props;
  switch (step) {
    case 'site':
      return html`<p>The site is there. Go on with its host.</p>`;
    case 'host':
      return html`<${ProveHost} ...${props} />`;
    case 'authors':
      return html`<${Authors} site=${site} onChange=${onChange} />`;
    case 'price':
      return html`<${Price} ...${props} />`;
    case 'key':
      return html`<${ServerKey} ...${props} />`;
    case 'package':
      return html`<${Package} ...${props} />`;
    case 'test':
      return html`<${TestPurchase} ...${props} />`;
    default:
      return html`<${FirstSale} ...${props} />`;
  }
}

function Steps({
  steps,
  open,
  actions,
  children,
}: {
  readonly steps: readonly Progress[];
  readonly open: StepKey;
  readonly actions?: View;
  readonly children?: View;
}): View {
  const at = steps.findIndex(({ key }) => key === open);
  const following = steps[at + 1];
  const done = steps.filter((one) => one.done).length;
  const kind = steps[at]?.done ? 'primary' : 'plain';
  const goOn =
    following && (steps[at]?.done || open === 'package')
      ? html`<${Button} kind=${kind} onClick=${() => setQuery({ step: following.key })}>Go on: ${following.title}<//>`
      : null;
  return html`<div class="setup">
    <nav aria-label="Steps">
      <p class="muted">${done} of ${steps.length} done</p>
      <ol class="steps">
        ${steps.map(
          ({ key, title, done: isDone, says }, place) => html`<li key=${key} class=${isDone ? 'done' : ''}>
            <button type="button" aria-current=${key === open ? 'step' : undefined} onClick=${() => setQuery({ step: key })}>
              <span class="place" aria-hidden="true">${isDone ? '✓' : place + 1}</span>
              <span>${title}<span class="sr">${isDone ? ', done' : ', not done'}</span><span class="says">${says}</span></span>
            </button>
          </li>`,
        )}
      </ol>
    </nav>
    <${Panel} title=${steps[at]?.title} about=${steps[at]?.says} actions=${actions}>
      ${children}
      ${goOn ? html`<div class="go-on">${goOn}</div>` : null}
    <//>
  </div>`;
}
