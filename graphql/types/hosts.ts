import { enforcementStatus } from '../../modules/gate/use/enforcement.ts';
import type { ChallengeView, CheckReason } from '../../modules/hosts/rules/challenge.ts';
import type { EnforcementStatus, Track as TrackWord } from '../../modules/hosts/rules/enforcementStatus.ts';
import { listHosts } from '../../modules/hosts/use/challenges.ts';
import type { Host } from '../../modules/reports/use/lists/lists.ts';
import { hosts } from '../../modules/reports/use/lists/lists.ts';
import { ROW_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { ProofMethod } from '../schema/enums.ts';
import { filterText, hostFilter } from '../schema/inputs.ts';
import { keyIn, loadBySite } from '../schema/loading.ts';
import { identified, Node } from '../schema/node.ts';
import { Tenant } from '../schema/site.ts';
import {
  BasisName,
  CapabilityName,
  CheckReasonName,
  CodeArtifactName,
  ConfidenceName,
  EnforcementModeName,
  NextActionName,
  TrackName,
  TrackStateName,
} from '../schema/words.ts';

const PresentedPart = builder.objectRef<{ readonly name: string; readonly value: string }>('ProofPart').implement({
  description: 'One part of what proves a host.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it is, for example `url` or `recordName`.' }),
    value: t.exposeString('value', { description: 'What to put there.' }),
  }),
});

const ChallengeType = builder.objectRef<ChallengeView>('HostChallenge').implement({
  description: 'The task that proves a host.',
  fields: (t) => ({
    method: t.field({ type: ProofMethod, description: 'How it is proven.', resolve: ({ method }) => method }),
    token: t.exposeString('token', { description: 'What must be found at the host.' }),
    present: t.field({
      type: [PresentedPart],
      description: 'Where to put it, part by part.',
      resolve: ({ present }) => Object.entries(present).map(([name, value]) => ({ name, value: String(value) })),
    }),
    capability: t.field({
      type: CapabilityName,
      description: 'What the site lets its owner install.',
      resolve: ({ capability }) => capability,
    }),
    codeArtifact: t.field({
      type: CodeArtifactName,
      nullable: true,
      description: 'What of ours fits the site.',
      resolve: ({ codeArtifact }) => codeArtifact,
    }),
  }),
});

const TRACKS = ['fleet', 'in_app', 'ownership', 'key'] as const;

const Track = builder
  .objectRef<{ readonly name: (typeof TRACKS)[number]; readonly state: TrackWord }>('EnforcementTrack')
  .implement({
    description: 'One way a host is held.',
    fields: (t) => ({
      name: t.field({ type: TrackName, description: 'Which way.', resolve: ({ name }) => name }),
      state: t.field({ type: TrackStateName, description: 'Where it stands.', resolve: ({ state }) => state }),
    }),
  });

/** Who enforces on a host. */
export const EnforcementType = builder.objectRef<EnforcementStatus>('EnforcementStatus').implement({
  description: 'Who enforces on a host, from what was heard and seen of it.',
  fields: (t) => ({
    mode: t.field({ type: EnforcementModeName, description: 'Who does.', resolve: ({ mode }) => mode }),
    confidence: t.field({ type: ConfidenceName, description: 'How sure that is.', resolve: ({ confidence }) => confidence }),
    basedOn: t.field({ type: [BasisName], description: 'What the verdict rests on.', resolve: ({ basedOn }) => [...basedOn] }),
    nextAction: t.field({
      type: NextActionName,
      description: 'What somebody should do.',
      resolve: ({ nextAction }) => nextAction,
    }),
    attention: t.exposeBoolean('attention', { description: 'True when somebody should look.' }),
    recordToFix: t.exposeString('recordToFix', { nullable: true, description: 'The DNS name to change, where DNS is wrong.' }),
    lastCheckedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was looked at last.',
      resolve: ({ lastCheckedAtMs }) => lastCheckedAtMs,
    }),
    tracks: t.field({
      type: [Track],
      description: 'Each way it is held.',
      resolve: ({ tracks }) => TRACKS.map((name) => ({ name, state: tracks[name] })),
    }),
  }),
});

/** A host of a site. */
export const HostType = builder.objectRef<Host>('Host');

identified(HostType, {
  reads: 'tenant.read',
  idOf: ({ host }) => host,
  find: ({ deps }, site, host) => hosts.find(deps, site.tenantId, { host }),
});

HostType.implement({
  interfaces: [Node],
  description: 'A host of the site, proven or on its way there.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'The hostname.' }),
    verifiedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Since when it is proven; null until then, and after it lapsed.',
      resolve: ({ verifiedAt }) => verifiedAt,
    }),
    routingVerifiedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was seen to lead to our fleet.',
      resolve: ({ routingVerifiedAt }) => routingVerifiedAt,
    }),
    checkedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was checked last.',
      resolve: ({ checkedAt }) => checkedAt,
    }),
    nextCheckAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it is checked next.',
      resolve: ({ nextCheckAt }) => nextCheckAt,
    }),
    failingSince: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Since when rechecks of a proven host fail.',
      resolve: ({ failingSince }) => failingSince,
    }),
    lastReason: t.field({
      type: CheckReasonName,
      nullable: true,
      description: 'Why the last check proved nothing.',
      resolve: ({ lastReason }) => lastReason as CheckReason | null,
    }),
    challenge: t.loadable({
      type: ChallengeType,
      nullable: true,
      description: 'The task that proves it; null when none was opened.',
      complexity: ROW_COST,
      load: (keys: string[], { deps }) =>
        loadBySite(keys, async (tenantId, names) => {
          const views = await listHosts({ ...deps, database: deps.reading }, tenantId);
          const byHost = new Map(views.map((view) => [view.host, view]));
          return names.map((name) => byHost.get(name) ?? null);
        }),
      resolve: (host) => (host.hasChallenge ? keyIn(host, host.host) : null),
    }),
    enforcement: t.loadable({
      type: EnforcementType,
      nullable: true,
      description: 'Who enforces on it.',
      complexity: ROW_COST,
      load: (keys: string[], { deps }) =>
        loadBySite(keys, async (tenantId, names) => {
          const found = await enforcementStatus({ ...deps, database: deps.reading }, tenantId);
          const byHost = new Map(found.hosts.map((status) => [status.host, status]));
          return names.map((name) => byHost.get(name) ?? null);
        }),
      resolve: (host) => keyIn(host, host.host),
    }),
  }),
});

const HostConnection = connectionOf(HostType, 'Host', 'hosts, by name');

builder.objectField(Tenant, 'hosts', (t) =>
  t.field({
    type: HostConnection,
    nullable: true,
    description: 'Hosts of the site and hosts it has begun to prove. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: listCost,
    args: {
      ...pageArgs,
      host: t.arg.string({ description: 'This one alone.', validate: filterText }),
      verified: t.arg.boolean({ description: 'Proven ones alone, or the others.' }),
    },
    resolve: async (site, { host, verified, ...page }, { deps }) => {
      const request = pageRequest(page, 'NAME');
      const which = { host: hostFilter(host), verified: verified ?? null };
      return findPage(request, () => hosts.page(deps, site.tenantId, which, request));
    },
  }),
);
