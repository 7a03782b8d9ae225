import { Command } from 'commander';
import { removeSiteHost } from '../../modules/hosts/use/manageHosts.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { normaliseHost } from '../../modules/kernel/hosts/host.ts';
import { hostQuery } from '../../modules/kernel/workflow/attributes.ts';
import type { WorkflowLinks } from '../../modules/kernel/workflow/links.ts';
import { reportGas } from '../../modules/operations/use/onCall.ts';
import { addSiteHost, createSite, setSitePlan, setSiteStatus } from '../../modules/operations/use/operatedSites.ts';
import { searchTenants, showTenant } from '../../modules/operations/use/search.ts';
import { setCreditsToken } from '../../modules/quotes/use/credits/token.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { setSiteNetworks } from '../../modules/tenants/use/manageNetworks.ts';
import type { PricingInput } from '../../modules/tenants/use/tenants.ts';
import { Networks } from '../../platform/chain/network.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import {
  collect,
  limited,
  paged,
  pageOf,
  parseId,
  parseJsonFile,
  parsePayee,
  parsePlan,
  parseStatus,
  parseWholeDays,
} from './options.ts';
import type { Surroundings } from './surroundings.ts';
import { callOf, linksOf } from './surroundings.ts';

/** Commands about sites. */
export function tenantCommands({ open, print, operator }: Surroundings): Command {
  const tenant = new Command('tenant').alias('site').description('Sites.');
  pricingOptions(
    tenant.command('create').alias('add').description('Creates a site; its hosts count as verified, the first is the default.'),
  )
    .requiredOption('--host <name>', 'host name; again for more', collect)
    .option('--plan <plan>', 'free, starter, studio, scale or enterprise', parsePlan)
    .option('--owner <userId>', 'user id of the owner')
    .option('--origin <url>', "origin of the site's server, https://…")
    .option('--issuer <url>', 'issuer of its licences, an https URL; ours by default')
    .action(async (options) => {
      const { database, config } = await open();
      const { host, plan, owner, origin, issuer } = options;
      const pricing = pricingOf(options) as PricingInput;
      const given = { ownerUserId: owner, originUrl: origin, licenseIssuer: issuer };
      const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      print(
        await createSite({ database, priceFloorMicro: config.priceFloorMicro }, operator(), {
          hosts: host,
          plan: plan ?? null,
          pricing,
          ...known,
        }),
      );
    });
  addGas(tenant, { open, print });
  tenant
    .command('plan <tenantId> <plan>')
    .description('Sets the plan.')
    .action(async (tenantId: string, plan: string) => {
      const { database } = await open();
      await setSitePlan({ database }, callOf({ operator }, tenantId), parsePlan(plan));
      print({ tenantId, plan });
    });
  tenant
    .command('networks <tenantId> <network...>')
    .description('Sets on which networks of NETWORKS the site takes payments; any other is refused at once.')
    .action(async (tenantId: string, wanted: string[]) => {
      const { database, config } = await open();
      const networks = new Networks(config.networks ?? []);
      print({ tenantId, ...(await setSiteNetworks({ database, networks }, callOf({ operator }, tenantId), wanted)) });
    });
  tenant
    .command('status <tenantId> <status>')
    .description('Sets the status: pending, active, suspended or closed.')
    .action(async (tenantId: string, text: string) => {
      const { database } = await open();
      const status = parseStatus(text);
      await setSiteStatus({ database }, callOf({ operator }, tenantId), status);
      print({ tenantId, status });
    });
  tenant
    .command('credits-token <tenantId> <token>')
    .description("Sets the token that goes with calls of the site's credits API; none takes it away.")
    .action(async (tenantId: string, token: string) => {
      const { database, config } = await open();
      if (!config.secretsKey) throw new ServiceError('invalid_parameter', 'SECRETS_KEY is not set: nothing can be sealed');
      const deps = { database, secretBox: createSecretBox(config.secretsKey) };
      print({ tenantId, ...(await setCreditsToken(deps, callOf({ operator }, tenantId), token === 'none' ? null : token)) });
    });
  paged(tenant.command('list').description('Sites, the newest first.'))
    .option('--host <name>', 'the site that has this host')
    .option('--owner <userId>', 'sites of this owner')
    .option('--status <status>', 'pending, active, suspended or closed', parseStatus)
    .action(async (options) => {
      const { database } = await open();
      const host = options.host === undefined ? null : normaliseHost(options.host);
      const wanted = { host, ownerUserId: options.owner ?? null, status: options.status ?? null };
      print(await searchTenants({ database }, pageOf(options), wanted));
    });
  tenant
    .command('show <tenantId>')
    .description('A site with its pricing, hosts and number of keys.')
    .action(async (tenantId: string) => {
      const { database, config } = await open();
      const { hosts, ...site } = await showTenant({ database }, parseId(tenantId));
      print({ ...site, hosts: withLinks(linksOf(config), site.tenantId, hosts) });
    });
  return tenant;
}

function addGas(tenant: Command, { open, print }: Pick<Surroundings, 'open' | 'print'>): void {
  limited(tenant.command('gas'))
    .description('The sites that used most gas, and which part of all, in the coin that budgets count in (wei).')
    .option('--days <number>', 'days back, today included', parseWholeDays, 1)
    .action(async ({ days, limit }: { days: number; limit: number }) => {
      const { database } = await open();
      print({ days, ...(await reportGas({ database }, { days, limit })) });
    });
}

/** Commands about what sites charge. */
export function priceCommands({ open, print, operator }: Surroundings): Command {
  const price = new Command('price').description('What a site charges.');
  pricingOptions(price.command('set <tenantId>').description('A new pricing version; what is left out stays.'), false).action(
    async (tenantId: string, options) => {
      const pricing = pricingOf(options);
      if (Object.keys(pricing).length === 0) {
        throw new ServiceError('invalid_parameter', 'price set takes at least one of its options: what is left out stays');
      }
      const { database, config } = await open();
      const { priceFloorMicro } = config;
      print(await changePricing({ database, priceFloorMicro }, callOf({ operator }, tenantId), 'price.set', pricing));
    },
  );
  return price;
}

/** Commands about host names of sites. */
export function hostCommands({ open, print, operator }: Surroundings): Command {
  const host = new Command('host').description('Host names of sites.');
  host
    .command('add <tenantId> <host>')
    .description("Makes a host a site's verified one, without a challenge.")
    .action(async (tenantId: string, name: string) => {
      const { database } = await open();
      print(await addSiteHost({ database }, callOf({ operator }, tenantId), name));
    });
  host
    .command('remove <tenantId> <host>')
    .description('Takes a host from a site; what it earned stays. For 72 hours only DNS proves it again.')
    .action(async (tenantId: string, name: string) => {
      const { database } = await open();
      print(await removeSiteHost({ database, clock: Date.now }, callOf({ operator }, tenantId), name));
    });
  return host;
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
    .option('--credits-url <url>', "the site's credits API")
    .option('--default-payee <author=wallet>', 'who is paid for pages that name nobody; none: such pages are free', parsePayee);
}

function pricingOf(options: Record<string, unknown>): Partial<PricingInput> {
  const named = {
    priceUsdc: options['price'],
    citationMultiplier: options['multiplier'],
    articlePrefixes: options['prefix'],
    creditsFreeSlugs: options['freeSlug'],
    creditsInline: options['credits'],
    creditsApiUrl: options['creditsUrl'],
    defaultPayee: options['defaultPayee'] === 'none' ? null : options['defaultPayee'],
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

/** Hosts of a site, each with a link to its workflow. */
function withLinks<T extends { readonly host: string }>({ found }: WorkflowLinks, tenantId: string, hosts: readonly T[]) {
  return hosts.map((one) => ({ ...one, workflowsUrl: found(hostQuery(tenantId, one.host)) }));
}
