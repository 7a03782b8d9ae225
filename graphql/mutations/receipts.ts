import { z } from 'zod';
import { setReceiptsPublic } from '../../modules/receipts/use/shown.ts';
import { builder } from '../schema/builder.ts';
import { IF_VERSION, ownerMutation, TENANT_ID } from './field.ts';

const SetReceiptsPayload = builder.objectRef<{ readonly isPublic: boolean }>('SetReceiptsPayload').implement({
  description: 'Whether records of payments are shown from now on.',
  fields: (t) => ({
    isPublic: t.exposeBoolean('isPublic', { description: 'True: to anyone who has the id of one; false: to nobody.' }),
  }),
});

ownerMutation('setReceipts', {
  description:
    'Shows the public records of the site’s payments (`/_svc/receipts/{jti}`), or none of them. Receipts that buyers hold stay good.',
  input: builder.inputType('SetReceiptsInput', {
    description: 'All records of the site, or none.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      isPublic: t.boolean({ required: true, description: 'True: anyone who has the id of a record may read it.' }),
    }),
  }),
  schema: z.object({ isPublic: z.boolean() }),
  payload: SetReceiptsPayload,
  change: (deps, call, { isPublic }) => setReceiptsPublic(deps, call, isPublic),
});
