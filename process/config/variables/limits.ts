import { limits as schema } from '../limits.ts';
import { withDefault } from '../variable.ts';

/** Numbers that tune. */
export const limits = {
  limits: withDefault({
    name: 'LIMITS',
    about:
      'A JSON object with those of the numbers below that you change; nothing here is needed to go live. Amounts of wei are text.',
    example: '{"ratePerAddress": 20, "settleWaitMs": 5000}',
    fallback: '{}',
    schema,
  }),
};
