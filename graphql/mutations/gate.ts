import { z } from 'zod';
import type { EnforcementSettings, GateScope } from '../../modules/gate/rules/enforcement.ts';
import type { ClassPolicy, VisitorClass } from '../../modules/gate/rules/visitors.ts';
import { CLASS_POLICIES, VISITOR_CLASSES } from '../../modules/gate/rules/visitors.ts';
import { changeGate } from '../../modules/gate/use/manageGate.ts';
import { builder } from '../schema/builder.ts';
import { ClassPolicyName, GateMode, VisitorClassName } from '../schema/enums.ts';
import { IF_VERSION, ownerMutation, TENANT_ID } from './field.ts';

const MAX_LIST = 200;
const list = (maxChars: number) =>
  z.array(z.string().max(maxChars, `is longer than ${maxChars}`)).max(MAX_LIST, 'has more than 200 entries');

const SetCrawlerPolicyPayload = builder.objectRef<EnforcementSettings>('SetCrawlerPolicyPayload').implement({
  description: 'The crawler policy in force, fragments in lower case.',
  fields: (t) => ({
    allow: t.stringList({ description: 'Fragments that read free.', resolve: ({ crawlerPolicy }) => [...crawlerPolicy.allow] }),
    charge: t.stringList({ description: 'Fragments that pay.', resolve: ({ crawlerPolicy }) => [...crawlerPolicy.charge] }),
    block: t.stringList({ description: 'Fragments that are refused.', resolve: ({ crawlerPolicy }) => [...crawlerPolicy.block] }),
  }),
});

ownerMutation('setCrawlerPolicy', {
  description:
    'Sets what becomes of crawlers by fragments of their User-Agent: block before allow before charge. Gates fetch it with the next price that they ask for, within 5 minutes at most.',
  input: builder.inputType('SetCrawlerPolicyInput', {
    description: 'At most 200 fragments a list, each up to 64 characters, in one list only, and in no User-Agent of a browser.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      allow: t.stringList({ required: true, description: 'Fragments that read free.' }),
      charge: t.stringList({ required: true, description: 'Fragments that pay.' }),
      block: t.stringList({ required: true, description: 'Fragments that are refused.' }),
    }),
  }),
  schema: z.object({ allow: list(200), charge: list(200), block: list(200) }),
  payload: SetCrawlerPolicyPayload,
  change: (deps, call, { allow, charge, block }) =>
    changeGate(deps, call, 'gate.set_crawler_policy', { crawlerPolicy: { allow, charge, block } }),
});

const SetVisitorClassPayload = builder
  .objectRef<{ readonly visitorClass: VisitorClass; readonly policy: ClassPolicy }>('SetVisitorClassPayload')
  .implement({
    description: 'What becomes of the class now.',
    fields: (t) => ({
      visitorClass: t.expose('visitorClass', { type: VisitorClassName, description: 'Which class.' }),
      policy: t.expose('policy', { type: ClassPolicyName, description: 'What becomes of it.' }),
    }),
  });

ownerMutation('setVisitorClass', {
  description:
    'Sets what becomes of a class of visitors that none of the lists names. Gates fetch it with the next price that they ask for, within 5 minutes at most.',
  input: builder.inputType('SetVisitorClassInput', {
    description: 'One class and what becomes of it.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      visitorClass: t.field({ type: VisitorClassName, required: true, description: 'Which class.' }),
      policy: t.field({ type: ClassPolicyName, required: true, description: 'What becomes of it.' }),
    }),
  }),
  schema: z.object({ visitorClass: z.enum(VISITOR_CLASSES), policy: z.enum(CLASS_POLICIES) }),
  payload: SetVisitorClassPayload,
  change: async (deps, call, { visitorClass, policy }) => {
    await changeGate(deps, call, 'gate.set_visitor_class', (now) => ({
      visitorClasses: { ...now.visitorClasses, [visitorClass]: policy },
    }));
    return { visitorClass, policy };
  },
});

const SetSeoAllowlistPayload = builder.objectRef<EnforcementSettings>('SetSeoAllowlistPayload').implement({
  description: 'The search engines that read free.',
  fields: (t) => ({
    fragments: t.stringList({ description: 'Fragments of User-Agents.', resolve: ({ seoAllowlist }) => [...seoAllowlist] }),
  }),
});

ownerMutation('setSeoAllowlist', {
  description: 'Sets which search engines read free, by fragments of their User-Agent.',
  input: builder.inputType('SetSeoAllowlistInput', {
    description: 'At most 200 fragments, each up to 64 characters.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      fragments: t.stringList({ required: true, description: 'Fragments of User-Agents.' }),
    }),
  }),
  schema: z.object({ fragments: list(200) }),
  payload: SetSeoAllowlistPayload,
  change: (deps, call, { fragments }) => changeGate(deps, call, 'gate.set_seo_allowlist', { seoAllowlist: fragments }),
});

const SetGateScopePayload = builder.objectRef<EnforcementSettings>('SetGateScopePayload').implement({
  description: 'What the gate looks at.',
  fields: (t) => ({
    mode: t.field({
      type: GateMode,
      description: 'Articles alone, or the whole site.',
      resolve: ({ gateScope }) => gateScope.mode,
    }),
    forms: t.stringList({ description: 'The forms of articles.', resolve: ({ forms }) => [...forms] }),
  }),
});

ownerMutation('setGateScope', {
  description: "Sets what the site's gate looks at, and which other addresses of an article have its price.",
  input: builder.inputType('SetGateScopeInput', {
    description: 'The prefixes and extensions are for the mode `SITE`.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      mode: t.field({ type: GateMode, required: true, description: 'Articles alone, or the whole site.' }),
      excludePrefixes: t.stringList({ description: 'Paths the gate leaves alone, at most 200.' }),
      includeExtensions: t.stringList({ description: 'Only files with these extensions, each with its dot; null: all.' }),
      forms: t.stringList({
        description:
          'What other addresses of an article add to its own, at most 20, each an ending (`.md`) or a last part of a path (`/amp`); null: as before.',
      }),
    }),
  }),
  schema: z
    .object({
      mode: z.enum(['prefixes', 'site']),
      excludePrefixes: list(512).nullish(),
      includeExtensions: list(16).nullish(),
      forms: list(33).nullish(),
    })
    .transform(({ mode, excludePrefixes, includeExtensions, forms }): Partial<EnforcementSettings> => {
      const extensions = includeExtensions ? { includeExtensions } : {};
      const site: GateScope = { mode: 'site', excludePrefixes: excludePrefixes ?? [], ...extensions };
      return { gateScope: mode === 'prefixes' ? { mode } : site, ...(forms ? { forms } : {}) };
    }),
  payload: SetGateScopePayload,
  change: (deps, call, change) => changeGate(deps, call, 'gate.set_scope', change),
});
