import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAddress, judgeAddress } from './address.ts';
import type { Resolve, ResolvedAddress } from './dns.ts';
import { BlockedAddressError, NameError } from './reason.ts';
import { bareHost } from './url.ts';

/** How connections are made. */
export interface PinnedConnectorOptions {
  readonly resolve: Resolve;
  readonly allowLoopback: boolean;
  readonly connectTimeoutMs: number;
  readonly ca?: string;
}

/**
 * Makes every connection to an address that was resolved and checked for this very connection: if
 * any answer is a special-use address, none is used. The name stays in SNI, certificate check and Host. A second connection of
 * the same origin is resolved and checked again, so a name that is rebound in between is caught.
 */
export function createPinnedConnector(options: PinnedConnectorOptions): buildConnector.connector {
  return (target, callback) => {
    const name = bareHost(target.hostname);
    addressesOf(name, options).then(
      (addresses) => {
        const port = addresses[0]?.port;
        const connect = buildConnector({
          lookup: pinnedLookup(addresses),
          timeout: options.connectTimeoutMs,
          maxCachedSessions: 0,
          rejectUnauthorized: true,
          ...(options.ca === undefined ? {} : { ca: options.ca }),
        } as buildConnector.BuildOptions);
        // A name goes to the pinned lookup; an address (loopback only) is connected to as it is.
        connect({ ...target, hostname: name, ...(port === undefined ? {} : { port: String(port) }) }, callback);
      },
      (error: Error) => callback(error, null),
    );
  };
}

async function addressesOf(name: string, options: PinnedConnectorOptions): Promise<readonly ResolvedAddress[]> {
  const addresses = await candidates(name, options.resolve);
  const isAllowed = ({ address }: ResolvedAddress): boolean => {
    const kind = judgeAddress(address);
    return kind === 'public' || (kind === 'loopback' && options.allowLoopback);
  };
  if (addresses.length === 0 || !addresses.every(isAllowed)) throw new BlockedAddressError();
  return addresses;
}

async function candidates(name: string, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
  if (isAddress(name)) return [{ address: name }];
  if (name === 'localhost') return [{ address: '127.0.0.1' }];
  try {
    return await resolve(name);
  } catch (cause) {
    throw new NameError({ cause });
  }
}

/** A lookup that knows only these addresses. */
function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  const known = addresses.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_name, options, callback) => {
    const first = known[0];
    if (options.all === true) callback(null, known);
    else callback(null, first?.address ?? '', first?.family);
  };
}
