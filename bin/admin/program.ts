import { Command, Option } from 'commander';
import { createSecretBox } from '../../adapters/secretBox.ts';
import type { Database } from '../../db/database.ts';
import { ServiceError } from '../../domain/errors.ts';
import { addHost, describePayment, listSiteKeys, recheckPayment } from '../../services/admin.ts';
import { pepperOf } from '../../services/pepper.ts';
import { eraseAccount } from '../../services/retention/eraseAccount.ts';
import type { SiteCall } from '../../services/site/change.ts';
import { OPERATOR } from '../../services/site/change.ts';
import { mintSiteConnectKey, mintSiteKey, revokeSiteKey } from '../../services/site/keys.ts';
import { eraseSiteMember, inviteSiteMember } from '../../services/site/members.ts';
import { changePricing } from '../../services/site/prices.ts';
import type { PricingInput } from '../../services/tenants.ts';
import { createBuyerAccount, createTenant, setTenantPlan, setTenantStatus } from '../../services/tenants.ts';
import type { readAdminConfig } from '../config.ts';
import { addCredentialCommands, licenceCommands } from './licences.ts';
import { addChainCommands, operationCommands } from './operations.ts';
import { collect, parseDays, parseId, parseJsonFile, parsePlan, parseScopes, parseWallet } from './options.ts';
import { ownerCommands } from './owners.ts';
import { partitionCommands } from './partitions.ts';

/** What a command runs with: opened only when one runs, so that `--help` needs nothing. */
interface Surroundings {
  readonly open: () => Promise<{ readonly database: Database; readonly config: ReturnType<typeof readAdminConfig> }>;
  readonly print: (value: unknown) => void;
}

const DAY_MS = 24 * 3_600_000;

/** The commands. Refused ones reject with ServiceError; a second call of any is as safe as its service says. */
export function createAdminProgram(surroundings: Surroundings): Command {
  const program = new Command('admin').description('Operates the service; prints JSON.');
  program.addCommand(tenantCommands(surroundings));
  program.addCommand(priceCommands(surroundings));
  program.addCommand(keyCommands(surroundings));
  program.addCommand(ownerCommands(surroundings));
  program.addCommand(memberCommands(surroundings));
  program.addCommand(buyerCommands(surroundings));
  program.addCommand(accountCommands(surroundings));
  program.addCommand(licenceCommands(surroundings));
  program.addCommand(hostCommands(surroundings));
  program.addCommand(paymentCommands(surroundings));
  program.addCommand(partitionCommands(surroundings));
  for (const command of operationCommands(surroundings)) program.addCommand(command);
  return program;
}

/** A change of a site by whoever holds this command line; the audit log says so. */
function byOperator(tenantId: string): SiteCall {
  return { tenantId: parseId(tenantId), actor: OPERATOR };
}

function tenantCommands({ open, print }: Surroundings): Command {
  const tenant = new Command('tenant').description('Sites.');
  pricingOptions(tenant.command('create').description('Creates a site; its hosts count as verified, the first is the default.'))
    .requiredOption('--host <name>', 'host name; again for more', collect)
    .option('--plan <plan>', 'free, starter, studio, scale or enterprise', parsePlan)
    .option('--owner <userId>', 'user id of the owner')
    .option('--origin <url>', "origin of the site's server, https://…")
    .option('--issuer <url>', 'issuer of its licences, an https URL; ours by default')
    .action(async (options) => {
      const { database } = await open();
      const { host, plan, owner, origin, issuer } = options;
      const pricing = pricingOf(options) as PricingInput;
      const given = { ownerUserId: owner, originUrl: origin, licenseIssuer: issuer };
      const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      print(await createTenant({ database }, { hosts: host, plan: plan ?? null, pricing, ...known }));
    });
  tenant
    .command('plan <tenantId> <plan>')
    .description('Sets the plan.')
    .action(async (tenantId: string, plan: string) => {
      const { database } = await open();
      await setTenantPlan({ database }, { tenantId: parseId(tenantId), plan: parsePlan(plan) });
      print({ tenantId, plan });
    });
  tenant
    .command('status <tenantId> <status>')
    .description('Sets the status: pending, active, suspended or closed.')
    .action(async (tenantId: string, text: string) => {
      const { database } = await open();
      const status = (['pending', 'active', 'suspended', 'closed'] as const).find((known) => known === text);
      if (!status) throw new Error('the status is pending, active, suspended or closed');
      await setTenantStatus({ database }, { tenantId: parseId(tenantId), status });
      print({ tenantId, status });
    });
  return tenant;
}

function priceCommands({ open, print }: Surroundings): Command {
  const price = new Command('price').description('What a site charges.');
  pricingOptions(price.command('set <tenantId>').description('A new pricing version; what is left out stays.'), false).action(
    async (tenantId: string, options) => {
      const pricing = pricingOf(options);
      if (Object.keys(pricing).length === 0) {
        throw new ServiceError('invalid_parameter', 'price set takes at least one of its options: what is left out stays');
      }
      const { database } = await open();
      print(await changePricing({ database }, byOperator(tenantId), 'price.set', pricing));
    },
  );
  return price;
}

function pricingOptions(command: Command, isPriceNeeded = true): Command {
  const priced = isPriceNeeded
    ? command.requiredOption('--price <usdc>', 'decimal USD of a read')
    : command.option('--price <usdc>', 'decimal USD of a read');
  return priced
    .option('--multiplier <decimal>', 'how many reads a citation costs')
    .option('--prefix <path>', 'article prefix; again for more', collect)
    .option('--free-slug <slug>', 'a free article; again for more', collect)
    .option('--credits <file>', 'JSON file: slug → credits', parseJsonFile)
    .option('--credits-url <url>', "the site's credits API");
}

function pricingOf(options: Record<string, unknown>): Partial<PricingInput> {
  const named = {
    priceUsdc: options['price'],
    citationMultiplier: options['multiplier'],
    articlePrefixes: options['prefix'],
    creditsFreeSlugs: options['freeSlug'],
    creditsInline: options['credits'],
    creditsApiUrl: options['creditsUrl'],
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

function keyCommands({ open, print }: Surroundings): Command {
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
      if (preset) return print(await mintSiteConnectKey(deps, byOperator(tenantId), { name }));
      const expiry: { expiresAtMs?: number } = days === undefined ? {} : { expiresAtMs: Date.now() + Math.round(days * DAY_MS) };
      print(await mintSiteKey(deps, byOperator(tenantId), { name, scopes, isTest: test === true, ...expiry }));
    });
  key
    .command('revoke <tenantId> <keyId>')
    .description('Revokes a key from the very next call on.')
    .action(async (tenantId: string, keyId: string) => {
      const { database } = await open();
      await revokeSiteKey({ database }, byOperator(tenantId), parseId(keyId));
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

function memberCommands({ open, print }: Surroundings): Command {
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
      print(await inviteSiteMember(deps, byOperator(tenantId), { authorId: author, email }));
    });
  member
    .command('erase <tenantId> <authorId>')
    .description('Erases who an author is: roster, audit log, alerts. Earnings stay. Also after the author was removed.')
    .action(async (tenantId: string, authorId: string) => {
      const { database } = await open();
      print({ authorId, ...(await eraseSiteMember({ database }, byOperator(tenantId), authorId)) });
    });
  return member;
}

function buyerCommands({ open, print }: Surroundings): Command {
  const buyer = new Command('buyer').description('Buyer accounts.');
  addCredentialCommands(buyer, { open, print });
  const account = buyer.command('account').description('One account a buyer.');
  account
    .command('create')
    .description('Creates a buyer account; its token is printed this once.')
    .option('--name <text>', 'name')
    .option('--wallet <address>', 'its wallet', parseWallet)
    .action(async (options: { name?: string; wallet?: `0x${string}` }) => {
      const { database, config } = await open();
      print(await createBuyerAccount({ database, pepper: pepperOf(config) }, options));
    });
  return buyer;
}

function accountCommands({ open, print }: Surroundings): Command {
  const account = new Command('account').description('Buyer accounts, and what is kept of them.');
  account
    .command('erase <walletOrId>')
    .description('Erases an account: name, wallet and credentials. Payments, licences and what is on the chain stay.')
    .action(async (given: string) => {
      const { database } = await open();
      const by = given.startsWith('0x') ? { wallet: parseWallet(given) } : { accountId: parseId(given) };
      print(await eraseAccount({ database }, by));
    });
  return account;
}

function hostCommands({ open, print }: Surroundings): Command {
  const host = new Command('host').description('Host names of sites.');
  host
    .command('add <tenantId> <host>')
    .description("Makes a host a site's verified one, without a challenge.")
    .action(async (tenantId: string, name: string) => {
      const { database } = await open();
      print(await addHost({ database }, { tenantId: parseId(tenantId), host: name }));
    });
  return host;
}

function paymentCommands({ open, print }: Surroundings): Command {
  const payment = new Command('payment').description('Payments.');
  addChainCommands(payment, { open, print });
  payment
    .command('show <paymentId>')
    .description('State, evidence, and the workflow that carries it.')
    .action(async (paymentId: string) => {
      const { database, config } = await open();
      const temporal = { uiUrl: config.temporalUiUrl, namespace: config.temporalNamespace };
      print(await describePayment({ database }, parseId(paymentId), temporal));
    });
  payment
    .command('recheck <paymentId>')
    .description('Has the sweeper look for its evidence in its next round.')
    .action(async (paymentId: string) => {
      const { database } = await open();
      await recheckPayment({ database }, parseId(paymentId));
      print({ paymentId, recheck: 'asked for' });
    });
  return payment;
}
