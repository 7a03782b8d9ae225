import { Command } from 'commander';
import { issueOwnerToken, listOwnerTokens, revokeOwnerToken, setSiteOwner } from '../../modules/identity/use/owners/tokens.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { parseDays, parseId } from './options.ts';
import type { Surroundings } from './surroundings.ts';
import { callOf } from './surroundings.ts';

const DAY_MS = 24 * 3_600_000;

/** Commands about who owns a site, and the tokens that stand for an owner where there is no identity provider. */
export function ownerCommands({ open, print, operator }: Surroundings): Command {
  const owner = new Command('owner').description('Owners of sites.');
  owner
    .command('token <tenantId>')
    .description('Issues a token of the owner; it is printed this once.')
    .requiredOption('--user <userId>', 'user id')
    .option('--days <number>', 'expires after so many days', parseDays)
    .action(async (tenantId: string, { user, days }) => {
      const { database, config } = await open();
      const expiry = days === undefined ? {} : { expiresAtMs: Date.now() + days * DAY_MS };
      const deps = { database, pepper: pepperOf(config) };
      print(await issueOwnerToken(deps, callOf({ operator }, tenantId), { userId: user, ...expiry }));
    });
  owner
    .command('tokens <tenantId>')
    .description("Lists the tokens of a site's owners, without their secrets.")
    .action(async (tenantId: string) => {
      const { database } = await open();
      print({ tokens: await listOwnerTokens({ database }, parseId(tenantId)) });
    });
  owner
    .command('revoke-token <tenantId> <tokenId>')
    .description('Revokes a token from the very next call on.')
    .action(async (tenantId: string, tokenId: string) => {
      const { database } = await open();
      await revokeOwnerToken({ database }, callOf({ operator }, tenantId), parseId(tokenId));
      print({ tokenId, revoked: true });
    });
  owner
    .command('set <tenantId> <userId>')
    .description('Makes a user of the identity provider (its `sub` at OIDC_ISSUER) the owner of a site.')
    .action(async (tenantId: string, userId: string) => {
      const { database, config } = await open();
      const issuer = config.oidcIssuer ?? null;
      await setSiteOwner({ database }, callOf({ operator }, tenantId), { userId, issuer });
      print({ tenantId, ownerUserId: userId, issuer });
    });
  return owner;
}
