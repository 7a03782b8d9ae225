import { actionSentence } from '../actions.ts';
import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { HostRow } from '../site.ts';
import { readStatus } from '../site.ts';

interface Facts {
  readonly host: string;
  readonly rows: readonly HostRow[] | null;
  /** True when this very run was shown an offer: then a gate is there, whatever was heard before. */
  readonly sawOffer: boolean;
}

/** Actions that a sale seen just now contradicts: the service writes down what it hears a few seconds later. */
const SETTLED_BY_A_SALE = ['install_code', 'reconnect_sdk', 'wait'];

/** Does the service hear of a gate on each host? Runs last, so that this run's own requests are heard. */
export const enforcingCheck: Check<Facts> = {
  id: 'enforcing',
  probe: async (world) => {
    const page = await world.page();
    const reply = page === null ? null : await world.asAgent(page);
    const answer = await world.client?.status();
    return {
      host: world.site.hostname,
      rows: answer?.ok ? (readStatus(answer.body)?.hosts ?? null) : null,
      sawOffer: reply?.came === true && reply.status === 402,
    };
  },
  judge: ({ host, rows, sawOffer }) => {
    if (rows === null)
      return [
        unknown('The service could not be asked about the gate’s reports.', 'Settle the findings about service and key first.'),
      ];
    if (rows.length === 0)
      return [unknown('The service knows no host of this site.', 'Let the owner prove one: openHost, then checkHost.')];
    return rows.flatMap((row) => judgeRow(row, sawOffer && row.host === host));
  },
};

function judgeRow(row: HostRow, sawOffer: boolean): Finding[] {
  const isContradicted = sawOffer && SETTLED_BY_A_SALE.includes(row.nextAction);
  const failedOpen =
    row.failedOpenAt === null
      ? []
      : [
          warning(
            `${row.host}: at ${row.failedOpenAt} the gate gave pages to agents free, because it could not reach the service.`,
            'See that the site may connect to the service, and that its key is good.',
          ),
        ];
  if (row.attention && !isContradicted) {
    const record = row.recordToFix === null ? '' : ` (record ${row.recordToFix})`;
    return [
      problem(`${row.host}: ${row.mode}, needs ${row.nextAction}${record}.`, actionSentence(row.nextAction)),
      ...failedOpen,
    ];
  }
  const says = isContradicted ? `${row.host}: was silent until now; a gate answered this run.` : `${row.host}: ${row.mode}.`;
  return [ok(says), ...failedOpen];
}
