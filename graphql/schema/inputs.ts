import { z } from 'zod';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { keptHost } from '../../modules/kernel/hosts/hostname.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Text of a filter. */
export const filterText = z.string().min(1, 'must not be empty').max(2_048, 'is too long').nullish();

/** The name of a time zone; whether there is one of it is for the calendar to say. */
export const timeZoneText = z.string().min(1, 'must not be empty').max(64, 'is too long').nullish();

/** A wallet or transaction hash of a filter. */
export const filterHex = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be 0x and hexadecimal digits')
  .nullish();

/** Addresses and hashes are stored in lower case. */
export function lower(text: string | null | undefined): string | null {
  return text?.toLowerCase() ?? null;
}

/** Hosts are stored in A-labels; a filter may name one as people read it, as in REST. */
export function hostFilter(text: string | null | undefined): string | null {
  return text == null ? null : keptHost(text);
}

/** The id of a row that is looked up; null when it cannot be one, so that the answer is the same as for an unknown one. */
export function rowId(id: string): string | null {
  return UUID.test(id) ? id.toLowerCase() : null;
}

/** An id in a filter. Throws invalid_parameter when it cannot be one. */
export function filterId(id: string | null | undefined, parameter: string): string | null {
  if (id === null || id === undefined) return null;
  const known = rowId(id);
  if (known === null) throw new ServiceError('invalid_parameter', `${parameter}: is not an id`, { parameter });
  return known;
}
