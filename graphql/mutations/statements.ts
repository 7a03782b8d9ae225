import { z } from 'zod';
import type { Plan } from '../../modules/kernel/access/key.ts';
import { LINK_DAYS, MAX_LINK_DAYS, makeStatementLink } from '../../modules/reports/use/statementLinks.ts';
import { describeTenant } from '../../modules/tenants/use/self.ts';
import { builder } from '../schema/builder.ts';
import { line, optional, ownerMutation, TENANT_ID } from './field.ts';

const MakeStatementLinkPayload = builder
  .objectRef<{ readonly authorId: string; readonly url: string; readonly expiresAtMs: number }>('MakeStatementLinkPayload')
  .implement({
    description: 'A link to hand to the author.',
    fields: (t) => ({
      authorId: t.exposeID('authorId', { description: 'The author.' }),
      url: t.exposeString('url', {
        description:
          'Leads to the statement; anyone who has it may read this one. What stands behind its `#` is in no log of a server.',
      }),
      expiresAt: t.field({
        type: 'EpochMs',
        description: 'When it ends, unless the token or the ownership of who made it ends earlier.',
        resolve: ({ expiresAtMs }) => expiresAtMs,
      }),
    }),
  });

ownerMutation('makeStatementLink', {
  description:
    'A link by which an author gets their own statement of one month as PDF, and nothing else. Again: another link; those sent before go on until they end, by their time or with the ' +
    'token or the ownership of who made them. The plan has to read all of the month when the link is made; the link then shows all of it until it ends.',
  input: builder.inputType('MakeStatementLinkInput', {
    description: 'Whose statement, and of which month.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      authorId: t.string({ required: true, description: 'As the credits name the author.' }),
      month: t.string({ required: true, description: 'A month, such as 2026-10.' }),
      timeZone: t.string({
        description: 'By whose calendar the month begins and ends, such as Europe/Berlin; UTC unless given.',
      }),
      days: t.int({ description: `For how many days it is valid, ${LINK_DAYS} unless given and ${MAX_LINK_DAYS} at most.` }),
    }),
  }),
  schema: z.object({ authorId: line(200), month: line(7), timeZone: optional(line(64)), days: optional(z.number()) }),
  payload: MakeStatementLinkPayload,
  change: async (deps, call, { timeZone = 'UTC', days, ...asked }) => {
    const { hosts, plan } = await describeTenant(deps, call.tenantId);
    const made = await makeStatementLink(deps, call, {
      ...asked,
      timeZone,
      host: hosts[0] ?? null,
      plan: plan as Plan | null,
      ...(days === undefined ? {} : { days }),
    });
    return { authorId: asked.authorId, ...made };
  },
});
