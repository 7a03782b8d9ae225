import type { IncomingMessage, ServerResponse } from 'node:http';
import { publisherHash } from '../modules/identity/use/keys/keys.ts';
import { ServiceError } from '../modules/kernel/errors.ts';
import { COSTS } from '../modules/kernel/rate.ts';
import type { PublisherDeps } from '../modules/quotes/use/deps.ts';
import type { Holder, Rates } from '../platform/pacing/rates.ts';
import { holderOfKey } from '../platform/pacing/rates.ts';
import type { AddressReader } from './address.ts';
import { asServiceError } from './errors.ts';
import { tellInTime } from './held.ts';
import type { Handler } from './router.ts';

/** What another handler is counted with. */
export interface RatedHandler extends Pick<PublisherDeps, 'pepper' | 'testKeysEnabled' | 'snapshots'> {
  readonly rates: Rates;
  readonly addressOf: AddressReader;
  /** The credential as the handler itself reads it: one that it looks at and we do not would be counted by nobody. */
  readonly bearerOf: (request: IncomingMessage) => string | null;
  /** Answers a call that does not reach the handler. */
  readonly refuse: (response: ServerResponse, error: ServiceError) => void;
}

/**
 * Another handler behind the same rates, which lets callers in by itself: each call is heavy, and counts for the key it bears and its site, or
 * for the owner's credential. Without a bearer there is nothing to look up, and it counts for its address: a page of megabytes is given then.
 */
export function rateHandler(handler: Handler, deps: RatedHandler): Handler {
  return async (request, response) => {
    const token = deps.bearerOf(request);
    const letIn = async (): Promise<void> => {
      await handler(request, response);
      if (response.statusCode === 401) throw new ServiceError('unknown_credential', 'no credential was accepted');
    };
    try {
      if (token === null) {
        deps.rates.count([['address', deps.addressOf(request)]], COSTS.heavy);
        return await handler(request, response);
      }
      const call = { token, address: deps.addressOf(request), cost: COSTS.heavy, isWhole: true } as const;
      await deps.rates.present(call, letIn, (_, name) => holderOfBearer(deps, token, name));
    } catch (error) {
      tellInTime(response, error, () => {
        if (!response.headersSent) deps.refuse(response, asServiceError(error));
      });
    }
  };
}

/** The holder of the publisher key that this bearer is, as it is in memory; of one that is none, the bearer by its `name`. */
export async function holderOfBearer(
  deps: Pick<PublisherDeps, 'pepper' | 'testKeysEnabled' | 'snapshots'>,
  token: string,
  name: string,
): Promise<Holder> {
  const keyHash = publisherHash(deps.pepper, token, deps.testKeysEnabled);
  const key = keyHash && (await deps.snapshots.key(keyHash));
  return key ? holderOfKey(key) : [['key', name]];
}
