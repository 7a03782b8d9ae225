import { useQuery } from '../../core/data.ts';
import { exactPercent, exactUsd, percent, short, span, usd, words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href, safeHref, useRoute } from '../../core/router.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button, Copy } from '../../parts/button.ts';
import { Exact, Money, Time } from '../../parts/figure.ts';
import { Badge, Facts, Head, Notice, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { networkName } from '../settings/words.ts';
import type { Leg, Payment as Row } from './document.ts';
import { PAYMENT_DOCUMENT } from './document.ts';
import { pageName, Reversal, StateBadge } from './table.ts';

type Answer = { readonly tenant: { readonly payment: Row | null } | null };

/** One payment: what it bought, who was paid, and what proves it. */
export function Payment(): View {
  const { params } = useRoute();
  const query = useQuery<Answer>(PAYMENT_DOCUMENT, { paymentId: params['paymentId'] });
  const payment = query.data?.tenant?.payment ?? null;
  const back = html`<${Empty} action=${html`<${Button} href=${href('/earnings', { by: 'payments' })}>All payments<//>`}>The site has no payment with this id.<//>`;
  return html`<nav class="crumbs" aria-label="Where this is"><a href=${href('/earnings', { by: 'payments' })}>Payments</a></nav>
    <${Head} title=${payment ? html`<span title=${exactUsd(payment.micro)}>${usd(payment.micro)}</span> for ${pageName(payment.slug, payment.title)}` : 'Payment'}>
      ${payment ? html`<${StateBadge} state=${payment.state} reason=${payment.reason} /> <${Reversal} crossings=${payment.crossings} />` : null}
    <//>
    <${Await} of=${query} rows=${8} empty=${({ tenant }: Answer) => !tenant?.payment} nothing=${html`<${Panel}>${back}<//>`}>
      ${({ tenant }: { readonly tenant: { readonly payment: Row } }) => html`<${Details} payment=${tenant.payment} />`}
    <//>`;
}

function Details({ payment }: { readonly payment: Row }): View {
  const { successor } = payment;
  return html`<div class="stack">
    ${
      payment.reason
        ? html`<${Notice} tone="bad" title=${words(payment.reason)}>${payment.sentence} ${payment.rawReason ? html`<span class="muted">(${payment.rawReason})</span>` : null}<//>`
        : null
    }
    ${successor ? html`<${Notice}>Another payment was made for the same: <a href=${href(`/earnings/payments/${successor.paymentId}`)}>its receipt</a> answers for this one.<//>` : null}
    ${payment.mode === 'MOCK' ? html`<${Notice}>A test payment: no money moved.<//>` : null}
    <${Way} payment=${payment} />
    <${Paid} payment=${payment} />
    <div class="columns">
      <${Bought} payment=${payment} />
      <${Proof} payment=${payment} />
    </div>
    <${Seen} payment=${payment} />
  </div>`;
}

/** The way of a payment, a step each. */
function Way({ payment: { acceptedAt, decidedAt, batch, evidence, state } }: { readonly payment: Row }): View {
  const failed = state === 'FAILED' || state === 'EXPIRED';
  const steps = [
    { name: 'Accepted', at: acceptedAt },
    { name: 'Sent', at: batch?.createdAt ?? null },
    { name: failed ? words(state) : 'Settled', at: decidedAt },
    { name: 'Final', at: evidence?.finalAt ?? null },
  ].filter(({ name, at }) => at !== null || !(failed && (name === 'Final' || name === 'Sent')));
  return html`<${Panel}>
    <ol class="way">
      ${steps.map(
        ({ name, at }) => html`<li key=${name} class=${at === null ? 'ahead' : ''}>
        <strong>${name}</strong>
        <${Time} at=${at} />
        <span class="muted">${at === null || at === acceptedAt ? '' : `after ${span(at - acceptedAt)}`}</span>
      </li>`,
      )}
    </ol>
  <//>`;
}

function Paid({ payment: { crossings } }: { readonly payment: Row }): View {
  const columns: readonly Column<Leg>[] = [
    { head: 'Author', isName: true, width: 'wide', cell: ({ authorId, toAddress }) => authorId ?? short(toAddress) },
    { head: 'Role', cell: ({ role }) => words(role) },
    { head: 'Wallet', width: 'late', cell: ({ toAddress }) => html`<code title=${toAddress}>${short(toAddress)}</code>` },
    { head: 'Share', align: 'end', cell: ({ share }) => html`<${Exact} text=${percent(share)} exact=${exactPercent(share)} />` },
    { head: 'Paid', align: 'end', cell: ({ micro }) => html`<${Money} micro=${micro} />` },
  ];
  if (crossings.length === 0)
    return html`<${Panel} title="Who was paid"><p class="muted">Nobody yet: a sale is in the ledger when it is settled.</p><//>`;
  return crossings.map((crossing, place) => {
    const title = place === 0 ? 'Who was paid' : BigInt(crossing.micro) < 0n ? 'Taken back' : 'Settled again';
    const total = ['Total', '', '', '', html`<${Money} micro=${crossing.micro} />`];
    return html`<${Panel} key=${crossing.crossingId} title=${title} about=${html`<${Time} at=${place === 0 ? crossing.at : crossing.recordedAt} />`} flush>
      <${Table} label=${title} columns=${columns} rows=${crossing.legs} total=${total} />
    <//>`;
  });
}

function Bought({ payment }: { readonly payment: Row }): View {
  const page = safeHref(payment.resource);
  const { licence } = payment;
  return html`<${Panel} title="What it bought">
    <${Facts} of=${[
      ['Page', page ? html`<a href=${page} rel="noreferrer" target="_blank">${payment.resource}</a>` : payment.resource],
      ['Kind', `${words(payment.kind)}, ${words(payment.purpose).toLowerCase()}`],
      ['Buyer', html`<code>${payment.payer}</code>`],
      ['Agent', payment.crossings[0]?.agent ?? payment.agentUa],
      ['User-Agent', payment.agentUa],
      [
        'Licence',
        licence
          ? html`${licence.pages} ${licence.pages === 1 ? 'page' : 'pages'}, until <${Time} at=${licence.until} />${licence.revokedAt ? html` <${Badge} tone="bad">Revoked<//>` : null}`
          : null,
      ],
      ['Page sent', answered(payment.answer)],
    ]} />
  <//>`;
}

/** What became of the page, in a line; null where nobody said. */
function answered(answer: Row['answer']): View | null {
  if (answer === null) return null;
  const { outcome, lostAt, servedAgain, heldSha256, isHeldAsSent } = answer;
  const said = [
    ...(lostAt === null ? [] : [html`lost <${Time} at=${lostAt} />`]),
    ...(outcome === 'DELIVERED' ? [lostAt === null ? 'delivered' : 'delivered in the end'] : []),
    ...(servedAgain === 0 ? [] : [`served again ${servedAgain === 1 ? 'once' : `${servedAgain} times`}`]),
    ...(heldSha256 === null
      ? []
      : [
          isHeldAsSent === null
            ? 'the buyer holds a page; the site did not say which one it sent'
            : isHeldAsSent
              ? 'the buyer holds it'
              : html`<${Badge} tone="bad">The buyer holds another page<//>`,
        ]),
  ];
  if (said.length === 0) return null;
  return html`${said.map((part, at) => html`${at === 0 ? '' : ', '}${part}`)}`;
}

function Proof({ payment }: { readonly payment: Row }): View {
  const { evidence, batch } = payment;
  const explorer = safeHref(evidence?.explorerUrl);
  const away = { rel: 'noreferrer', target: '_blank' };
  const transaction =
    evidence &&
    html`<code title=${evidence.txHash}>${explorer ? html`<a href=${explorer} ...${away}>${short(evidence.txHash)}</a>` : short(evidence.txHash)}</code> <${Copy} text=${evidence.txHash} label="Copy the transaction" />`;
  return html`<${Panel} title="What proves it">
    <${Facts} of=${[
      ['Transaction', transaction ?? html`<span class="muted">none seen on the chain yet</span>`],
      ['Block', evidence?.blockNumber ?? null],
      ['Block time', evidence?.blockTime ? html`<${Time} at=${evidence.blockTime} />` : null],
      ['Network', networkName(payment.network)],
      ['Workflow', batch?.workflowId ?? null],
      ['Sent by', batch ? html`<code title=${batch.relayer}>${short(batch.relayer)}</code>, nonce ${batch.nonce}` : null],
      ['Nonce', html`<code title=${payment.nonce}>${short(payment.nonce)}</code>`],
      ['Payment', html`<code>${payment.paymentId}</code> <${Copy} text=${payment.paymentId} label="Copy the payment’s id" />`],
    ]} />
  <//>`;
}

function Seen({ payment: { observations } }: { readonly payment: Row }): View {
  type Seen = NonNullable<Row['observations']>[number];
  const columns: readonly Column<Seen>[] = [
    { head: 'When', cell: ({ at }) => html`<${Time} at=${at} />` },
    { head: 'Agent', isName: true, width: 'wide', cell: ({ agent }) => agent },
    {
      head: 'Signature',
      cell: ({ verified, sigInvalid }) =>
        sigInvalid
          ? html`<${Badge} tone="bad">Failed<//>`
          : verified
            ? html`<${Badge} tone="good">Verified<//>`
            : html`<span class="muted">none</span>`,
    },
    {
      head: 'Outcome',
      cell: ({ verdict, reason }) => `${words(verdict)}${reason ? `: ${words(reason).toLowerCase()}` : ''}`,
    },
  ];
  if (!observations || observations.length === 0) return null;
  return html`<${Panel} title="Requests" flush><${Table} label="Observations" columns=${columns} rows=${observations} /><//>`;
}
