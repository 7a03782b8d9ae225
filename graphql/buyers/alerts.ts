import { z } from 'zod';
import { removeAlertUrl, setAlertUrl } from '../../modules/budgets/use/alerts.ts';
import { accountMutation, optional } from '../mutations/field.ts';
import { builder } from '../schema/builder.ts';

interface AlertsSet {
  readonly url: string | null;
  readonly secret: string | null;
}

const SetBudgetAlertsPayload = builder.objectRef<AlertsSet>('SetBudgetAlertsPayload').implement({
  description: 'Where alerts go from now on.',
  fields: (t) => ({
    url: t.exposeString('url', { nullable: true, description: 'Where; null: nowhere.' }),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'What signs them. It is shown this once and cannot be read again; null where they go nowhere.',
    }),
  }),
});

accountMutation('setBudgetAlerts', {
  description: 'Sets where the account’s budget alerts are sent. Each call makes a new secret and revokes the former one.',
  input: builder.inputType('SetBudgetAlertsInput', {
    description: 'Where alerts go.',
    fields: (t) => ({
      url: t.string({ description: 'An https URL, on port 443 or 8443; null or left out: nothing is sent.' }),
    }),
  }),
  schema: z.object({ url: optional(z.string().max(2_000, 'is too long')) }),
  payload: SetBudgetAlertsPayload,
  change: async (deps, accountId, { url }) => {
    if (url !== undefined) return await setAlertUrl(deps, accountId, url);
    await removeAlertUrl(deps, accountId);
    return { url: null, secret: null };
  },
});
