import { Command } from 'commander';
import { paymentQuery } from '../../modules/kernel/workflow/attributes.ts';
import { denySiteToken, revokeSiteLicence } from '../../modules/licences/use/manageLicences.ts';
import {
  issueBuyerKey,
  openBuyer,
  openBuyerClient,
  withdrawBuyerClient,
  withdrawBuyerKey,
} from '../../modules/operations/use/buyers.ts';
import { searchBuyers, searchLicences, showLicence } from '../../modules/operations/use/search.ts';
import type { PageInput } from '../../modules/storefront/use/licences/offering.ts';
import { importSitePages, setSiteOffering } from '../../modules/storefront/use/managePages.ts';
import type { ClientKeys } from '../../platform/tokens/clientAssertion.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { paged, pageOf, parseId, parseJsonFile, parseWallet } from './options.ts';
import type { Surroundings } from './surroundings.ts';
import { callOf, linksOf } from './surroundings.ts';

/** Commands about licences: what a site sells as a scope, and taking back what was sold. */
export function licenceCommands({ open, print, operator }: Surroundings): Command {
  const byOperator = (tenantId: string) => callOf({ operator }, tenantId);
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
      const { database } = await open();
      const pages = parseJsonFile(file)['pages'] as PageInput[];
      print(await importSitePages({ database }, byOperator(tenantId), pages));
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
  paged(licence.command('list').description('Licences that a site sold, or an account holds.'))
    .option('--tenant <tenantId>', 'sold by this site', parseId)
    .option('--account <accountId>', 'held by this account', parseId)
    .action(async (options) => {
      const { database } = await open();
      const of = { tenantId: options.tenant ?? null, accountId: options.account ?? null };
      print(await searchLicences({ database }, pageOf(options), of));
    });
  licence
    .command('show <jti>')
    .description('A licence by its id, which is that of the payment that bought it.')
    .action(async (jti: string) => {
      const { database, config } = await open();
      const licence = await showLicence({ database }, parseId(jti));
      print({ ...licence, workflowsUrl: linksOf(config).found(paymentQuery(parseId(jti))) });
    });
  return licence;
}

/** Commands about buyer accounts and their credentials. */
export function buyerCommands(surroundings: Surroundings): Command {
  const { open, print, operator } = surroundings;
  const buyer = new Command('buyer').description('Buyer accounts.');
  paged(buyer.command('list').description('Accounts, the newest first.'))
    .option('--wallet <address>', 'the account of this wallet', parseWallet)
    .option('--account <accountId>', 'this account', parseId)
    .action(async (options) => {
      const { database } = await open();
      const wanted = { wallet: options.wallet ?? null, accountId: options.account ?? null };
      print(await searchBuyers({ database }, pageOf(options), wanted));
    });
  addCredentialCommands(buyer, surroundings);
  const account = buyer.command('account').description('One account a buyer.');
  account
    .command('create')
    .description('Creates a buyer account; its token is printed this once.')
    .option('--name <text>', 'name')
    .option('--wallet <address>', 'its wallet', parseWallet)
    .action(async (options: { name?: string; wallet?: `0x${string}` }) => {
      const { database, config } = await open();
      print(await openBuyer({ database, pepper: pepperOf(config) }, operator(), options));
    });
  return buyer;
}

function addCredentialCommands(buyer: Command, { open, print, operator }: Surroundings): void {
  buyer
    .command('key <accountId>')
    .description('Issues another key of an account; it is printed this once.')
    .action(async (accountId: string) => {
      const { database, config } = await open();
      print(await issueBuyerKey({ database, pepper: pepperOf(config) }, operator(), parseId(accountId)));
    });
  buyer
    .command('revoke-key <token>')
    .description('Revokes a key of an account.')
    .action(async (token: string) => {
      const { database, config } = await open();
      await withdrawBuyerKey({ database, pepper: pepperOf(config) }, operator(), token);
      print({ revoked: true });
    });
  buyer
    .command('client <accountId>')
    .description('Makes an OAuth client of an account; its secret is printed this once.')
    .option('--jwks <file>', 'its public keys instead of a secret', parseJsonFile)
    .option('--owner', 'its tokens are the owner’s: they change the budget')
    .action(async (accountId: string, { jwks, owner: isOwner = false }: { jwks?: unknown; owner?: boolean }) => {
      const { database, config } = await open();
      const keys = jwks === undefined ? {} : { jwks: jwks as ClientKeys };
      const deps = { database, pepper: pepperOf(config) };
      print(await openBuyerClient(deps, operator(), { accountId: parseId(accountId), isOwner, ...keys }));
    });
  buyer
    .command('revoke-client <clientId>')
    .description('Revokes an OAuth client.')
    .action(async (clientId: string) => {
      const { database } = await open();
      await withdrawBuyerClient({ database }, operator(), parseId(clientId));
      print({ clientId, revoked: true });
    });
}
