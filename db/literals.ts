import pg from 'pg';

/**
 * Values as literals, for the statements that take no parameters (COPY), where a Binder would stand. Escaping is pg's own. Literals
 * rather than settings read back with current_setting: the tenant stands in the statement as a constant, where the reader sees
 * it, the planner estimates with it, and Citus routes by it.
 */
export class Literals {
  /** A value as SQL text. Throws for numbers that are no safe integers. */
  bind(value: string | number | Date): string {
    if (typeof value !== 'number') return pg.escapeLiteral(typeof value === 'string' ? value : value.toISOString());
    if (!Number.isSafeInteger(value)) throw new RangeError('a literal number is a safe integer');
    return String(value);
  }
}
