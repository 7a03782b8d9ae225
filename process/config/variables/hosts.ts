import { nameServers, text, wholeNumber } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** How hosts are proven, and what they are allowed to cost. */
export const hosts = {
  hostChecksPerHour: withDefault({
    name: 'HOST_CHECKS_PER_HOUR',
    about: 'Host checks that an account may request per hour.',
    example: '30',
    fallback: '30',
    schema: wholeNumber(1, 100_000),
  }),
  hostChecksPerHost: withDefault({
    name: 'HOST_CHECKS_PER_HOST',
    about: 'Host checks that may be requested for one host name in total, until it is proven.',
    example: '50',
    fallback: '50',
    schema: wholeNumber(1, 1_000_000),
  }),
  hostCheckGapMs: withDefault({
    name: 'HOST_CHECK_GAP_MS',
    about: 'Minimum time between two requested checks of a host, in milliseconds.',
    example: '2000',
    fallback: '2000',
    schema: wholeNumber(0, 3_600_000),
  }),
  hostFirstCheckMs: withDefault({
    name: 'HOST_FIRST_CHECK_MS',
    about: 'From opening a challenge to its first automatic check, in milliseconds.',
    example: '60000',
    fallback: '60000',
    schema: wholeNumber(100, 3_600_000),
  }),
  hostResolvers: optional({
    name: 'HOST_RESOLVERS',
    about: 'Name servers for DNS proofs, comma-separated, in different networks: all must agree. Not set: those of the system.',
    example: '192.0.2.53,[2001:db8::53]:53',
    schema: nameServers,
  }),
  fleetHost: optional({
    name: 'FLEET_HOST',
    about: 'The name that CNAMEs of fleet-routed hosts point at. Not set: there is no fleet.',
    example: 'fleet.example.com',
    schema: text.toLowerCase(),
  }),
};
