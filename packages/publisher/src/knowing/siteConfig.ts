/**
 * The site's settings as the service has them: read in the background, kept for 300 s or until an answer of the
 * service names a newer version, the last good copy while the service is away.
 */
import type { Client, EnforceConfig } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import type { Scope } from '../core/page.ts';
import type { Classifier } from '../core/who.ts';
import { createClassifier } from '../core/who.ts';
import { addressesOf, isConfig } from '../shapes.ts';
import type { Failures } from '../telling/failures.ts';
import { factsOf, isAway, isKeyRefused, wordsOf } from '../telling/failures.ts';
import type { LateClaims } from './lateClaims.ts';

const KEPT_MS = 300_000;
const RETRY_MS = 10_000;
/** Between two readings for the sake of a newer version: one that never comes costs no more. */
const LEAST_KEPT_MS = 2_000;
/** How long an agent that comes before the first settings waits for them. */
const FIRST_WAIT_MS = 2_000;

/** What the gate decides by. */
export interface SiteConfig extends Scope {
  /** What other addresses of an article add to its own. */
  readonly forms: readonly string[];
  /** Who signs licences of this site. */
  readonly issuer: string;
  /** The site's hosts, the first is its default. */
  readonly hosts: readonly string[];
  readonly classify: Classifier;
}

/** Where the settings are. */
export interface ConfigStore {
  /** What is there now; starts reading when it is due. Never waits. */
  current(): SiteConfig | null;
  /** The settings, waited for when there are none yet: two seconds, then null. */
  first(): Promise<SiteConfig | null>;
  /** Hears the version that the service has now: an older copy is read again with the next request. */
  heard(version: number): void;
  /** The reading under way; resolves at once when there is none. */
  settled(): Promise<void>;
  /** True while a reading is under way. */
  isReading(): boolean;
}

/** Opens the store; nothing is read before somebody asks. */
export function openConfig(deps: {
  readonly client: Client;
  readonly now: () => number;
  readonly breaker: Breaker;
  readonly failures: Failures;
  /** Learns the addresses that operators of robots publish; none are asked for without. */
  readonly claims?: Pick<LateClaims, 'learn' | 'ready' | 'version'>;
}): ConfigStore {
  let config: SiteConfig | null = null;
  let etag: string | undefined;
  let version = Number.POSITIVE_INFINITY;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let dueAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const asked = deps.client.config(etag, deps.claims && (deps.claims.version() ?? 0));
    const [answer] = await Promise.all([asked, deps.claims?.ready()]);
    deps.breaker.note(!answer.ok && isAway(answer));
    // "As before" says something only where there is a before.
    const isSame = answer.ok && answer.status === 304 && config !== null;
    const fresh = answer.ok && answer.status !== 304 && isConfig(answer.body) ? answer.body : null;
    readAtMs = deps.now();
    dueAtMs = readAtMs + (isSame || fresh ? KEPT_MS : RETRY_MS);
    if (fresh) [config, version] = [compile(fresh), fresh.version];
    if (fresh && answer.ok) etag = answer.headers.get('etag') ?? undefined;
    if (fresh) learn(fresh);
    if (isSame || fresh) return;
    const meanwhile = config ? 'the last settings stay in force' : 'everybody reads free';
    const words = answer.ok ? 'the settings are not in a form that this version reads' : wordsOf(answer);
    const what = !answer.ok && isKeyRefused(answer) ? 'key' : 'config';
    deps.failures.note({ what, message: `${words}; ${meanwhile}`, ...(answer.ok ? {} : factsOf(answer)) });
  }
  /** Settings are good without the addresses: a list that cannot be read changes nothing. */
  function learn(body: EnforceConfig): void {
    const addresses = deps.claims && addressesOf(body);
    if (!addresses) return;
    try {
      deps.claims?.learn(addresses);
    } catch (error) {
      deps.failures.note({
        what: 'config',
        message: `the addresses of robots cannot be read: ${String(error)}; those known stay`,
      });
    }
  }
  const failed = (error: unknown): void => {
    dueAtMs = deps.now() + RETRY_MS;
    deps.failures.note({ what: 'config', message: `the settings could not be read: ${String(error)}` });
  };
  const current = (): SiteConfig | null => {
    if (reading === null && deps.now() >= dueAtMs) {
      reading = read()
        .catch(failed)
        .finally(() => (reading = null));
    }
    return config;
  };
  return {
    current,
    first: async () => {
      const known = current();
      if (known || reading === null) return known;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FIRST_WAIT_MS)));
      await Promise.race([reading, late]);
      clearTimeout(timer);
      return config;
    },
    heard: (newest) => {
      if (newest > version) dueAtMs = Math.min(dueAtMs, readAtMs + LEAST_KEPT_MS);
    },
    settled: () => reading ?? Promise.resolve(),
    isReading: () => reading !== null,
  };
}

function compile({ enforcement, manifest }: EnforceConfig): SiteConfig {
  const { articlePrefixes, gateScope, forms = [], licenseIdentity } = enforcement;
  const addresses = (manifest?.resources ?? []).flatMap((one) => (URL.canParse(one) ? [new URL(one).host] : []));
  return {
    articlePrefixes,
    gateScope,
    forms,
    issuer: licenseIdentity,
    hosts: [...new Set(addresses)],
    classify: createClassifier(enforcement),
  };
}
