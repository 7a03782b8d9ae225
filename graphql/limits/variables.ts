import { ServiceError } from '../../modules/kernel/errors.ts';
import { VARIABLES } from './limits.ts';

/**
 * Throws query_limit for variables that are more than any input can hold: all their values together, members of one object, levels,
 * characters of one text. Call it before anything else looks at them, since to say what is wrong with a value can cost far more than
 * to read it. It looks at each value once, and ends with the first that is too much.
 */
export function requireBounded(variables: unknown): void {
  let values = 0;
  const visit = (value: unknown, level: number): void => {
    if (++values > VARIABLES.values) refuse(`more than ${VARIABLES.values} values`);
    if (typeof value === 'string' && value.length > VARIABLES.chars) refuse(`a text of more than ${VARIABLES.chars} characters`);
    if (typeof value !== 'object' || value === null) return;
    if (level > VARIABLES.levels) refuse(`more than ${VARIABLES.levels} levels`);
    if (Array.isArray(value)) {
      for (const item of value) visit(item, level + 1);
      return;
    }
    const members = Object.entries(value);
    if (members.length > VARIABLES.members) refuse(`an object of more than ${VARIABLES.members} members`);
    for (const [name, member] of members) {
      if (name.length > VARIABLES.chars) refuse(`a name of more than ${VARIABLES.chars} characters`);
      visit(member, level + 1);
    }
  };
  visit(variables, 1);
}

function refuse(what: string): never {
  throw new ServiceError('query_limit', `variables: have ${what}; no input needs that much`, { parameter: 'variables' });
}
