/** The judge of names, loaded after the first page: the addresses of robots would be a fifth of what a site loads at first. */
import type { Claims } from './claims.ts';

/** A judge that is loaded when it is first needed. */
export interface LateClaims extends Omit<Claims, 'settled'> {
  /** Loads the judge, with the lists of this release. Never rejects: without it, a robot is who it says. A second call tries again if need be. */
  ready(): Promise<void>;
}

/** Opens it; until `ready` has resolved, nobody can say what a name is worth. */
export function openLateClaims(deps: { readonly now: () => number }): LateClaims {
  let claims: Claims | null = null;
  return {
    ready: async () => {
      if (claims) return;
      const file = await import('./claims.ts').catch(() => null);
      claims ??= file?.openClaims(deps) ?? null;
    },
    worth: (userAgent, whence) => claims?.worth(userAgent, whence) ?? 'unknown',
    learn: (addresses) => claims?.learn(addresses),
    version: () => claims?.version(),
  };
}
