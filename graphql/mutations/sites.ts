import { z } from 'zod';
import { CHALLENGE_METHODS } from '../../modules/hosts/rules/challenge.ts';
import type { BegunSite } from '../../modules/operations/use/createOwnSite.ts';
import { createOwnSite } from '../../modules/operations/use/createOwnSite.ts';
import type { TestPurchase, TestStep } from '../../modules/storefront/use/testPurchase.ts';
import { testPurchase } from '../../modules/storefront/use/testPurchase.ts';
import { builder } from '../schema/builder.ts';
import { ProofMethod, TestPurchaseStepName } from '../schema/enums.ts';
import { beginnerMutation, line, optional, ownerMutation, TENANT_ID } from './field.ts';
import { PresentEntry } from './hosts.ts';

const MAX_HOST_CHARS = 253;

const CreateSitePayload = builder.objectRef<BegunSite>('CreateSitePayload').implement({
  description: 'A site that has begun. It has no host until the challenge is met, and costs nothing until a price is set.',
  fields: (t) => ({
    tenantId: t.exposeID('tenantId', { description: 'The site.' }),
    host: t.string({ description: 'The host to prove.', resolve: ({ challenge }) => challenge.host }),
    method: t.field({ type: ProofMethod, description: 'How.', resolve: ({ challenge }) => challenge.method }),
    present: t.field({
      type: [PresentEntry],
      description: 'What to show on the host, so that a check finds it.',
      resolve: ({ challenge }) => Object.entries(challenge.present).map(([name, value]) => ({ name, value: String(value) })),
    }),
  }),
});

const StepType = builder.objectRef<TestStep>('TestPurchaseStep').implement({
  description: 'One step of a purchase that was played.',
  fields: (t) => ({
    step: t.field({ type: TestPurchaseStepName, description: 'Which.', resolve: ({ step }) => step }),
    passed: t.exposeBoolean('passed', {
      nullable: true,
      description: 'True when it went as it must; null: not tried, since one before it failed.',
    }),
    says: t.exposeString('says', { description: 'What was seen, or what to do.' }),
  }),
});

const TestPurchasePayload = builder.objectRef<TestPurchase>('TestPurchasePayload').implement({
  description: 'What a purchase in test mode came to.',
  fields: (t) => ({
    passed: t.exposeBoolean('passed', { description: 'True when the page sells.' }),
    resource: t.exposeString('resource', { nullable: true, description: 'The page that was bought; null: none was found.' }),
    priceMicro: t.field({
      type: 'Micro',
      nullable: true,
      description: 'What it costs, in micro-USDC; null: it is free, or was not found.',
      resolve: ({ priceMicro }) => priceMicro,
    }),
    steps: t.field({ type: [StepType], description: 'Every step, in its order.', resolve: ({ steps }) => [...steps] }),
  }),
});

ownerMutation('testPurchase', {
  description:
    'Plays the sale of a page with a wallet without money, by the rules of test keys, and asks the site for the page as an agent does. No money moves and nothing is counted but what the site itself reports. At most thirty an hour.',
  input: builder.inputType('TestPurchaseInput', {
    description: 'A page to buy in test mode.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      slug: t.string({ required: true, description: 'The page, as it stands after the article prefix.' }),
      host: t.string({ description: 'On which proven host; left out: the first.' }),
    }),
  }),
  schema: z.object({ slug: line(512), host: optional(line(MAX_HOST_CHARS)) }),
  payload: TestPurchasePayload,
  change: (deps, call, { slug, host }) => testPurchase(deps, call, { slug, ...(host === undefined ? {} : { host }) }),
});

beginnerMutation('createSite', {
  description:
    'Adds a site of your own and opens the challenge of its first host, where the operator lets owners do so. Again for a host that waits: the same site.',
  input: builder.inputType('CreateSiteInput', {
    description: 'A site to add.',
    fields: (t) => ({
      host: t.string({ required: true, description: 'Its first host name, to be proven.' }),
      method: t.field({ type: ProofMethod, description: 'How to prove it; left out: `WELL_KNOWN`.' }),
    }),
  }),
  schema: z.object({ host: line(MAX_HOST_CHARS), method: optional(z.enum(CHALLENGE_METHODS)) }),
  payload: CreateSitePayload,
  change: (deps, owner, { host, method }) => createOwnSite(deps, owner, { host, method: method ?? 'well-known' }),
});
