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
function knownParameters({ operation }: Pick<Route, 'operation'>): ReadonlySet<string> {
  const query = operation?.requestParams?.query;
  return query instanceof z.ZodObject ? new Set(Object.keys(query.shape)) : NONE;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Query parameters of a route by name. Throws invalid_parameter when a parameter that the route knows is repeated, and where it filters what is listed or
 * summed (`isFiltered`) for any other name: a misspelt filter would answer with more than was asked for. Elsewhere an unknown name means nothing, so
 * that a newer client may call an older service.
 */
export function readQuery(search: string, route: Pick<Route, 'operation' | 'isFiltered'>): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  if (search === '') return query;
  const known = knownParameters(route);
  for (const [name, value] of new URLSearchParams(search)) {
    if (route.isFiltered && !known.has(name)) throw unknownParameter(name, [...known]);
    if (known.has(name) && query.has(name))
      throw new ServiceError('invalid_parameter', `${name} is given twice`, { parameter: name });
    query.set(name, value);
  }
  return query;
}

function unknownParameter(name: string, known: readonly string[]): ServiceError {
  const shown = JSON.stringify(name.slice(0, 40));
  return new ServiceError('invalid_parameter', `unknown parameter ${shown}; there are ${known.join(', ')}`);
}
