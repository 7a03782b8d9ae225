/** Two sites of two owners with one of everything an owner can change, and the GraphQL document's mutations to change it with. */
import { randomBytes, randomUUID } from 'node:crypto';
import { graphql } from 'graphql';
import type { Database } from '../../db/database.ts';
import { json, run, tables } from '../../db/statement.ts';
import { Budget } from '../../graphql/limits/budget.ts';
import type { GraphqlContext, GraphqlDeps } from '../../graphql/request/context.ts';
import { schema } from '../../graphql/schema/schema.ts';
import { createRule } from '../../modules/anomalies/use/rules.ts';
import { HOST_TIMES } from '../../modules/hosts/rules/challengeSchedule.ts';
import { findKey, mintKey } from '../../modules/identity/use/keys/keys.ts';
import { inviteMember } from '../../modules/identity/use/members.ts';
import { authenticateOwner } from '../../modules/identity/use/owners/authenticate.ts';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import { startTestApi, WALLETS } from './api.ts';

/** A site with one of everything. */
export interface OwnedWorld {
  readonly tenantId: string;
  readonly host: string;
  readonly key: string;
  readonly keyId: string;
  readonly ownerToken: string;
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly ruleId: string;
  readonly jti: string;
}

/** The answer of one mutation: its result, or the errors. */
export interface MutationAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: results of many shapes
  readonly result: any;
  readonly errors: readonly { readonly message: string; readonly code: unknown }[];
}

/** Starts the deps of the API on a database of its own; `more` stands in place of its own. */
export async function startOwnerWorld(more: Partial<GraphqlDeps> = {}) {
  const outbound = createOutbound({ allowLoopback: true });
  const hosts = {
    caps: { perHour: 30, perHost: 50, gapMs: 0 },
    times: HOST_TIMES,
    ownHosts: ['svc.example'],
    workflows: { opened: async () => undefined, check: async () => ({ verified: false, reason: 'timeout' }) as const },
  };
  const api = await startTestApi({ hosts });
  const { database, pepper } = api.deps;
  const { secretBox } = api;
  const heavy = openHeavyWork({ connections: { reports: database.pool.options.max, questions: 2 } });
  const changes: GraphqlDeps = { ...api.deps, heavy, outbound, secretBox, oidc: null, ...more };
  const deps = { ...changes, reading: database, networkIds: api.deps.networks.ids };

  const contextOf = async (bearer: string): Promise<GraphqlContext> => {
    const isKey = bearer.startsWith('svc_live_');
    const key = isKey ? await findKey(deps, bearer) : null;
    const owner = isKey ? null : await authenticateOwner(deps, bearer);
    return { deps, changes, requestId: randomUUID(), key, owner, account: null, budget: new Budget() };
  };
  const mutate = async (bearer: string, name: string, input: object, fields = ''): Promise<MutationAnswer> => {
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    const payload = fields === '' ? '' : `... on ${title}Payload { ${fields} }`;
    const source = `mutation ($input: ${title}Input!) { it: ${name}(input: $input) { __typename ${payload} ... on Refusal { code message } } }`;
    const answer = await graphql({ schema, source, variableValues: { input }, contextValue: await contextOf(bearer) });
    const errors = (answer.errors ?? []).map(({ message, originalError, extensions }) => ({
      message,
      code: (originalError as { code?: unknown } | undefined)?.code ?? extensions['code'],
    }));
    return { result: (answer.data?.['it'] ?? null) as MutationAnswer['result'], errors };
  };
  const world = async (): Promise<OwnedWorld> => {
    const { tenantId, host, key } = await api.site();
    const { token: ownerToken } = await createOwnerToken({ database, pepper }, { tenantId, userId: `owner-of-${tenantId}` });
    const { keyId } = await mintKey({ database, pepper }, { tenantId, name: 'spare', scopes: ['tenant.read'] });
    const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, {
      url: 'https://hooks.example.com/in',
    });
    const { deliveryId } = await pingEndpoint({ database }, tenantId, endpointId);
    const rule = { metric: 'denied', rangeKey: '1h', threshold: 10 } as const;
    const { ruleId } = await createRule({ database }, tenantId, rule);
    await inviteMember({ database, pepper, clock: Date.now }, { tenantId, authorId: 'ann', email: 'ann@example.com' });
    const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
    await importPages({ database }, { tenantId, pages: [{ slug: 'old', path: '/articles/old', credits }] });
    return {
      tenantId,
      host,
      key,
      keyId,
      ownerToken,
      endpointId,
      deliveryId,
      ruleId,
      jti: await sellLicence(database, tenantId, host),
    };
  };
  const stop = async (): Promise<void> => {
    await outbound.close();
    await api.stop();
  };
  return { api, deps, database, mutate, world, stop };
}

/** Rows of a licence that was sold and paid for; how that happens is tested elsewhere. */
export async function sellLicence(database: Database, tenantId: string, host: string): Promise<string> {
  const [accountId, offerId, paymentId] = [randomUUID(), randomUUID(), randomUUID()];
  const wallet = WALLETS[0] as `0x${string}`;
  const legs = [{ toAddress: wallet, amountMicro: '1000', role: 'author' }] as const;
  const nonce = `0x${randomBytes(32).toString('hex')}`;
  await database.transaction(async (sql) => {
    await run(sql, tables.insertInto('buyer_account').values({ accountId }));
    const what = { host, patterns: ['/articles/*'], terms: ['ai-input'], kind: 'read' as const };
    const sold = { tenantId, accountId, offerId, ...what };
    const period = { periodFrom: new Date(), periodUntil: new Date(Date.now() + 86_400_000), priceMicro: '1000' };
    const place = { payTo: wallet, network: 'eip155:84532', asset: wallet, router: wallet } as const;
    const offer = { requestHash: 'hash', pages: json([]), legs: json(legs), expiresAt: new Date(Date.now() + 3_600_000) };
    await run(sql, tables.insertInto('licence_offer').values({ ...sold, ...period, ...place, ...offer }));
    await sql.query(
      `insert into test.payment (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature, x402_version,
         host, slug, resource, resource_key, kind, purpose, amount_micro, legs, router, binding, account_id, licence_offer_id, state, tx_hash)
       values ($1, $2, 'eip155:84532', $5, $5, $5, $6, 0, 0, '0x', 2, $3, '', '', '', 'read', 'licence', 1000, $4, $5, '', $7, $8,
         'settled', '0x01')`,
      [tenantId, paymentId, host, JSON.stringify(legs), wallet, nonce, accountId, offerId],
    );
    const licence = { jti: paymentId, paymentId, legs: json(legs), boughtAt: period.periodFrom };
    await run(sql, tables.insertInto('licence').values({ ...sold, ...period, ...licence }));
  });
  return paymentId;
}
