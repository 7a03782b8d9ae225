import { z } from 'zod';
import type { LegalDetails } from '../../modules/tenants/use/legal.ts';
import { isPrintedAsRead, MAX_LEGAL_ADDRESS, MAX_LEGAL_NAME, setLegalDetails } from '../../modules/tenants/use/legal.ts';
import { builder } from '../schema/builder.ts';
import { IF_VERSION, line, optional, ownerMutation, TENANT_ID } from './field.ts';

const SetLegalDetailsPayload = builder.objectRef<LegalDetails>('SetLegalDetailsPayload').implement({
  description: 'Who publishes the site, as statements say from now on.',
  fields: (t) => ({
    legalName: t.exposeString('legalName', { nullable: true, description: 'Null: statements do not say.' }),
    legalAddress: t.exposeString('legalAddress', { nullable: true, description: 'Null: statements do not say.' }),
  }),
});

const printed = (max: number) =>
  line(max).refine(isPrintedAsRead, 'is blank, or has characters that turn text around or break the line');

ownerMutation('setLegalDetails', {
  description: 'Sets the legal name and address of the publisher, which stand in every statement drawn from now on.',
  input: builder.inputType('SetLegalDetailsInput', {
    description: 'Both at once: what is left out is taken away.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      legalName: t.string({ description: `As it is registered; ${MAX_LEGAL_NAME} characters at most.` }),
      legalAddress: t.string({ description: `In one line; ${MAX_LEGAL_ADDRESS} characters at most.` }),
    }),
  }),
  schema: z.object({ legalName: optional(printed(MAX_LEGAL_NAME)), legalAddress: optional(printed(MAX_LEGAL_ADDRESS)) }),
  payload: SetLegalDetailsPayload,
  change: (deps, call, { legalName = null, legalAddress = null }) => setLegalDetails(deps, call, { legalName, legalAddress }),
});
