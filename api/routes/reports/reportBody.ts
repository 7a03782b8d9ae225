import type { Caller } from '../../../modules/identity/use/keys/authenticate.ts';
import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { ReportFrame, ReportSite } from '../../../modules/reports/use/request.ts';

/** Whose report a caller may read; the key's own state says the plan (safety 24). */
export function siteOf(caller: Caller): ReportSite & { readonly keyId: string } {
  const { tenantId, plan, keyId } = caller.key;
  return { tenantId, plan, keyId, hosts: caller.tenant.hosts };
}

/** The members every report begins with. */
export function frameBody({ generatedAtMs, window }: ReportFrame) {
  return {
    generatedAt: generatedAtMs,
    window: { from: window.fromMs, to: window.toMs },
    ...(window.clampedToMs === null ? {} : { retentionClampedTo: window.clampedToMs }),
  };
}

/** Counts and money of a group of crossings, as every report shows them. */
export function sumsBody(sums: {
  readonly events: number;
  readonly reads: number;
  readonly citations: number;
  readonly grossMicro: bigint;
}) {
  const { events, reads, citations, grossMicro } = sums;
  return { events, reads, citations, grossMicroUsdc: microToJson(grossMicro) };
}

/** Reports are the caller's own and may be different at the next call. */
export const REPORT_HEADERS = { 'cache-control': 'private, no-store' };
