/** The record of a payment as a page for people. No script, no picture, nothing from elsewhere; every text in it is escaped. */
import { createHash } from 'node:crypto';
import { transactionUrl } from '../../modules/kernel/explorer.ts';
import { usdText } from '../../modules/kernel/money/money.ts';
import type { PaymentRecord } from '../../modules/receipts/rules/record.ts';

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#d9dce1,#3a3f47);--soft:light-dark(#5b626d,#a3abb8);--card:light-dark(#fff,#1b1e23);--good:light-dark(#17703a,#6fd08f);font:16px/1.5 system-ui,sans-serif}
body{margin:0;background:light-dark(#f4f5f7,#121417);color:light-dark(#16191d,#eceef1)}
main{max-width:46rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1rem;font-weight:600;margin:0;color:var(--soft)}h2{font-size:1.05rem;margin:0 0 .75rem}
.sum{font-size:2.5rem;font-weight:650;line-height:1.2;margin:.25rem 0}
.state{color:var(--good);font-weight:600}
section{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.25rem;margin-top:1rem}
dl{display:grid;grid-template-columns:9rem 1fr;gap:.5rem 1rem;margin:0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
code,pre{font:.875rem/1.5 ui-monospace,monospace;overflow-wrap:anywhere}pre{white-space:pre-wrap;margin:.5rem 0 0}
ul{list-style:none;margin:0;padding:0}li{padding:.6rem 0;border-top:1px solid var(--line)}li:first-child{border:0;padding-top:0}
li b{float:right;margin-left:1rem}small,.note{color:var(--soft);font-size:.875rem}.note{margin:.75rem 0 0}
a{color:inherit}details{margin-top:.75rem}summary{cursor:pointer}dl+ul{margin-top:1rem}nav{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem}
@media(max-width:34rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}.sum{font-size:2rem}section{padding:1rem}}`;

const hash = createHash('sha256').update(STYLE).digest('base64');

/** What the page is served with: nothing runs, nothing is loaded, nobody frames it, and where its links lead learns no address of it. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
} as const;

/** The page of a record. */
export function pageOf(record: PaymentRecord): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Receipt: ${money(record.amountMicro)}, ${text(record.host)}</title>
<style>${STYLE}</style>
<main>
${headOf(record)}
${legsOf(record)}
${chainOf(record)}
${signedOf(record)}
${servedOf(record)}
${checkOf(record)}
</main></html>
`;
}

function headOf(record: PaymentRecord): string {
  const what =
    record.sells === 'licence' ? `A licence (${record.kind})` : record.kind === 'citation' ? 'One citation' : 'One read';
  const state = record.status === 'final' ? 'Final: the chain will not take it back' : 'Settled';
  return `<h1>Payment receipt</h1>
<p class="sum">${money(record.amountMicro)}</p><p class="state">✓ ${state}</p>
<section><dl>
<dt>Bought</dt><dd>${text(what)} at ${text(record.host)}</dd>
<dt>Address</dt><dd>${linkTo(record.resourceUrl, record.resourceUrl)}</dd>
<dt>When</dt><dd>${timeOf(record.issuedAt * 1_000)}</dd>
<dt>Buyer</dt><dd><code>${text(record.payer)}</code></dd>
<dt>Paid to</dt><dd><code>${text(record.payTo)}</code></dd>
<dt>Network</dt><dd>${text(record.network)}, token <code>${text(record.asset)}</code></dd>
<dt>Receipt</dt><dd><code>${text(record.id)}</code></dd>
</dl></section>`;
}

function legsOf({ legs, payTo }: PaymentRecord): string {
  const rows = legs.map((leg) => `<li><b>${money(leg.amountMicro)}</b><code>${text(leg.toAddress)}</code></li>`);
  const isSplit = legs.some(({ toAddress }) => toAddress !== payTo);
  const note = isSplit
    ? 'The address that was paid is a contract that can pay nobody but these.'
    : 'It was paid directly to this address.';
  return `<section><h2>Who gets it</h2><ul>${rows.join('')}</ul><p class="note">${note}</p></section>`;
}

const ROLES = {
  payment: 'From the buyer',
  beside: 'For another payment, into the same split',
  payout: 'To an author, for all payments in this transaction',
} as const;

function chainOf({ transfers, transaction, network }: PaymentRecord): string {
  const rows = transfers.map(
    (
      one,
    ) => `<li><b>${money(one.amountMicro)}</b>${ROLES[one.role]}<br><small>block ${one.blockNumber}, log ${one.logIndex}</small><br>
<small><code>${text(one.from)} → ${text(one.to)}</code></small></li>`,
  );
  const url = transaction === undefined ? null : transactionUrl(network, transaction);
  const name =
    transaction === undefined
      ? 'not told by the rail'
      : url === null
        ? `<code>${text(transaction)}</code>`
        : `<code>${linkTo(url, transaction)}</code>`;
  const seen =
    rows.length === 0
      ? '<p class="note">Its transfers are not listed here; the transaction has them.</p>'
      : `<ul>${rows.join('')}</ul>`;
  return `<section><h2>On chain</h2><dl><dt>Transaction</dt><dd>${name}</dd></dl>${seen}</section>`;
}

function signedOf({ authorization: signed, domain }: PaymentRecord): string {
  const token = domain ? `${text(domain.name)}, version ${text(domain.version)}` : 'ask the token';
  return `<section><h2>What the buyer signed</h2><dl>
<dt>Amount</dt><dd>${money(Number(signed.value))}</dd>
<dt>To</dt><dd><code>${text(signed.to)}</code></dd>
<dt>Valid until</dt><dd>${untilOf(signed.validBefore)}</dd>
<dt>Nonce</dt><dd><code>${text(signed.nonce)}</code></dd>
<dt>Token</dt><dd>${token}</dd>
</dl><details><summary>Signature</summary><pre>${text(signed.signature)}</pre></details></section>`;
}

function servedOf({ body, answer, held, terms, host }: PaymentRecord): string {
  const served = body
    ? `<code>${text(body.sha256)}</code><br><small>SHA-256 of ${body.bytes} bytes, as ${text(host)} says</small>`
    : `${text(host)} did not say.`;
  return `<section><h2>What was sold</h2><dl>
<dt>Served</dt><dd>${served}${answeredOf(answer)}</dd>
<dt>Held</dt><dd>${heldOf(held)}</dd>
<dt>Terms</dt><dd><code>${text(terms.sha256)}</code><br><small>SHA-256 of the text below</small></dd>
</dl><details><summary>The terms</summary><pre>${text(terms.document)}</pre></details></section>`;
}

function answeredOf(answer: PaymentRecord['answer']): string {
  if (answer === null) return '';
  const { outcome, lostAt, servedAgain, bodyAgain } = answer;
  const parts = [
    ...(lostAt === null ? [] : ['an answer was lost on its way']),
    ...(servedAgain === 0 ? [] : [`served again ${servedAgain === 1 ? 'once' : `${servedAgain} times`}`]),
    ...(outcome === 'delivered' ? ['delivered in the end'] : []),
    ...(bodyAgain === null ? [] : [`the page had changed by then: <code>${text(bodyAgain.sha256)}</code>`]),
  ];
  return parts.length === 0 ? '' : `<br><small>${parts.join('; ')}</small>`;
}

function heldOf(held: PaymentRecord['held']): string {
  if (held === null) return 'The buyer did not say.';
  const { sha256, message, signature, isAsSent } = held;
  const compared =
    isAsSent === null
      ? 'the site did not say what it sent'
      : isAsSent
        ? 'the page that was sent'
        : 'not the page that the site says it sent';
  return `<code>${text(sha256)}</code><br><small>as the buyer signed; ${compared}</small>
<details><summary>What the buyer signed about it</summary><pre>${text(message)}</pre><pre>${text(signature)}</pre></details>`;
}

function checkOf({ url }: PaymentRecord): string {
  return `<section><h2>Check it yourself</h2>
<p>Any node of the network shows the transfers above. Nothing that this page says has to be believed.</p>
<nav><a href="${text(url)}?format=json">As JSON</a><a href="${text(url)}?format=jws">Signed (JWS)</a></nav></section>`;
}

/** A link for http addresses; anything else is text. */
function linkTo(url: string, name: string): string {
  if (!/^https?:\/\//.test(url)) return text(name);
  return `<a href="${text(url)}" rel="noopener noreferrer nofollow">${text(name)}</a>`;
}

function money(micro: number): string {
  return `${text(usdText(BigInt(micro)))} USDC`;
}

function timeOf(ms: number): string {
  return `<time>${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;
}

/** Seconds of a contract's clock: they may lie beyond every calendar. */
function untilOf(seconds: string): string {
  return Number(seconds) < 253_402_300_800 ? timeOf(Number(seconds) * 1_000) : 'for ever';
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function text(value: string): string {
  return value.replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter] as string);
}
