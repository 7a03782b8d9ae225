import { ServiceError } from '../../../modules/kernel/errors.ts';

/** The Idempotency-Key header; null when absent. Throws invalid_parameter for one that is not 1 to 255 printable characters. */
export function readIdempotencyKey(value: string | null): string | null {
  if (value === null || /^[\x20-\x7e]{1,255}$/.test(value)) return value;
  throw new ServiceError('invalid_parameter', 'Idempotency-Key must be 1 to 255 printable characters', {
    parameter: 'Idempotency-Key',
  });
}
