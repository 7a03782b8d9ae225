import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { ServiceError } from '../modules/kernel/errors.ts';
import type { Route } from './route.ts';

/** The query of a request as it stands there, without its `?`; empty when there is none. */
export function searchOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

/** The parameters a route knows: those of its description. */
export function knownParameters({ operation }: Pick<Route, 'operation'>): ReadonlySet<string> {
  const query = operation?.requestParams?.query;
  return query instanceof z.ZodObject ? new Set(Object.keys(query.shape)) : NONE;
}

const NONE: ReadonlySet<string> = new Set();

/** Query parameters by name. Throws invalid_parameter when one of the `known` ones is repeated; any other one means nothing. */
export function readQuery(search: string, known: ReadonlySet<string>): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  if (search === '') return query;
  for (const [name, value] of new URLSearchParams(search)) {
    if (known.has(name) && query.has(name))
      throw new ServiceError('invalid_parameter', `${name} is given twice`, { parameter: name });
    query.set(name, value);
  }
  return query;
}
