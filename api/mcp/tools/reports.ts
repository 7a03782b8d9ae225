/** What a site's owner may ask of it by its key: what REST answers, in the same words. Reads only. */
import { z } from 'zod';
import { beginReport } from '../../handler.ts';
import type { KeyRoute } from '../../route.ts';
import { enforceStatusRoute } from '../../routes/gate/enforceStatus.ts';
import { auditRoute } from '../../routes/reports/audit.ts';
import { earningsRoute } from '../../routes/reports/earnings.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { dataResult, defineTool } from '../tool.ts';
import { publisherOf } from '../who.ts';

const time = z.exactOptional(
  z.iso.datetime({ offset: true }).meta({ description: 'A moment, ISO 8601. Retention of the plan cuts what is earlier.' }),
);
const window = { from: time, to: time, host: z.exactOptional(z.string().min(1).max(253)) };
/** Rows of the list in an answer: a summary is for a model's window, and the list is for REST. */
const ROWS = '10';

/** A tool that answers what a route answers its key, in a turn of its site where that is a report. */
async function answered(route: KeyRoute, call: ToolCall, asked: Readonly<Record<string, string | undefined>>) {
  const caller = publisherOf(call.who);
  const given = Object.entries(asked).filter((one): one is [string, string] => one[1] !== undefined);
  const asRest = { ...call, caller, query: new Map(given) };
  const leave = await beginReport(route, asRest);
  try {
    const { body } = await route.handle(asRest);
    return dataResult(body as Readonly<Record<string, unknown>>);
  } finally {
    leave?.();
  }
}

function msOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : String(Date.parse(text));
}

const earningsSummary = defineTool({
  name: 'earnings_summary',
  title: 'Earnings of the site',
  description: 'What the site earned in a window: totals, the newest sales, and a breakdown if asked for. Micro-USDC.',
  input: z.strictObject({ ...window, groupBy: z.exactOptional(z.enum(['host', 'slug', 'author', 'kind'])) }),
  cost: 'heavy',
  scope: earningsRoute.access.scope,
  run: (call, { from, to, ...rest }) => answered(earningsRoute, call, { ...rest, from: msOf(from), to: msOf(to), limit: ROWS }),
});

const auditSummary = defineTool({
  name: 'audit_summary',
  title: 'What agents did',
  description: 'Who asked for pages in a window and what became of it: paid, denied, missed, failed, by agent.',
  input: z.strictObject({ ...window, groupBy: z.exactOptional(z.enum(['host', 'slug', 'author', 'kind', 'agent', 'verdict'])) }),
  cost: 'heavy',
  scope: auditRoute.access.scope,
  run: (call, { from, to, ...rest }) => answered(auditRoute, call, { ...rest, from: msOf(from), to: msOf(to), limit: ROWS }),
});

const enforcementStatus = defineTool({
  name: 'enforcement_status',
  title: 'Who enforces on each host',
  description: 'Whether the gate of each host works, and what somebody must do.',
  input: z.strictObject({}),
  cost: 'light',
  scope: enforceStatusRoute.access.scope,
  run: (call) => answered(enforceStatusRoute, call, {}),
});

/** The tools of publishers; each is registered for keys that have its scope. */
export const REPORT_TOOLS: readonly Tool[] = [earningsSummary, auditSummary, enforcementStatus];
