import { z } from 'zod';
import {
  confirmSiteAlertAddress,
  createSiteRule,
  deleteSiteRule,
  setSiteAlertAddress,
  updateSiteRule,
} from '../../modules/anomalies/use/manageRules.ts';
import type { RangeKey } from '../../modules/webhooks/rules/anomalyRule.ts';
import { ANOMALY_METRICS, RANGES_MS } from '../../modules/webhooks/rules/anomalyRule.ts';
import { builder } from '../schema/builder.ts';
import { AnomalyMetricName, AnomalyRange } from '../schema/enums.ts';
import { RuleType } from '../types/account.ts';
import { IF_VERSION, id, line, optional, ownerMutation, TENANT_ID } from './field.ts';

const metric = z.enum(ANOMALY_METRICS);
const range = z.enum(Object.keys(RANGES_MS) as [RangeKey, ...RangeKey[]]);
const threshold = z.number().positive('is not positive');

function rulePayload(name: string, description: string) {
  return builder.objectRef<{ readonly ruleId: string }>(name).implement({
    description,
    fields: (t) => ({ ruleId: t.exposeID('ruleId', { description: 'Names the rule.' }) }),
  });
}

ownerMutation('createAnomalyRule', {
  description: 'Makes a rule that raises `anomaly.detected` when a metric reaches a threshold; at most 20 a site.',
  input: builder.inputType('CreateAnomalyRuleInput', {
    description: 'A rule to make.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      metric: t.field({ type: AnomalyMetricName, required: true, description: 'What it watches.' }),
      range: t.field({ type: AnomalyRange, required: true, description: 'Over which time.' }),
      threshold: t.float({ required: true, description: 'From this value on it is breached, in the unit of the metric.' }),
      host: t.string({ description: 'One host only; null: all together.' }),
      enabled: t.boolean({ description: 'Left out: true.' }),
    }),
  }),
  schema: z.object({ metric, range, threshold, host: line(253).nullish(), enabled: optional(z.boolean()) }),
  payload: rulePayload('CreateAnomalyRulePayload', 'A new rule, armed.'),
  changed: { field: 'rule', type: RuleType, idOf: ({ ruleId }) => ruleId },
  change: (deps, call, input) =>
    createSiteRule(deps, call, {
      metric: input.metric,
      rangeKey: input.range,
      threshold: input.threshold,
      host: input.host ?? null,
      enabled: input.enabled ?? true,
    }),
});

ownerMutation('updateAnomalyRule', {
  description: 'Changes a rule; what is left out stays. One that measures something else begins armed.',
  input: builder.inputType('UpdateAnomalyRuleInput', {
    description: 'What to change of a rule.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ruleId: t.id({ required: true, description: 'The rule.' }),
      metric: t.field({ type: AnomalyMetricName, description: 'What it watches.' }),
      range: t.field({ type: AnomalyRange, description: 'Over which time.' }),
      threshold: t.float({ description: 'From this value on it is breached.' }),
      host: t.string({ description: 'One host only; null: all together.' }),
      enabled: t.boolean({ description: 'Whether it is looked at.' }),
    }),
  }),
  schema: z
    .object({
      ruleId: id('anomaly rule'),
      metric: optional(metric),
      range: optional(range),
      threshold: optional(threshold),
      host: line(253).nullish(),
      enabled: optional(z.boolean()),
    })
    .transform(({ ruleId, range: rangeKey, ...rest }) => ({
      ruleId,
      changes: Object.fromEntries(Object.entries({ ...rest, rangeKey }).filter(([, value]) => value !== undefined)),
    })),
  payload: rulePayload('UpdateAnomalyRulePayload', 'A rule that was changed.'),
  changed: { field: 'rule', type: RuleType, idOf: ({ ruleId }) => ruleId },
  change: async (deps, call, { ruleId, changes }) => {
    await updateSiteRule(deps, call, ruleId, changes);
    return { ruleId };
  },
});

ownerMutation('deleteAnomalyRule', {
  description: 'Removes a rule; its events stay.',
  input: builder.inputType('DeleteAnomalyRuleInput', {
    description: 'A rule to remove.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), ruleId: t.id({ required: true, description: 'The rule.' }) }),
  }),
  schema: z.object({ ruleId: id('anomaly rule') }),
  payload: rulePayload('DeleteAnomalyRulePayload', 'A rule that is gone.'),
  deleted: { type: RuleType, idOf: ({ ruleId }) => ruleId },
  change: async (deps, call, { ruleId }) => {
    await deleteSiteRule(deps, call, ruleId);
    return { ruleId };
  },
});

const SetAlertAddressPayload = builder.objectRef<{ readonly email: string | null }>('SetAlertAddressPayload').implement({
  description: 'Where alerts go.',
  fields: (t) => ({ email: t.exposeString('email', { nullable: true, description: 'The address; null: nowhere.' }) }),
});

ownerMutation('setAlertAddress', {
  description:
    "Sets where the site's alerts go by e-mail. The address gets a code, and no alert before `confirmAlertAddress`; three codes a day.",
  input: builder.inputType('SetAlertAddressInput', {
    description: 'An address for alerts.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      email: t.string({ description: 'One e-mail address; null: none.' }),
    }),
  }),
  schema: z.object({ email: line(254).nullish() }),
  payload: SetAlertAddressPayload,
  change: async (deps, call, { email }) => {
    await setSiteAlertAddress(deps, call, email ?? null);
    return { email: email ?? null };
  },
});

ownerMutation('confirmAlertAddress', {
  description: 'Confirms the address for alerts with the code that was sent there; a code is good for 24 hours.',
  input: builder.inputType('ConfirmAlertAddressInput', {
    description: 'A code of the address for alerts.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      code: t.string({ required: true, description: 'As it stands in the e-mail.' }),
    }),
  }),
  schema: z.object({ code: line(100).transform((text) => text.trim()) }),
  payload: builder.objectRef<{ readonly email: string }>('ConfirmAlertAddressPayload').implement({
    description: 'An address that gets alerts from now on.',
    fields: (t) => ({ email: t.exposeString('email', { description: 'The address.' }) }),
  }),
  change: (deps, call, { code }) => confirmSiteAlertAddress(deps, call, code),
});
