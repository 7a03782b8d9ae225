import { Command } from 'commander';
import type { ClientKeys } from '../../adapters/clientAssertion.ts';
import type { Database } from '../../db/database.ts';
import { createAccountClient, mintBuyerKey, revokeAccountClient, revokeBuyerKey } from '../../services/accounts/clients.ts';
import type { ImportLimits, PageInput } from '../../services/licences/offering.ts';
import { pepperOf } from '../../services/pepper.ts';
import type { SiteCall } from '../../services/site/change.ts';
import { OPERATOR } from '../../services/site/change.ts';
import { denySiteToken, revokeSiteLicence } from '../../services/site/licences.ts';
import { importSitePages, setSiteOffering } from '../../services/site/pages.ts';
import { parseId, parseJsonFile } from './options.ts';

/** What these commands run with. */
interface Surroundings {
  readonly open: () => Promise<{
    readonly database: Database;
    readonly config: Parameters<typeof pepperOf>[0] & Required<ImportLimits>;
  }>;
  readonly print: (value: unknown) => void;
}

/** Commands about licences: what a site sells as a scope, and taking back what was sold. */
export function licenceCommands({ open, print }: Surroundings): Command {
  const licence = new Command('licence').description('Licences over scopes of pages.');
  licence
    .command('offer <tenantId>')
    .description('Sets what a site sells as a scope; what is left out goes back to its default.')
    .option('--training', 'sells licences for training, too')
    .action(async (tenantId: string, { training }: { training?: true }) => {
      const { database } = await open();
      const offering = { sellsTraining: training === true, periodFactors: null };
      await setSiteOffering({ database }, byOperator(tenantId), offering);
      print({ tenantId, sellsTraining: training === true });
    });
  licence
    .command('import <tenantId> <file>')
    .description('Imports the pages of a JSON file: {pages: [{slug, path, title?, credits?}]}.')
    .action(async (tenantId: string, file: string) => {
      const { database, config } = await open();
      const pages = parseJsonFile(file)['pages'] as PageInput[];
      print(await importSitePages({ database, sitePages: config.sitePages }, byOperator(tenantId), pages));
    });
  licence
    .command('revoke <tenantId> <jti>')
    .description('Revokes a bought licence.')
    .option('--token', 'denies one token by its jti instead')
    .action(async (tenantId: string, jti: string, { token }: { token?: true }) => {
      const { database } = await open();
      const call = byOperator(tenantId);
      await (token ? denySiteToken({ database }, call, jti) : revokeSiteLicence({ database }, call, parseId(jti)));
      print({ tenantId: call.tenantId, jti, revoked: true });
    });
  return licence;
}

function byOperator(tenantId: string): SiteCall {
  return { tenantId: parseId(tenantId), actor: OPERATOR };
}

/** Adds the commands about credentials of buyer accounts. */
export function addCredentialCommands(buyer: Command, { open, print }: Surroundings): void {
  buyer
    .command('key <accountId>')
    .description('Issues another key of an account; it is printed this once.')
    .action(async (accountId: string) => {
      const { database, config } = await open();
      print(await mintBuyerKey({ database, pepper: pepperOf(config) }, parseId(accountId)));
    });
  buyer
    .command('revoke-key <token>')
    .description('Revokes a key of an account.')
    .action(async (token: string) => {
      const { database, config } = await open();
      await revokeBuyerKey({ database, pepper: pepperOf(config) }, token);
      print({ revoked: true });
    });
  buyer
    .command('client <accountId>')
    .description('Makes an OAuth client of an account; its secret is printed this once.')
    .option('--jwks <file>', 'its public keys instead of a secret', parseJsonFile)
    .action(async (accountId: string, { jwks }: { jwks?: unknown }) => {
      const { database, config } = await open();
      const keys = jwks === undefined ? {} : { jwks: jwks as ClientKeys };
      print(await createAccountClient({ database, pepper: pepperOf(config) }, { accountId: parseId(accountId), ...keys }));
    });
  buyer
    .command('revoke-client <clientId>')
    .description('Revokes an OAuth client.')
    .action(async (clientId: string) => {
      const { database } = await open();
      await revokeAccountClient({ database }, parseId(clientId));
      print({ clientId, revoked: true });
    });
}
