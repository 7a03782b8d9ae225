import type { ShownRule } from '../../modules/anomalies/use/rules.ts';
import { listRules } from '../../modules/anomalies/use/rules.ts';
import type { AuthorMember } from '../../modules/identity/use/members.ts';
import { listMembers } from '../../modules/identity/use/members.ts';
import type { ReadingDeps } from '../../modules/paging/use/deps.ts';
import type { Owned } from '../../modules/paging/use/pages.ts';
import { pageOf } from '../../modules/paging/use/pages.ts';
import type { AuditLogEntry, PublisherKey } from '../../modules/reports/use/lists/lists.ts';
import { auditLog, publisherKeys } from '../../modules/reports/use/lists/lists.ts';
import { builder } from '../schema/builder.ts';
import { connect, connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { AnomalyMetricName, AnomalyRange, KeyScope, TimeOrder } from '../schema/enums.ts';
import { filterText } from '../schema/inputs.ts';
import { identified, Node } from '../schema/node.ts';
import { Tenant } from '../schema/site.ts';
import { WindowInput, windowOf } from '../schema/windows.ts';
import { ActorViaName, RulePhaseName } from '../schema/words.ts';

type Rule = Owned<ShownRule>;

/** A rule that tells when a figure goes out of bounds. */
export const RuleType = builder.objectRef<Rule>('AnomalyRule');

identified(RuleType, {
  reads: 'audit.read',
  isRowId: true,
  idOf: ({ ruleId }) => ruleId,
  find: async ({ deps }, { tenantId }, id) => (await rulesOf(deps, tenantId)).find(({ ruleId }) => ruleId === id) ?? null,
});

async function rulesOf({ reading, clock }: ReadingDeps, tenantId: string): Promise<Rule[]> {
  return (await listRules({ database: reading }, tenantId, clock())).map((rule) => ({ ...rule, tenantId }));
}

RuleType.implement({
  interfaces: [Node],
  description: 'A rule that tells when a figure of the site goes out of bounds.',
  fields: (t) => ({
    ruleId: t.exposeID('ruleId', { description: 'Its id.' }),
    metric: t.field({ type: AnomalyMetricName, description: 'What it watches.', resolve: ({ metric }) => metric }),
    range: t.field({ type: AnomalyRange, description: 'Over which time.', resolve: ({ rangeKey }) => rangeKey }),
    threshold: t.exposeFloat('threshold', { description: 'From where on it is out of bounds.' }),
    host: t.exposeString('host', { nullable: true, description: 'On which host; null: all.' }),
    enabled: t.exposeBoolean('enabled', { description: 'True while it is looked at.' }),
    phase: t.field({ type: RulePhaseName, description: 'What it does now.', resolve: ({ phase }) => phase }),
    firedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it told last.',
      resolve: ({ firedAtMs }) => firedAtMs,
    }),
  }),
});

/** A publisher key. */
export const KeyType = builder.objectRef<PublisherKey>('PublisherKey');

identified(KeyType, {
  reads: 'owner',
  isRowId: true,
  idOf: ({ keyId }) => keyId,
  find: ({ deps }, site, id) => publisherKeys.find(deps, site.tenantId, { id }),
});

KeyType.implement({
  interfaces: [Node],
  description: 'A publisher key. The key itself was shown once and is not kept.',
  fields: (t) => ({
    keyId: t.exposeID('keyId', { description: 'Names it; no secret.' }),
    name: t.exposeString('name', { description: 'What it is for.' }),
    prefix: t.exposeString('prefix', { description: 'How it begins.' }),
    last4: t.exposeString('last4', { description: 'Its last four characters.' }),
    scopes: t.field({ type: [KeyScope], description: 'What it may do.', resolve: ({ scopes }) => scopes as 'tenant.read'[] }),
    createdAt: t.field({ type: 'EpochMs', description: 'When it was minted.', resolve: ({ createdAt }) => createdAt }),
    expiresAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it ends.',
      resolve: ({ expiresAt }) => expiresAt,
    }),
    lastUsedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was last let in, to the minute; null: never.',
      resolve: ({ lastUsedAt }) => lastUsedAt,
    }),
    revokedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was revoked.',
      resolve: ({ revokedAt }) => revokedAt,
    }),
  }),
});

/** An author on the roster. */
export const MemberType = builder.objectRef<AuthorMember>('Member');

identified(MemberType, {
  reads: 'member.read',
  idOf: ({ authorId }) => authorId,
  find: async ({ deps }, { tenantId }, id) => {
    const { authors } = await listMembers({ ...deps, database: deps.reading }, tenantId);
    return authors.find(({ authorId }) => authorId === id) ?? null;
  },
});

MemberType.implement({
  interfaces: [Node],
  description: 'An author on the roster.',
  fields: (t) => ({
    authorId: t.exposeID('authorId', { description: 'The author’s id.' }),
    email: t.exposeString('email', { description: 'Where the invitation went.' }),
    userId: t.exposeString('userId', { nullable: true, description: 'The user who accepted.' }),
    accepted: t.exposeBoolean('accepted', { description: 'True when the invitation was accepted.' }),
    inviteToken: t.exposeString('inviteToken', {
      nullable: true,
      description: 'The open invitation; null when there is none, and for keys an error.',
      authScopes: { owner: true },
    }),
  }),
});

const AuditLogType = builder.objectRef<AuditLogEntry>('AuditLogEntry');

identified(AuditLogType, {
  reads: 'owner',
  isRowId: true,
  idOf: ({ entryId }) => entryId,
  find: ({ deps }, site, id) => auditLog.find(deps, site.tenantId, { id }),
});

AuditLogType.implement({
  interfaces: [Node],
  description: 'One change an owner made.',
  fields: (t) => ({
    entryId: t.exposeID('entryId', { description: 'Its id.' }),
    at: t.field({ type: 'EpochMs', description: 'When.', resolve: ({ at }) => at }),
    actorId: t.exposeString('actorId', { description: 'Who.' }),
    actorVia: t.field({
      type: ActorViaName,
      description: 'How they had signed in.',
      resolve: ({ actorVia }) => actorVia,
    }),
    action: t.exposeString('action', { description: 'What they did, for example `key.mint`.' }),
    target: t.exposeString('target', { nullable: true, description: 'To what; null: the site.' }),
    before: t.exposeString('before', { nullable: true, description: 'JSON text of what it was; null: nothing.' }),
    after: t.exposeString('after', { nullable: true, description: 'JSON text of what it is; null: nothing.' }),
  }),
});

const AuditLogFilter = builder.inputType('AuditLogFilter', {
  description: 'Which changes; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When.' }),
    action: t.string({ description: 'This action.', validate: filterText }),
    actorId: t.string({ description: 'By this user.', validate: filterText }),
    target: t.string({ description: 'To this.', validate: filterText }),
  }),
});

const RuleConnection = connectionOf(RuleType, 'AnomalyRule', 'anomaly rules, the oldest first');
const KeyConnection = connectionOf(KeyType, 'PublisherKey', 'keys');
const MemberConnection = connectionOf(MemberType, 'Member', 'authors on the roster');
const AuditLogConnection = connectionOf(AuditLogType, 'AuditLogEntry', 'changes');

builder.objectFields(Tenant, (t) => ({
  anomalyRules: t.field({
    type: RuleConnection,
    nullable: true,
    description: 'Rules that tell when a figure goes out of bounds. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: listCost,
    args: pageArgs,
    resolve: async (site, page, { deps }) => {
      const request = pageRequest(page, 'OLDEST');
      return connect(pageOf(await rulesOf(deps, site.tenantId), ({ ruleId }) => ruleId, request));
    },
  }),
  keys: t.field({
    type: KeyConnection,
    nullable: true,
    description: 'Keys of the site, never the secret. For owners.',
    authScopes: { owner: true },
    complexity: listCost,
    args: {
      ...pageArgs,
      active: t.arg.boolean({ description: 'True: those that are neither revoked nor expired.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { active, orderBy, ...page }, { deps }) => {
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = active ? { activeAtMs: deps.clock() } : {};
      return findPage(request, () => publisherKeys.page(deps, site.tenantId, which, request));
    },
  }),
  members: t.field({
    type: MemberConnection,
    nullable: true,
    description: 'The author roster. Scope member.read.',
    authScopes: { reads: 'member.read' },
    complexity: listCost,
    args: pageArgs,
    resolve: async (site, page, { deps }) => {
      const request = pageRequest(page, 'OLDEST');
      const { authors } = await listMembers({ ...deps, database: deps.reading }, site.tenantId);
      return connect(pageOf(authors, ({ authorId }) => authorId, request));
    },
  }),
  auditLog: t.field({
    type: AuditLogConnection,
    nullable: true,
    description: 'Who changed what, and what it was before. For owners.',
    authScopes: { owner: true },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: AuditLogFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, ...rest } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = { ...rest, ...(window ? { window: windowOf(site, window, deps.clock()) } : {}) };
      return findPage(request, () => auditLog.page(deps, site.tenantId, which, request));
    },
  }),
}));
