import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/** Groups of an IPv6 address that name a network: whoever has one address has its whole /64. */
const NETWORK_GROUPS = 4;

/** What callers without a credential are told apart by: the address a request came from, of IPv6 its /64. */
export function addressOf({ socket: { remoteAddress = '' } }: Pick<IncomingMessage, 'socket'>): string {
  if (!isIPv6(remoteAddress)) return remoteAddress;
  const mapped = /^::ffff:([0-9.]+)$/i.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail = ''] = (remoteAddress.split('%', 1)[0] ?? '').split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0');
  return [...groups, ...zeros, ...rest].slice(0, NETWORK_GROUPS).join(':');
}
