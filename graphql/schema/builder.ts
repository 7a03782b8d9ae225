import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import ErrorsPlugin from '@pothos/plugin-errors';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import ValidationPlugin from '@pothos/plugin-validation';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { requireAccountOwner, requireOwner, requireReader } from '../request/access.ts';
import type { GraphqlContext } from '../request/context.ts';

/** Types every resolver is checked against. */
export interface Types {
  Context: GraphqlContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    /** Micro-USDC; a column of the ledger holds the same as text. */
    Micro: { Input: bigint; Output: bigint | string };
    /** Epoch milliseconds; a column of the ledger holds the moment itself. */
    EpochMs: { Input: number; Output: number | Date };
  };
  AuthScopes: {
    /** A key with this scope on a plan with API access, or an owner. */
    reads: Scope;
    /** An owner. */
    owner: boolean;
    /** The owner of a buyer account. */
    accountOwner: boolean;
  };
}

/**
 * The builder of the schema. A gated field says `authScopes: { reads: '…' }` or `{ owner: true }` and is nullable, so that a
 * refusal takes away that field alone. A field costs one unless it says `complexity`; graphql/limits/measure.ts adds up, and refuses.
 */
export const builder = new SchemaBuilder<Types>({
  plugins: [ErrorsPlugin, ComplexityPlugin, ScopeAuthPlugin, DataloaderPlugin, ValidationPlugin],
  defaultFieldNullability: false,
  complexity: {
    defaultComplexity: 1,
    disabled: true,
  },
  scopeAuth: {
    authScopes: (context) => ({
      reads: (scope) => requireReader(context, scope),
      owner: () => requireOwner(context),
      accountOwner: () => requireAccountOwner(context) !== null,
    }),
  },
  validation: {
    validationError: ({ issues }) => {
      const [issue] = issues;
      const path = (issue?.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
      return new ServiceError('invalid_parameter', `${path === '' ? '' : `${path}: `}${issue?.message ?? 'not as expected'}`);
    },
  },
});
