import { change } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useEffect, useState } from '../../core/html.ts';
import type { Problem } from '../../core/problem.ts';
import { problemOf } from '../../core/problem.ts';
import { ProblemText } from '../../parts/await.ts';
import { Button, Copy } from '../../parts/button.ts';
import { Time } from '../../parts/figure.ts';
import { Notice } from '../../parts/panel.ts';
import type { Host, Present, ProofMethod } from './documents.ts';
import { CHECK_HOST_DOCUMENT, OPEN_HOST_DOCUMENT } from './documents.ts';
import { METHODS, reasonText } from './words.ts';

type Came = { readonly verified: boolean; readonly reason: string | null };

/** How to prove a host, step by step: choose a way, publish, check. `onChange` is told when something of the host may have changed. */
export function Proof({ host, onChange }: { readonly host: Host; readonly onChange: () => void }): View {
  const [came, setCame] = useState<Came | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const method = host.challenge?.method ?? 'WELL_KNOWN';
  useEffect(() => {
    setCame(null);
    setProblem(null);
  }, [host.host, method]);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(problemOf(error));
    }
    onChange();
  };
  const choose = (key: ProofMethod): Promise<void> =>
    attempt(async () => void (await change(OPEN_HOST_DOCUMENT, { host: host.host, method: key })));
  const check = (): Promise<void> =>
    attempt(async () => {
      const { checkHost } = await change<{ readonly checkHost: Came }>(CHECK_HOST_DOCUMENT, { host: host.host });
      setCame(checkHost);
    });
  return html`<div class="stack">
    <${Ways} chosen=${method} hasOne=${host.challenge !== null} choose=${choose} />
    ${host.challenge ? html`<${Publish} method=${method} present=${host.challenge.present} />` : null}
    ${
      host.challenge
        ? html`<div class="actions">
          <${Button} kind="primary" onClick=${check}>Check now<//>
          ${host.nextCheckAt === null ? null : html`<span class="muted">We also check automatically: next <${Time} at=${host.nextCheckAt} />.</span>`}
        </div>`
        : null
    }
    ${problem ? html`<${Notice} tone="bad" title="Not checked"><${ProblemText} problem=${problem} /><//>` : null}
    ${problem === null && came ? html`<${Outcome} came=${came} method=${method} />` : null}
    ${came === null && problem === null && host.lastReason ? html`<${Notice} title="The last check proved nothing">${reasonText(host.lastReason, method)}<//>` : null}
  </div>`;
}

function Ways({
  chosen,
  hasOne,
  choose,
}: {
  readonly chosen: ProofMethod;
  readonly hasOne: boolean;
  readonly choose: (key: ProofMethod) => unknown;
}): View {
  return html`<div>
    <div class="choice" role="group" aria-label="How to prove it">
      ${METHODS.map(({ key, label }) => html`<button key=${key} type="button" aria-pressed=${hasOne && key === chosen} onClick=${() => choose(key)}>${label}</button>`)}
    </div>
    <p class="hint">${METHODS.find(({ key }) => key === chosen)?.suits}</p>
  </div>`;
}

const LABELS: Readonly<Record<string, string>> = {
  url: 'At this address',
  body: 'serve this text, and nothing else',
  contentType: 'as',
  html: 'put this line into <head> of',
  name: 'Name',
  value: 'Value',
  type: 'Type',
  ttl: 'TTL',
};
/** What of each way is shown, in this order. */
const SHOWN: Readonly<Record<ProofMethod, readonly string[]>> = {
  WELL_KNOWN: ['url', 'body'],
  META_TAG: ['html', 'url'],
  DNS_TXT: ['type', 'name', 'value', 'ttl'],
};
const META_LABELS: Readonly<Record<string, string>> = { html: 'Put this line into the head', url: 'of this page' };

function Publish({ method, present }: { readonly method: ProofMethod; readonly present: readonly Present[] }): View {
  const facts = SHOWN[method].flatMap((name) => present.find((fact) => fact.name === name) ?? []);
  const labelOf = (name: string): string => (method === 'META_TAG' ? META_LABELS[name] : undefined) ?? LABELS[name] ?? name;
  return html`<dl class="publish">
    ${facts.map(
      ({ name, value }) => html`<div key=${name}>
        <dt>${labelOf(name)}</dt>
        <dd><code>${value}</code>${name === 'type' || name === 'ttl' ? null : html`<${Copy} text=${value} label=${`Copy: ${labelOf(name)}`} />`}</dd>
      </div>`,
    )}
  </dl>`;
}

function Outcome({ came, method }: { readonly came: Came; readonly method: ProofMethod }): View {
  if (came.verified)
    return html`<${Notice} tone="good" title="Proven">The host is yours here. Leave the proof where it is: we look again every day.<//>`;
  return html`<${Notice} tone="warn" title="Not proven yet">${reasonText(came.reason, method)}<//>`;
}
