import { nameServers, text } from '../parsers.ts';
import { optional } from '../variable.ts';

/** How hosts are proven. */
export const hosts = {
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
