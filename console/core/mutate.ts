import { change } from './data.ts';
import { tenantNow } from './session.ts';

/** The document of a mutation of one input: the fields of its payload, or why nothing was changed. */
export function mutation(name: string, fields: string): string {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const payload = `... on ${title}Payload { ${fields} } ... on Refusal { code message } ... on InvalidInput { parameter }`;
  return `mutation ${name}($input: ${title}Input!) { ${name}(input: $input) { ${payload} } }`;
}

/** Makes a change of the site that is looked at. Throws `Problem` as `change` does. */
export function mutate<T>(document: string, input: Readonly<Record<string, unknown>>): Promise<T> {
  return change<T>(document, { input: { tenantId: tenantNow(), ...input } });
}
