/**
 * Who enforces on a host, from what was heard and seen of it. Times
 * in epoch milliseconds.
 */

/** Silence after which the app on a host counts as idle, and after which somebody should look. */
const IDLE_AFTER_MS = 24 * 3_600_000;
const ATTENTION_AFTER_MS = 72 * 3_600_000;
/** A refusal so shortly after a sign of the app is another caller's: here a key works. */
const WORKS_MS = 5 * 60_000;

/** What a routing probe saw: our fleet, something else, or nothing it could judge. */
export type ProbeSight = 'fleet' | 'elsewhere' | 'unknown';

/** Everything known of one host; null: never. */
export interface HostFacts {
  readonly host: string;
  readonly addedAtMs: number;
  readonly verifiedAtMs: number | null;
  readonly lapsedAtMs: number | null;
  readonly hasChallenge: boolean;
  readonly routingVerifiedAtMs: number | null;
  readonly quotedAtMs: number | null;
  readonly verifyCalledAtMs: number | null;
  readonly observedAtMs: number | null;
  /** When a dead key named this host, and when one named no host at all. */
  readonly keyRejectedAtMs: number | null;
  readonly rejectedAnywhereAtMs: number | null;
  /** When a good key was refused for the site's plan, here or without a host, and whether it would be now. */
  readonly planGatedAtMs: number | null;
  readonly isPlanGated: boolean;
  /** When a gate here last said that it served pages free while we were away. */
  readonly failedOpenAtMs: number | null;
  /** When a key of the site that is not revoked was last let in. */
  readonly keyUsedAtMs: number | null;
  readonly hasActiveKey: boolean;
  readonly probe: { readonly atMs: number; readonly cname: ProbeSight; readonly live: ProbeSight } | null;
}

/** The five verdicts. */
export type EnforcementVerdict = 'fleet' | 'in_app' | 'idle' | 'conflict' | 'unverified';
/** What somebody should do about it. */
export type NextAction =
  | 'none'
  | 'verify_host'
  | 'remove_cname'
  | 'reconnect_sdk'
  | 'install_code'
  | 'fix_dns'
  | 'rotate_key'
  | 'upgrade_plan'
  | 'wait';
/** What a verdict rests on. */
export type Basis = 'dns_cname' | 'live_probe' | 'inapp_quote' | 'inapp_verify' | 'observe' | 'challenge';
/** State of one track: `stale` was there and is not any more. */
export type Track = 'ok' | 'missing' | 'stale';

/** One row of GET enforce-status. */
export interface EnforcementStatus {
  readonly host: string;
  readonly mode: EnforcementVerdict;
  readonly confidence: 'high' | 'medium' | 'low';
  readonly basedOn: readonly Basis[];
  readonly lastCheckedAtMs: number | null;
  readonly keyRejectedAtMs: number | null;
  readonly nextAction: NextAction;
  readonly attention: boolean;
  /** The DNS name to change, where DNS is what is wrong. */
  readonly recordToFix: string | null;
  readonly tracks: Readonly<Record<'fleet' | 'in_app' | 'ownership' | 'key', Track>>;
  readonly failedOpenAtMs: number | null;
}

/** Judges one host. */
export function judgeHost(facts: HostFacts, nowMs: number): EnforcementStatus {
  const fleet = fleetTrack(facts);
  const heardAtMs = latest(facts.quotedAtMs, facts.verifyCalledAtMs);
  const isInApp = heardAtMs !== null && nowMs - heardAtMs < IDLE_AFTER_MS;
  const rejectedAtMs = keyRejection(facts, heardAtMs);
  const gatedAtMs = refusalSince(facts.planGatedAtMs, [facts.addedAtMs, heardAtMs]);
  const isKeyRejected = rejectedAtMs !== null;
  const isPlanGated = gatedAtMs !== null && facts.isPlanGated;
  const tracks = {
    fleet,
    in_app: isInApp ? 'ok' : heardAtMs === null ? 'missing' : 'stale',
    ownership: facts.verifiedAtMs !== null ? 'ok' : facts.lapsedAtMs === null ? 'missing' : 'stale',
    key: isKeyRejected ? 'stale' : facts.hasActiveKey ? 'ok' : 'missing',
  } as const;
  const mode = verdictOf(facts, fleet === 'ok', isInApp);
  const nextAction = actionOf({ mode, tracks, heardAtMs, isKeyRejected, isPlanGated }, nowMs);
  const basedOn = basisOf(facts, nowMs);
  return {
    host: facts.host,
    mode,
    confidence: confidenceOf(facts, mode, basedOn, nowMs),
    basedOn,
    lastCheckedAtMs: facts.probe?.atMs ?? null,
    keyRejectedAtMs: latest(rejectedAtMs, gatedAtMs),
    nextAction,
    attention: nextAction !== 'none' && nextAction !== 'wait',
    recordToFix: nextAction === 'remove_cname' || nextAction === 'fix_dns' ? facts.host : null,
    tracks,
    failedOpenAtMs: facts.failedOpenAtMs,
  };
}

/** When a dead key was last refused, unless the host was added later or a key has worked since: here, or anywhere if it named no host. */
function keyRejection(facts: HostFacts, heardAtMs: number | null): number | null {
  const here = refusalSince(facts.keyRejectedAtMs, [facts.addedAtMs, heardAtMs]);
  return latest(here, refusalSince(facts.rejectedAnywhereAtMs, [facts.addedAtMs, heardAtMs, facts.keyUsedAtMs]));
}

function refusalSince(refusedAtMs: number | null, [addedAtMs, ...works]: readonly [number, ...(number | null)[]]): number | null {
  if (refusedAtMs === null || refusedAtMs < addedAtMs) return null;
  return works.every((atMs) => atMs === null || refusedAtMs >= atMs + WORKS_MS) ? refusedAtMs : null;
}

/** The fleet serves a host when its routing was proven and no later probe saw otherwise. */
function fleetTrack({ routingVerifiedAtMs, probe }: HostFacts): Track {
  const seesFleet = probe?.live === 'fleet' || (probe?.cname === 'fleet' && probe.live === 'unknown');
  if (routingVerifiedAtMs === null) return 'missing';
  if (probe === null || probe.atMs < routingVerifiedAtMs || seesFleet) return 'ok';
  return probe.cname === 'unknown' && probe.live === 'unknown' ? 'ok' : 'stale';
}

function verdictOf({ verifiedAtMs }: HostFacts, isFleet: boolean, isInApp: boolean): EnforcementVerdict {
  if (isFleet && isInApp) return 'conflict';
  if (verifiedAtMs === null) return 'unverified';
  if (isFleet) return 'fleet';
  return isInApp ? 'in_app' : 'idle';
}

function actionOf(
  seen: {
    readonly mode: EnforcementVerdict;
    readonly tracks: EnforcementStatus['tracks'];
    readonly heardAtMs: number | null;
    readonly isKeyRejected: boolean;
    readonly isPlanGated: boolean;
  },
  nowMs: number,
): NextAction {
  if (seen.mode === 'conflict') return 'remove_cname';
  if (seen.mode === 'unverified') return 'verify_host';
  if (seen.isPlanGated) return 'upgrade_plan';
  if (seen.mode === 'fleet' || seen.mode === 'in_app')
    return seen.isKeyRejected && seen.mode === 'in_app' ? 'rotate_key' : 'none';
  if (seen.isKeyRejected) return 'rotate_key';
  if (seen.tracks.fleet === 'stale') return 'fix_dns';
  if (seen.heardAtMs === null) return 'install_code';
  return nowMs - seen.heardAtMs < ATTENTION_AFTER_MS ? 'wait' : 'reconnect_sdk';
}

function basisOf(facts: HostFacts, nowMs: number): readonly Basis[] {
  const isRecent = (atMs: number | null): boolean => atMs !== null && nowMs - atMs < IDLE_AFTER_MS;
  const basis: [Basis, boolean][] = [
    ['dns_cname', facts.probe !== null && facts.probe.cname !== 'unknown'],
    ['live_probe', facts.probe !== null && facts.probe.live !== 'unknown'],
    ['inapp_quote', isRecent(facts.quotedAtMs)],
    ['inapp_verify', isRecent(facts.verifyCalledAtMs)],
    ['observe', isRecent(facts.observedAtMs)],
    ['challenge', facts.hasChallenge || facts.verifiedAtMs !== null],
  ];
  return basis.filter(([, holds]) => holds).map(([name]) => name);
}

/** High: something seen or heard within a day says so; medium: only ownership or reports do; low: nothing but silence. */
function confidenceOf(facts: HostFacts, mode: EnforcementVerdict, basedOn: readonly Basis[], nowMs: number) {
  const isProbed = facts.probe !== null && nowMs - facts.probe.atMs < 2 * IDLE_AFTER_MS && facts.probe.live !== 'unknown';
  const isHeard = basedOn.includes('inapp_quote') || basedOn.includes('inapp_verify');
  if (mode === 'unverified') return facts.hasChallenge || facts.lapsedAtMs !== null ? 'high' : 'medium';
  if (isHeard || isProbed) return 'high';
  return basedOn.includes('observe') || mode === 'fleet' ? 'medium' : 'low';
}

function latest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
