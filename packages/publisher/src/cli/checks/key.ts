import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { World } from '../world.ts';

interface Facts {
  readonly kind: World['keyKind'];
  readonly answer: { readonly ok: boolean; readonly status?: number | undefined; readonly code?: string | undefined } | null;
  readonly site: { readonly status: string } | null;
}

/** Is the key good, and for what? */
export const keyCheck: Check<Facts> = {
  id: 'key',
  probe: async (world) => {
    const self = await world.self();
    if (self === null) return { kind: world.keyKind, answer: null, site: null };
    const { answer, row } = self;
    const told = answer.ok ? { ok: true, status: answer.status } : { ok: false, status: answer.status, code: answer.code };
    return { kind: world.keyKind, answer: told, site: row };
  },
  judge: ({ kind, answer, site }) => {
    if (kind === 'none') return [unknown('No key was given.', 'Set SVC_API_KEY.')];
    if (kind === 'unknown') {
      return [problem('This is no publisher key.', 'Keys begin with svc_live_ or svc_test_: copy it again, whole.')];
    }
    if (answer === null || answer.status === undefined || answer.status >= 500) {
      return [unknown('The key could not be tried: the service does not answer.', 'Run this again when it does.')];
    }
    if (!answer.ok) return [refusal(kind, answer.status, answer.code)];
    return [...kindFindings(kind), ...siteFindings(site)];
  },
};

function kindFindings(kind: 'live' | 'test'): Finding[] {
  if (kind === 'live') return [ok('The key is live, and may read what a gate needs.')];
  return [
    warning(
      'This is a test key: what it sells moves no money.',
      'Give the gate of the live site a key that begins with svc_live_.',
    ),
  ];
}

function siteFindings(site: Facts['site']): Finding[] {
  if (site === null || site.status === 'active') return [];
  const todo =
    site.status === 'pending'
      ? 'Prove a host of the site: until then all its pages are free.'
      : 'Ask the operator of the service.';
  return [problem(`The site of this key is ${site.status}.`, todo)];
}

function refusal(kind: 'live' | 'test', status: number, code: string | undefined): Finding {
  if (status === 401) {
    const also = kind === 'test' ? ', or test keys are off there (TEST_KEYS_ENABLED)' : '';
    return problem(
      `The service does not know this key: it was revoked, or belongs to another service${also}.`,
      'Make a new key and set SVC_API_KEY.',
    );
  }
  if (code === 'scope_missing')
    return problem('The key lacks the scope tenant.read.', 'Make a key with tenant.read: a gate can do nothing without it.');
  if (code === 'plan_gate')
    return problem('The plan of this site does not include the API.', 'Change the plan to studio or above.');
  if (code === 'site_suspended') return problem('The site of this key is suspended.', 'Ask the operator of the service.');
  return problem(
    `The service refuses the key: ${status}${code === undefined ? '' : ` ${code}`}.`,
    'Make a new key and set SVC_API_KEY.',
  );
}
