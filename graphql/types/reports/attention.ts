import type { HostToLookAt, RaisedPrice } from '../../../modules/anomalies/use/attention.ts';
import {
  breachedRules,
  countLicencesEnding,
  failingDeliveries,
  failingEndpoints,
  freeForWantOfAuthors,
  hostsToLookAt,
  LOOK_AHEAD_MS,
  LOOK_BACK_MS,
  licencesEnding,
  MAX_LISTED,
  MAX_PRETENDED,
  masqueraded as masqueradedOf,
  raisedPrice,
  waitingMoney,
} from '../../../modules/anomalies/use/attention.ts';
import type { CheckReason } from '../../../modules/hosts/rules/challenge.ts';
import type { Prices } from '../../../modules/pricing/rules/pricing.ts';
import type { AgentTotals } from '../../../modules/reports/use/lists/agents.ts';
import { MAX_FAILING } from '../../../modules/reports/use/webhookTimes.ts';
import { MAX_ENDPOINTS } from '../../../modules/webhooks/rules/endpoint.ts';
import { LIST_COST, REPORT_COST, ROW_COST } from '../../limits/limits.ts';
import { builder } from '../../schema/builder.ts';
import type { Site } from '../../schema/site.ts';
import { Tenant } from '../../schema/site.ts';
import { CheckReasonName } from '../../schema/words.ts';
import { RuleType } from '../account.ts';
import { EnforcementType } from '../hosts.ts';
import { SoldLicenceType } from '../refs.ts';
import { EndpointType } from '../webhooks.ts';
import { AgentType } from './audit.ts';

const HostType = builder.objectRef<HostToLookAt>('HostToLookAt').implement({
  description: 'A host that is not proven, fails its rechecks, is not held, or whose gate served pages free while we were away.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'The hostname.' }),
    verifiedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Since when it is proven; null: it is not.',
      resolve: ({ verifiedAt }) => verifiedAt,
    }),
    failingSince: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Since when its rechecks fail.',
      resolve: ({ failingSince }) => failingSince,
    }),
    lastReason: t.field({
      type: CheckReasonName,
      nullable: true,
      description: 'Why the last check proved nothing.',
      resolve: ({ lastReason }) => lastReason as CheckReason | null,
    }),
    failedOpenAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When its gate said last that it served pages free while we were away.',
      resolve: ({ status }) => status.failedOpenAtMs,
    }),
    enforcement: t.field({ type: EnforcementType, description: 'Who enforces on it.', resolve: ({ status }) => status }),
  }),
});

/** A price of reads and citations. */
export const PricesType = builder.objectRef<Prices>('ReadAndCitationPrice').implement({
  description: 'What a read costs, and how many reads a citation does.',
  fields: (t) => ({
    priceUsdc: t.exposeString('priceUsdc', { description: 'USD of a read, a decimal.' }),
    citationMultiplier: t.exposeString('citationMultiplier', {
      nullable: true,
      description: 'How many times a read a citation costs; null: 5.',
    }),
  }),
});

const RaisedPriceType = builder.objectRef<RaisedPrice>('RaisedPrice').implement({
  description: 'A price that was stored below the lowest one.',
  fields: (t) => ({
    stored: t.field({ type: PricesType, description: 'What its owner set.', resolve: ({ stored }) => stored }),
    charged: t.field({ type: PricesType, description: 'What is charged in its place.', resolve: ({ charged }) => charged }),
  }),
});

const WaitingMoney = builder.objectRef<Waiting['unsettled']>('WaitingMoney').implement({
  description: 'Live payments that stand alike.',
  fields: (t) => ({
    payments: t.exposeInt('payments', { description: 'How many.' }),
    amountMicro: t.field({ type: 'Micro', description: 'What they come to.', resolve: ({ micro }) => micro }),
    micro: t.field({
      type: 'Micro',
      description: 'What they come to.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    oldestAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the oldest of them was stored; null without any.',
      resolve: ({ oldestAtMs }) => oldestAtMs,
    }),
  }),
});

type Waiting = Awaited<ReturnType<typeof waitingMoney>>;

const WaitingType = builder.objectRef<Waiting>('Waiting').implement({
  description:
    'Money on its way, of whatever time: what no safe block of the chain proves yet. `reconciliation` compares each leg instead.',
  fields: (t) => ({
    total: t.field({ type: WaitingMoney, description: 'All of it.', resolve: ({ total }) => total }),
    unsettled: t.field({
      type: WaitingMoney,
      description: 'Taken in or held, not settled.',
      resolve: ({ unsettled }) => unsettled,
    }),
    unfinal: t.field({ type: WaitingMoney, description: 'Settled, not final.', resolve: ({ unfinal }) => unfinal }),
    review: t.field({ type: WaitingMoney, description: 'For a person to look at.', resolve: ({ review }) => review }),
  }),
});

const days = (ms: number): string => `${ms / 86_400_000} days`;

/** What of a site needs a look; what two fields tell of is read once. */
interface ToLookAt {
  readonly site: Site;
  readonly hosts: () => Promise<readonly HostToLookAt[]>;
  readonly masqueraded: () => Promise<readonly AgentTotals[]>;
}

const Attention = builder.objectRef<ToLookAt>('Attention').implement({
  description: 'What of a site needs a look now; each part is read when it is asked for, and says which scope a key needs.',
  fields: (t) => ({
    since: t.field({
      type: 'EpochMs',
      description: `How far back requests are looked at: ${days(LOOK_BACK_MS)}.`,
      resolve: (_all, _args, { deps }) => deps.clock() - LOOK_BACK_MS,
    }),
    failingEndpoints: t.field({
      type: [EndpointType],
      nullable: true,
      description: 'Webhook endpoints that fail, or were switched off because they did. Scope tenant.read.',
      authScopes: { reads: 'tenant.read' },
      complexity: LIST_COST,
      resolve: ({ site }, _args, { deps }) => failingEndpoints(deps, site.tenantId, MAX_ENDPOINTS),
    }),
    failingDeliveries: t.int({
      nullable: true,
      description: `Deliveries that were tried in vain and will be tried again; ${MAX_FAILING} stands for more. Scope earnings.read.all.`,
      authScopes: { reads: 'earnings.read.all' },
      complexity: LIST_COST,
      resolve: ({ site }, _args, { deps }) => failingDeliveries(deps, site.tenantId),
    }),
    hosts: t.field({
      type: [HostType],
      nullable: true,
      description: `Hosts somebody should look at, by name; the first ${MAX_LISTED}. Scope tenant.read.`,
      authScopes: { reads: 'tenant.read' },
      complexity: LIST_COST,
      resolve: async ({ hosts }) => (await hosts()).slice(0, MAX_LISTED),
    }),
    hostCount: t.int({
      nullable: true,
      description: 'How many hosts there are to look at. Scope tenant.read.',
      authScopes: { reads: 'tenant.read' },
      complexity: LIST_COST,
      resolve: async ({ hosts }) => (await hosts()).length,
    }),
  }),
});

builder.objectFields(Attention, (t) => ({
  waiting: t.field({
    type: WaitingType,
    nullable: true,
    description: 'Money on its way; read from what is open alone. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: LIST_COST,
    resolve: ({ site }, _args, { deps }) => waitingMoney(deps, site.tenantId),
  }),
  licencesEnding: t.field({
    type: [SoldLicenceType],
    nullable: true,
    description: `Licences in force that end within ${days(LOOK_AHEAD_MS)}, the first to end first; ${MAX_LISTED} at most. Scope earnings.read.all.`,
    authScopes: { reads: 'earnings.read.all' },
    complexity: LIST_COST,
    resolve: ({ site }, _args, { deps }) => licencesEnding(deps, site.tenantId),
  }),
  licencesEndingCount: t.int({
    nullable: true,
    description: 'How many licences end within that time. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: LIST_COST,
    resolve: ({ site }, _args, { deps }) => countLicencesEnding(deps, site.tenantId),
  }),
  masqueraded: t.field({
    type: [AgentType],
    nullable: true,
    description: `Agents that others pretended to be since then, by signatures that failed and addresses that are not theirs; the ${MAX_PRETENDED} with the most. Scope audit.read.`,
    authScopes: { reads: 'audit.read' },
    complexity: REPORT_COST,
    resolve: async ({ masqueraded }) => (await masqueraded()).slice(0, MAX_PRETENDED),
  }),
  masqueradeAttempts: t.int({
    nullable: true,
    description: 'All requests since then from agents that are not who they claim to be. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: REPORT_COST,
    resolve: async ({ masqueraded }) =>
      (await masqueraded()).reduce((sum, { masqueradeAttempts }) => sum + masqueradeAttempts, 0),
  }),
  freeForWantOfAuthors: t.int({
    nullable: true,
    description:
      'Requests of agents since then for pages that were free because no author is named to be paid. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: REPORT_COST,
    resolve: ({ site }, _args, { deps }) => freeForWantOfAuthors(deps, site),
  }),
  rules: t.field({
    type: [RuleType],
    nullable: true,
    description: 'Anomaly rules that are out of bounds now. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: LIST_COST,
    resolve: async ({ site: { tenantId } }, _args, { deps }) =>
      (await breachedRules(deps, tenantId)).map((rule) => ({ ...rule, tenantId })),
  }),
  raisedPrice: t.field({
    type: RaisedPriceType,
    nullable: true,
    description: 'The price of the site, where it was stored below the lowest one; null otherwise. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: ({ site }, _args, { deps }) => raisedPrice(deps, site.tenantId),
  }),
}));

/** Reads once, however often it is called. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => (found ??= read());
}

builder.objectField(Tenant, 'attention', (t) =>
  t.field({
    type: Attention,
    description: 'What of it needs a look now.',
    resolve: (site, _args, { deps }) => ({
      site,
      hosts: once(() => hostsToLookAt(deps, site.tenantId)),
      masqueraded: once(() => masqueradedOf(deps, site)),
    }),
  }),
);
