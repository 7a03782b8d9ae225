import { Command, Option } from 'commander';
import { eraseSiteMember, inviteSiteMember } from '../../modules/identity/use/manageMembers.ts';
import { mintSiteConnectKey, mintSiteKey, revokeSiteKey } from '../../modules/identity/use/siteKeys.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { listSiteKeys } from '../../modules/operations/use/admin.ts';
import { eraseAccount } from '../../modules/operations/use/eraseAccount.ts';
import { searchAudit } from '../../modules/operations/use/search.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { endpointCommands } from './endpoints.ts';
import { buyerCommands, licenceCommands } from './licences.ts';
import { monthCommands } from './months.ts';
import { operationCommands } from './operations.ts';
import { paged, pageOf, parseDays, parseId, parseOperator, parseScopes, parseWallet } from './options.ts';
import { ownerCommands } from './owners.ts';
import { partitionCommands } from './partitions.ts';
import { paymentCommands } from './payments.ts';
import { secretCommands } from './secrets.ts';
import type { Surroundings } from './surroundings.ts';
import { callOf, userOfMachine } from './surroundings.ts';
import { hostCommands, priceCommands, tenantCommands } from './tenants.ts';

const DAY_MS = 24 * 3_600_000;
/** The service may have another environment than this command line: the key is made all the same. */
const TEST_KEYS_OFF = 'TEST_KEYS_ENABLED is not set here: a service that also runs without it refuses this key as unknown (401)';

/** The commands. Refused ones reject with ServiceError; a second call of any is as safe as its service says. */
export function createAdminProgram(given: Omit<Surroundings, 'operator'>): Command {
  const program = new Command('admin')
    .description('Operates the service; prints JSON.')
    .option('--as <name>', 'who the audit log names; the user of this machine by default', parseOperator);
  const surroundings = { ...given, operator: () => operatorNamed(program.opts<{ as?: string }>().as ?? userOfMachine()) };
  program.addCommand(tenantCommands(surroundings));
  program.addCommand(priceCommands(surroundings));
  program.addCommand(keyCommands(surroundings));
  program.addCommand(ownerCommands(surroundings));
  program.addCommand(memberCommands(surroundings));
  program.addCommand(buyerCommands(surroundings));
  program.addCommand(accountCommands(surroundings));
  program.addCommand(licenceCommands(surroundings));
  program.addCommand(hostCommands(surroundings));
  program.addCommand(endpointCommands(surroundings));
  program.addCommand(paymentCommands(surroundings));
  program.addCommand(partitionCommands(surroundings));
  program.addCommand(monthCommands(surroundings));
  program.addCommand(auditCommands(surroundings));
  program.addCommand(secretCommands(surroundings));
  for (const command of operationCommands(surroundings)) program.addCommand(command);
  return program;
}

function keyCommands({ open, print, operator }: Surroundings): Command {
  const key = new Command('key').description('Publisher keys.');
  key
    .command('mint <tenantId>')
    .description('Mints a key; its token is printed this once. domain.manage comes with --preset wordpress alone, for 30 days.')
    .requiredOption('--name <text>', 'what it is for')
    .option('--scopes <list>', 'scopes divided by commas, or all', parseScopes)
    .addOption(new Option('--preset <name>', 'a key for a plugin, in place of scopes').choices(['wordpress']))
    .option('--days <number>', 'expires after so many days', parseDays)
    .option('--test', 'a test key, whose settlements never count as money')
    .action(async (tenantId: string, { name, scopes, preset, days, test }) => {
      const isGiven = [days, test].some((option) => option !== undefined);
      if ((preset === undefined) === (scopes === undefined) || (preset && isGiven)) {
        throw new ServiceError('invalid_parameter', 'key mint takes --scopes, or --preset alone');
      }
      const { database, config } = await open();
      const deps = { database, pepper: pepperOf(config), clock: Date.now, testKeysEnabled: true };
      if (preset) return print(await mintSiteConnectKey(deps, callOf({ operator }, tenantId), { name }));
      const expiry: { expiresAtMs?: number } = days === undefined ? {} : { expiresAtMs: Date.now() + Math.round(days * DAY_MS) };
      const minted = await mintSiteKey(deps, callOf({ operator }, tenantId), { name, scopes, isTest: test === true, ...expiry });
      print({ ...minted, ...(test && !config.testKeysEnabled ? { warning: TEST_KEYS_OFF } : {}) });
    });
  key
    .command('revoke <tenantId> <keyId>')
    .description('Revokes a key from the very next call on.')
    .action(async (tenantId: string, keyId: string) => {
      const { database } = await open();
      await revokeSiteKey({ database }, callOf({ operator }, tenantId), parseId(keyId));
      print({ keyId, revoked: true });
    });
  key
    .command('list <tenantId>')
    .description('The keys of a site, without their secrets.')
    .action(async (tenantId: string) => {
      const { database } = await open();
      print({ keys: await listSiteKeys({ database }, parseId(tenantId)) });
    });
  return key;
}

function memberCommands({ open, print, operator }: Surroundings): Command {
  const member = new Command('member').description('Authors on the roster.');
  member
    .command('add <tenantId>')
    .description('Invites an author by e-mail; again before it was accepted: a new invitation.')
    .requiredOption('--author <authorId>', 'author id, as in the credits')
    .requiredOption('--email <address>', 'e-mail address')
    .action(async (tenantId: string, { author, email }) => {
      const { database, config } = await open();
      const { secretsKey, publicBaseUrl: baseUrl } = config;
      const mail = secretsKey && baseUrl ? { secretBox: createSecretBox(secretsKey), baseUrl } : null;
      const deps = { database, pepper: pepperOf(config), clock: Date.now, mail };
      print(await inviteSiteMember(deps, callOf({ operator }, tenantId), { authorId: author, email }));
    });
  member
    .command('erase <tenantId> <authorId>')
    .description(
      'Erases who an author is: roster, invitations, audit log of members. Earnings and the address for alerts stay. Also after the author was removed.',
    )
    .action(async (tenantId: string, authorId: string) => {
      const { database } = await open();
      print({ authorId, ...(await eraseSiteMember({ database }, callOf({ operator }, tenantId), authorId)) });
    });
  return member;
}

function accountCommands({ open, print, operator }: Surroundings): Command {
  const account = new Command('account').description('Erasing a buyer account.');
  account
    .command('erase <walletOrId>')
    .description('Erases an account: name, wallet and credentials. Payments, licences and what is on the chain stay.')
    .action(async (given: string) => {
      const { database } = await open();
      const by = given.startsWith('0x') ? { wallet: parseWallet(given) } : { accountId: parseId(given) };
      print(await eraseAccount({ database }, operator(), by));
    });
  return account;
}

function auditCommands({ open, print }: Surroundings): Command {
  const audit = new Command('audit').description('Who changed what.');
  paged(audit.command('list').description('What operators changed anywhere, or with --tenant all changes of one site.'))
    .option('--tenant <tenantId>', 'changes of this site, by its owner, too', parseId)
    .action(async (options) => {
      const { database } = await open();
      print(await searchAudit({ database }, pageOf(options), options.tenant ?? null));
    });
  return audit;
}
