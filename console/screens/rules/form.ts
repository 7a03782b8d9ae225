import type { View } from '../../core/html.ts';
import { html, useEffect, useRef, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Check, Field } from '../../parts/field.ts';
import { useReview } from '../../parts/review.ts';
import { rulesNow, SET_RULES_DOCUMENT } from './documents.ts';
import { showSimulation, simulate } from './simulation.ts';
import type { Rule, TypedRule } from './words.ts';
import { CATEGORIES, EFFECTS, KINDS, NEW_RULE, placeOf, ruleOf, ruleText, TERMS, typedOf, withRule } from './words.ts';

/** The members of a rule that have a field of their own. */
const FIELDS = ['id', 'path', 'kind', 'operators', 'categories', 'terms', 'from', 'until', 'effect', 'priceUsdc'] as const;

/** Makes or changes one rule: the whole list with it is tried on what was observed, and saved as it was tried. */
export function RuleForm({
  rule,
  onClose,
  done,
}: {
  readonly rule: Rule | null;
  readonly onClose: () => void;
  readonly done: () => void;
}): View {
  const [typed, setTyped] = useState<TypedRule>(rule === null ? NEW_RULE : typedOf(rule));
  const set = (changed: Partial<TypedRule>): void => setTyped({ ...typed, ...changed });
  const title = rule === null ? 'Add a rule' : 'Change the rule';
  const review = useReview({
    title,
    look: async () => {
      const next = ruleOf(typed);
      const { version, priceRules } = await rulesNow();
      const list = withRule(priceRules, rule?.id ?? null, next);
      const place = list.indexOf(next);
      return { ...(await atItsFields(place, () => simulate(list, next.from))), version, next, place };
    },
    show: (looked) => showSimulation(looked, `${ruleText(looked.next)}.`, looked.next.id),
    make: ({ rules, version, place }) => atItsFields(place, () => mutate(SET_RULES_DOCUMENT, { rules, ifVersion: version })),
    confirm: rule === null ? 'Add it' : 'Save',
    done: () => {
      done();
      onClose();
    },
  });
  const error = (name: (typeof FIELDS)[number]): string | undefined => review.errorAt(name);
  const refused = review.errorAt(...FIELDS);
  const form = useRef<HTMLDivElement>(null);
  // The form is longer than a screen: what was refused is looked at.
  useEffect(() => {
    if (refused !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"], .error')?.focus();
  }, [refused]);
  return html`<${Dialog} title=${title} open=${true} onClose=${onClose} confirm=${{ label: 'See what it would do', stays: true, run: review.start }}>
    <div class="form wide" ref=${form}>
      <${Field} label="Name" value=${typed.id} onInput=${(id: string) => set({ id })} error=${error('id')}
        hint="Of its own, such as newsroom or openai-2026: reports and refusals name it." />
      <${Field} label="Path" value=${typed.path} onInput=${(path: string) => set({ path })} error=${error('path')} placeholder="/news/*"
        hint="As in robots.txt: * stands for anything, $ ends the path. Empty: every article." />
      <${Field} label="Of" value=${typed.kind} options=${KINDS} onInput=${(kind: string) => set({ kind })} error=${error('kind')} />
      <${Field} label="Agents of" rows=${2} value=${typed.operators} onInput=${(operators: string) => set({ operators })} error=${error('operators')}
        placeholder="openai.com" hint="Hosts whose signature was verified, one a line. Empty: every agent." />
      <div class="pair"><${Checks} legend="Agents that read for" options=${CATEGORIES} chosen=${typed.categories} choose=${(categories: readonly string[]) => set({ categories })}
        error=${error('categories')} />
      <${Checks} legend="Uses that are asked for" options=${TERMS} chosen=${typed.terms} choose=${(terms: readonly string[]) => set({ terms })}
        error=${error('terms')} /></div>
      <div class="pair">
        <${Field} label="From" type="date" value=${typed.from} onInput=${(from: string) => set({ from })} error=${error('from')} />
        <${Field} label="Until, not included" type="date" value=${typed.until} onInput=${(until: string) => set({ until })} error=${error('until')} />
      </div>
      <${Field} label="Then" value=${typed.effect} options=${EFFECTS} onInput=${(effect: string) => set({ effect })} error=${error('effect')} />
      ${
        typed.effect === 'PRICE'
          ? html`<${Field} label="Price (USD)" inputMode="decimal" value=${typed.price} onInput=${(price: string) => set({ price })} error=${error('priceUsdc')}
              hint=${typed.kind === '' ? 'Of a read; a citation costs the usual multiple of it.' : undefined} />`
          : null
      }
      ${review.outcome(...FIELDS)}
    </div>
    <//>
    ${review.dialog}`;
}

/** Says a refusal of the list at the fields of the one rule that is edited here. */
async function atItsFields<T>(place: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, error.message, { requestId: error.requestId, parameter: placeOf(error.parameter, place) });
  }
}

function Checks({
  legend,
  options,
  chosen,
  choose,
  error,
}: {
  readonly legend: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly chosen: readonly string[];
  readonly choose: (chosen: readonly string[]) => void;
  readonly error?: string;
}): View {
  const tick = (value: string) => (isOn: boolean) =>
    choose(options.map((one) => one.value).filter((one) => (one === value ? isOn : chosen.includes(one))));
  return html`<fieldset>
    <legend>${legend}</legend>
    ${options.map(({ value, label }) => html`<${Check} key=${value} label=${label} checked=${chosen.includes(value)} onChange=${tick(value)} />`)}
    ${error ? html`<p class="error" tabindex="-1">${error}</p>` : null}
  </fieldset>`;
}
