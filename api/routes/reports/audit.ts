import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { Audit, AuditGroup, AuditGroupRow, AuditTotals } from '../../../modules/reports/use/audit.ts';
import { readAudit } from '../../../modules/reports/use/audit.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import type { KeyCall, KeyRoute } from '../../route.ts';
import { AuditParams, PublisherAudit } from '../../schemas/reports/audit.ts';
import { parseReport } from '../../schemas/reports/report.ts';
import { jsonResponse, keyErrors } from '../responses.ts';
import { frameBody, REPORT_HEADERS, siteOf } from './reportBody.ts';

/** GET /_svc/audit: what was observed in a window, by agent, with what was missed, failed and earned. */
export const auditRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/audit',
  isFiltered: true,
  access: { scope: 'audit.read', freshness: 'now' },
  cost: 'heavy',
  isReport: true,
  operation: {
    operationId: 'getAudit',
    tags: ['Audit'],
    summary: 'What was observed in a window',
    description: 'Every filter applies to totals, previous, breakdown, byAgent and recent alike.',
    security: [{ publisherKey: [] }],
    requestParams: { query: AuditParams },
    responses: { '200': jsonResponse('The audit', PublisherAudit), ...keyErrors() },
  },
  handle: async ({ deps, caller, query: params }: KeyCall) => {
    const { given, query } = parseReport(AuditParams, params);
    const { groupBy = null, verdict = null, agent = null } = given;
    const audit = await readAudit(deps.reports, siteOf(caller), { ...query, groupBy, verdict, agent });
    return { status: 200, headers: REPORT_HEADERS, body: bodyOf(audit, groupBy) };
  },
};

function bodyOf(audit: Audit, groupBy: AuditGroup | null) {
  const { totals, previous, breakdown, byAgent, recent, isCut } = audit;
  return {
    ...frameBody(audit),
    totals: totalsBody(totals),
    ...(previous === null ? {} : { previous: { totals: totalsBody(previous) } }),
    ...(breakdown === null ? {} : { breakdown: breakdown.map((row) => groupBody(row, groupBy)) }),
    byAgent: byAgent.map(({ verified, ...row }) => ({ ...row, ...(verified ? { verified } : {}) })),
    recent: recent.rows.map(observationBody),
    ...(recent.nextCursor === null ? {} : { nextCursor: recent.nextCursor }),
    ...(isCut ? { truncated: true } : {}),
  };
}

/** The members that the specification lists, and beside `denied` how many of those were answered. */
function totalsBody({
  freeForWantOfAuthors: _unlisted,
  peopleHits: _people,
  unanswered: _unanswered,
  unansweredMicro: _unansweredMicro,
  conversion: _conversion,
  missedMicro,
  failedMicro,
  earnedMicro,
  failedByReason,
  verifiedHits,
  verifiedEarnedMicro,
  masqueradeAttempts,
  ...counts
}: AuditTotals) {
  return {
    ...counts,
    missedMicroUsdc: microToJson(missedMicro),
    failedMicroUsdc: microToJson(failedMicro),
    earnedMicroUsdc: microToJson(earnedMicro),
    failedByReason,
    verifiedHits,
    verifiedEarnedMicroUsdc: microToJson(verifiedEarnedMicro),
    masqueradeAttempts,
  };
}

function groupBody(
  { authorId, missedMicro, earnedMicro, verifiedEarnedMicro, hits, denied, answered, paid, ...row }: AuditGroupRow,
  groupBy: AuditGroup | null,
) {
  const key = groupBy === 'author' ? shownWallet(row.key) : row.key;
  const label = authorId ?? labelOf(key, groupBy);
  const money = {
    missedMicroUsdc: microToJson(missedMicro),
    earnedMicroUsdc: microToJson(earnedMicro),
    verifiedEarnedMicroUsdc: microToJson(verifiedEarnedMicro),
  };
  return { key, label, hits, denied, answered, paid, ...money };
}

const WORDS: Readonly<Record<string, string>> = {
  'kind ': 'No kind',
  'kind read': 'Reads',
  'kind citation': 'Citations',
  'slug ': 'No slug',
  'author ': 'No author known',
  'agent other': 'Other agents',
  'verdict served-free': 'Served free',
  'verdict agent-reread': 'Read again under a licence',
  'verdict denied': 'Denied',
  'verdict blocked': 'Blocked',
  'verdict paid': 'Paid',
  'verdict payment-failed': 'Payment failed',
  'verdict unservable': 'Not servable',
};

/** What a person reads for a key. */
function labelOf(key: string, groupBy: AuditGroup | null): string {
  return WORDS[`${groupBy} ${key}`] ?? key;
}

function observationBody(row: Audit['recent']['rows'][number]) {
  const { kind, agentUa, verified, verifiedAgent, sigInvalid, micro } = row;
  return {
    host: row.host,
    slug: row.slug,
    ...(kind === null ? {} : { kind }),
    verdict: row.verdict,
    classifiedAs: row.classifiedAs,
    ...(agentUa === null ? {} : { agentUa }),
    ...(verified === null ? {} : { verified }),
    ...(verifiedAgent === null ? {} : { verifiedAgent }),
    ...(sigInvalid === null ? {} : { sigInvalid }),
    ...(micro === null ? {} : { micro: microToJson(micro) }),
    at: row.atMs,
  };
}
