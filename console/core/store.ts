import { useEffect, useState } from './html.ts';

/** One value that many parts of the page show. */
export interface Store<T> {
  get(): T;
  set(next: T): void;
  /** The value inside a component, which is drawn again when it changes. */
  use(): T;
}

/** Makes a store that holds `first`. */
export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  const set = (next: T): void => {
    if (next === value) return;
    value = next;
    for (const listener of [...listeners]) listener();
  };
  const use = (): T => {
    const [, draw] = useState(0);
    const seen = value; // drawn now; it may be another one when the effect runs, after the page was painted
    useEffect(() => {
      const listener = (): void => draw((count) => count + 1);
      listeners.add(listener);
      if (seen !== value) listener();
      return () => void listeners.delete(listener);
    }, []);
    return value;
  };
  return { get: () => value, set, use };
}
