import { z } from 'zod';
import { MASQUERADE, robotClassOf } from '../../modules/gate/rules/visitors.ts';
import { FAILURE_REASONS } from '../../modules/kernel/errors.ts';
import { WITHOUT_402 } from '../../modules/kernel/payment/answered.ts';
import { NO_CREDITS } from '../../modules/pricing/rules/pricing.ts';
import type { Observation } from '../../modules/reports/use/lists/lists.ts';
import { observations } from '../../modules/reports/use/lists/lists.ts';
import { observationPage } from '../../modules/reports/use/lists/observationPage.ts';
import type { GraphqlContext } from '../request/context.ts';
import { builder } from '../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { Classification, CrossingKind, TimeOrder, Verdict, VisitorClassName } from '../schema/enums.ts';
import { filterText, hostFilter, lower, rowId } from '../schema/inputs.ts';
import { identified, Node } from '../schema/node.ts';
import { namesPages } from '../schema/pageNames.ts';
import type { Site } from '../schema/site.ts';
import { Tenant } from '../schema/site.ts';
import { WindowInput, windowOf } from '../schema/windows.ts';
import { ObservationReasonName } from '../schema/words.ts';
import { ObservationType } from './refs.ts';

type VerdictName = 'served-free' | 'agent-reread' | 'denied' | 'blocked' | 'paid' | 'payment-failed' | 'unservable';

/** Classes that gates find by more than a name. */
const FOUND = ['pretender', MASQUERADE] as const;
/** Nothing is observed later than minutes from now; days to come need not be opened. */
const AHEAD_MS = 86_400_000;

ObservationType.implement({
  interfaces: [Node],
  description: 'One reported or derived verdict about a request.',
  fields: (t) => ({
    observationId: t.exposeID('observationId', { description: 'Its id.' }),
    host: t.exposeString('host', { description: 'The host that was asked.' }),
    slug: t.exposeString('slug', { description: 'The page.' }),
    kind: t.field({ type: CrossingKind, nullable: true, description: 'Read or citation.', resolve: ({ kind }) => kind }),
    verdict: t.field({
      type: Verdict,
      description: 'What became of the request.',
      resolve: ({ verdict }) => verdict as VerdictName,
    }),
    classifiedAs: t.field({
      type: Classification,
      description: 'Whom the gate took the reader for.',
      resolve: ({ classifiedAs }) => classifiedAs,
    }),
    reason: t.field({
      type: ObservationReasonName,
      nullable: true,
      description: 'Why the payment failed, why the page was free, or that the sale answers no 402.',
      resolve: ({ reason }) => reason as 'no_credits' | null,
    }),
    agent: t.exposeString('agent', {
      description: 'The label of the agent: a verified host, a known crawler, the name it gives itself, or `other`.',
    }),
    agentUa: t.exposeString('agentUa', { nullable: true, description: 'The User-Agent.' }),
    visitorClass: t.field({
      type: VisitorClassName,
      nullable: true,
      description:
        'The class of the agent by the name it gives itself, or what the gate found it to be; null: the gate took it for a person.',
      resolve: ({ classifiedAs, classifyReason, agentUa, agent }) => {
        if (classifiedAs === 'human') return null;
        return FOUND.find((one) => one === classifyReason) ?? robotClassOf(agentUa ?? agent);
      },
    }),
    classifyReason: t.exposeString('classifyReason', { nullable: true, description: 'Why the gate took it for that.' }),
    verified: t.exposeBoolean('verified', { nullable: true, description: 'True when a signature of the agent verified.' }),
    verifiedAgent: t.exposeString('verifiedAgent', { nullable: true, description: 'Whose signature it was.' }),
    sigInvalid: t.exposeBoolean('sigInvalid', {
      nullable: true,
      description:
        'True when the agent is not who it claims to be: its signature failed or, where `classifyReason` is `masquerade`, its address is not the named robot’s.',
    }),
    amountMicro: t.field({ type: 'Micro', nullable: true, description: 'The price asked.', resolve: ({ micro }) => micro }),
    micro: t.field({
      type: 'Micro',
      nullable: true,
      description: 'The price asked.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    at: t.field({ type: 'EpochMs', description: 'When.', resolve: ({ at }) => at }),
  }),
});

identified(ObservationType, {
  reads: 'audit.read',
  idOf: ({ observationId, at }) => `${observationId} ${at.getTime()}`,
  find: findObservation,
});

namesPages(ObservationType, (observation) => observation);

/** Observations lie by time: an id says when it was. */
async function findObservation({ deps }: Pick<GraphqlContext, 'deps'>, site: Site, id: string): Promise<Observation | null> {
  const [, observationId, at] = /^([0-9a-f-]{36}) (\d{1,15})$/.exec(id) ?? [];
  const [key, atMs] = [rowId(observationId ?? ''), Number(at)];
  const { fromMs } = windowOf(site, null, deps.clock());
  if (key === null || atMs < fromMs) return null;
  return await observations.find(deps, site.tenantId, { id: key, window: { fromMs: atMs, toMs: atMs + 1 } });
}

/** Why a payment failed, a page was free, or a sale answers no 402. */
const REASONS = [...FAILURE_REASONS, NO_CREDITS, WITHOUT_402] as const;

const ObservationFilter = builder.inputType('ObservationFilter', {
  description: 'Which observations; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When.' }),
    verdicts: t.field({ type: [Verdict], description: 'With one of these verdicts.' }),
    classifiedAs: t.field({ type: Classification, description: 'Of people or agents alone.' }),
    host: t.string({ description: 'On this host.', validate: filterText }),
    slug: t.string({ description: 'Of this page.', validate: filterText }),
    kind: t.field({ type: CrossingKind, description: 'Of reads or citations alone.' }),
    agent: t.string({ description: 'Of the agent with this label.', validate: filterText }),
    agentName: t.string({
      description: 'Only requests with exactly this name, as `otherAgents` shows it.',
      validate: filterText,
    }),
    verified: t.boolean({ description: 'With, or without, a signature that verified.' }),
    sigInvalid: t.boolean({
      description: 'With, or without, a failed signature or an address that is not the named robot’s.',
    }),
    reason: t.string({
      description: `With this reason, in either case: one of ${REASONS.join(', ')}.`,
      validate: z
        .string()
        .refine((text) => REASONS.some((reason) => reason === text.toLowerCase()), `must be one of ${REASONS.join(', ')}`)
        .nullish(),
    }),
    minMicro: t.field({ type: 'Micro', description: 'Of at least this price.' }),
    maxMicro: t.field({ type: 'Micro', description: 'Of at most this price.' }),
  }),
});

const ObservationConnection = connectionOf(ObservationType, 'Observation', 'observations');

builder.objectField(Tenant, 'observations', (t) =>
  t.field({
    type: ObservationConnection,
    nullable: true,
    description: 'What was observed, row by row; those that stand. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: ObservationFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, host, reason, ...rest } = filter ?? {};
      const order = orderBy ?? 'NEWEST';
      const request = { ...pageRequest(page, order), orderBy: order };
      const nowMs = deps.clock();
      const readable = windowOf(site, window, nowMs);
      const which = {
        ...rest,
        reason: lower(reason),
        host: hostFilter(host),
        window: { ...readable, toMs: readable.toMs ?? nowMs + AHEAD_MS },
      };
      return findPage(request, () => observationPage(deps, site.tenantId, which, request));
    },
  }),
);
