import { z } from 'zod';
import { denySiteToken, revokeSiteLicence } from '../../modules/licences/use/manageLicences.ts';
import { builder } from '../schema/builder.ts';
import { SoldLicenceType } from '../types/refs.ts';
import { id, line, ownerMutation, TENANT_ID } from './field.ts';

const RevokeLicencePayload = builder.objectRef<{ readonly jti: string }>('RevokeLicencePayload').implement({
  description: 'A licence that entitles to nothing any more.',
  fields: (t) => ({ jti: t.exposeID('jti', { description: 'The licence.' }) }),
});

ownerMutation('revokeLicence', {
  description:
    'Revokes a licence the site sold, from the next check on; who checks offline notices when its last token ends. No money moves.',
  input: builder.inputType('RevokeLicenceInput', {
    description: 'A licence to revoke.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), jti: t.id({ required: true, description: 'The licence.' }) }),
  }),
  schema: z.object({ jti: id('licence') }),
  payload: RevokeLicencePayload,
  changed: { field: 'licence', type: SoldLicenceType, idOf: ({ jti }) => jti },
  change: async (deps, call, { jti }) => {
    await revokeSiteLicence(deps, call, jti);
    return { jti };
  },
});

const DenyTokenPayload = builder.objectRef<{ readonly jti: string }>('DenyTokenPayload').implement({
  description: 'A token that entitles to nothing any more.',
  fields: (t) => ({ jti: t.exposeID('jti', { description: 'The token.' }) }),
});

ownerMutation('denyToken', {
  description: 'Denies one token, a re-read licence or an access token, from the next check on. Again: changes nothing.',
  input: builder.inputType('DenyTokenInput', {
    description: 'A token to deny.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), jti: t.id({ required: true, description: 'Its `jti`.' }) }),
  }),
  schema: z.object({ jti: line(100) }),
  payload: DenyTokenPayload,
  change: async (deps, call, { jti }) => {
    await denySiteToken(deps, call, jti);
    return { jti };
  },
});
