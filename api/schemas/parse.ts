import type { z } from 'zod';
import type { ErrorCode } from '../../modules/kernel/errors.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';

/**
 * A value of the schema's shape. Throws 400 with `code`; the sentence names the first place that is wrong, by its path (the
 * index first, in a list), and never repeats what was sent.
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, code: ErrorCode = 'malformed_body'): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw new ServiceError(code, `${place === '' ? '' : `${place}: `}${issue?.message ?? 'not of the expected shape'}`, {
    ...(place === '' ? {} : { parameter: place }),
  });
}
