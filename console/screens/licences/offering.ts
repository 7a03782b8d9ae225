import { ask, useQuery } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Check, Field } from '../../parts/field.ts';
import { Facts, Panel } from '../../parts/panel.ts';
import { Effect, useReview, useTyped } from '../../parts/review.ts';
import type { Offering } from './documents.ts';
import { OFFERING_DOCUMENT, SET_OFFERING_DOCUMENT } from './documents.ts';
import { periodLines, periodsOf, periodsText } from './words.ts';

interface Answer {
  readonly tenant: { readonly version: number; readonly licenceOffering: Offering } | null;
}

/** What the site sells as a licence. */
export function OfferingForm(): View {
  const query = useQuery<Answer>(OFFERING_DOCUMENT);
  return html`<${Await} of=${query}>
    ${({ tenant }: Answer) => (tenant === null ? null : html`<${Form} offering=${tenant.licenceOffering} done=${query.reload} />`)}
  <//>`;
}

function Form({ offering, done }: { readonly offering: Offering; readonly done: () => void }): View {
  const [training, setTraining, resetTraining] = useTyped(offering.sellsTraining);
  const [text, setText, resetText] = useTyped(periodsText(offering));
  const review = useReview({
    title: 'Change what is offered',
    look: async () => {
      const { periods, wrong } = periodsOf(text);
      if (wrong !== null) throw new Problem('invalid', `This line is no period: ${wrong}`, { parameter: 'periodFactors' });
      const { tenant } = await ask<Answer>(OFFERING_DOCUMENT);
      if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
      return {
        version: tenant.version,
        before: tenant.licenceOffering,
        after: { sellsTraining: training, periodFactors: periods },
      };
    },
    show: ({
      before,
      after,
    }) => html`<${Effect} lines=${['Offers from now on go by this. Offers made before stay good for their life, and licences sold stay as they are.']} />
      <${Facts} of=${[
        [
          'Training',
          before.sellsTraining === after.sellsTraining
            ? after.sellsTraining
              ? 'is sold, as now'
              : 'is not sold, as now'
            : after.sellsTraining
              ? 'is sold then; it is not now'
              : 'is not sold any more',
        ],
        ['Periods now', html`<${Lines} of=${periodLines(before)} />`],
        ['Periods then', html`<${Lines} of=${periodLines(after)} />`],
      ]} />`,
    make: ({ after, version }) => mutate(SET_OFFERING_DOCUMENT, { ...after, ifVersion: version }),
    confirm: 'Save',
    said: 'Saved. New offers go by it.',
    done: () => {
      resetTraining();
      resetText();
      done();
    },
  });
  const fields = ['periodFactors', 'sellsTraining', 'period_factors'] as const;
  return html`<${Panel} title="What is offered" about="A buyer asks for pages by patterns, and for a time. Each page costs its price so many times over as the period says.">
    <div class="form">
      <${Check} label="Sell for training" hint="The terms ai-train and all. Without it, licences are for reading and answers." checked=${training} onChange=${setTraining} />
      <${Field} label="Periods" rows=${4} value=${text} onInput=${setText} placeholder=${'30: 1\n365: 6'} error=${review.errorAt(...fields)}
        hint="One a line: up to how many days, a colon, how many prices a page costs. None: one price up to 30 days, half a price more for each further 30." />
      ${review.outcome(...fields)}
      <div class="actions"><${Button} kind="primary" onClick=${review.start}>Review change<//></div>
    </div>
    ${review.dialog}
  <//>`;
}

function Lines({ of }: { readonly of: readonly string[] }): View {
  return html`<ul>${of.map((line) => html`<li key=${line}>${line}</li>`)}</ul>`;
}
