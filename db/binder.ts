/** Collects the parameters of a statement that is put together from pieces; values never stand in the text. */
export class Binder {
  readonly values: unknown[] = [];

  /** The parameter that stands for a value. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}
