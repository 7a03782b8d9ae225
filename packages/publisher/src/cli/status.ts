/** `content-settlement status`: whether the service hears of a gate on each host, with the exit code a CI wants. */
import type { Client } from '../client.ts';
import { actionSentence } from './actions.ts';
import type { Reason, Unanswered } from './refusal.ts';
import type { Screen } from './screen.ts';
import { markOf, writeRow } from './screen.ts';
import type { HostRow } from './site.ts';
import { readStatus } from './site.ts';

/** What was asked, for `--json`. */
export type StatusReport =
  | { readonly command: 'status'; readonly asked: true; readonly attention: boolean; readonly hosts: readonly HostRow[] }
  | { readonly command: 'status'; readonly asked: false; readonly error: string; readonly hint: string };

/** Asks; never rejects. `explain` says why there is no answer. */
export async function askStatus(client: Client, explain: (failure: Unanswered) => Reason): Promise<StatusReport> {
  const answer = await client.status();
  if (!answer.ok) {
    const { why, status, code } = answer;
    const error = why === 'status' ? [String(status), code].filter(Boolean).join(' ') : why;
    const { says, todo } = explain(answer);
    return { command: 'status', asked: false, error, hint: `${says} ${todo}` };
  }
  const read = readStatus(answer.body);
  return read === null
    ? { command: 'status', asked: false, error: 'no status came back', hint: 'What answers is not the service: see SVC_URL.' }
    : { command: 'status', asked: true, ...read };
}

/** 0: nobody must act. 1: somebody must. 2: it could not be asked. */
export function statusExit(report: StatusReport): 0 | 1 | 2 {
  if (!report.asked) return 2;
  return report.attention ? 1 : 0;
}

/** For people; `isQuiet`: only hosts that need somebody. */
export function showStatus(screen: Screen, report: StatusReport, isQuiet: boolean): void {
  if (!report.asked) {
    writeRow(screen, markOf(screen, 'unknown'), 'status', report.hint);
    return;
  }
  if (report.hosts.length === 0 && !isQuiet)
    writeRow(
      screen,
      markOf(screen, 'unknown'),
      'no host',
      'This site has no host yet. Let the owner prove one: openHost, then checkHost.',
    );
  for (const row of report.hosts) if (!isQuiet || row.attention) showRow(screen, row);
}

/** What a verdict rests on, for people. */
const BASES: Readonly<Record<string, string>> = {
  dns_cname: 'its DNS record',
  live_probe: 'a look at the host',
  inapp_quote: 'prices asked for',
  inapp_verify: 'payments',
  observe: 'reports',
  challenge: 'the proof of the host',
};

function showRow(screen: Screen, row: HostRow): void {
  const known = row.basedOn.map((basis) => BASES[basis] ?? basis);
  const heard = known.length === 0 ? 'never heard of' : `known by ${known.join(', ')}`;
  const level = row.attention ? 'problem' : row.failedOpenAt !== null || row.nextAction === 'wait' ? 'warning' : 'ok';
  writeRow(screen, markOf(screen, level), row.mode, `${row.host} (${heard})`);
  if (row.nextAction !== 'none') writeRow(screen, ' ', '', `→ ${actionSentence(row.nextAction)}`);
  if (row.recordToFix !== null) writeRow(screen, ' ', '', `→ DNS record: ${row.recordToFix}`);
  if (row.keyRejectedAt !== null) writeRow(screen, ' ', '', `A key was refused at ${row.keyRejectedAt}.`);
  if (row.failedOpenAt !== null)
    writeRow(screen, ' ', '', `Agents were served free at ${row.failedOpenAt}: the gate could not reach the service.`);
}
