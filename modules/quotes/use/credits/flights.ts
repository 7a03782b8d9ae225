/** One piece of work of a name at a time; callers at once share it. What `begin` throws is the caller's alone: nobody else joins it. */
export type Flights<T> = (name: string, begin: () => Promise<T>) => Promise<T>;

/** Opens them, none running. */
export function openFlights<T>(): Flights<T> {
  const running = new Map<string, Promise<T>>();
  return (name, begin) => {
    const joined = running.get(name);
    if (joined !== undefined) return joined;
    const work = begin().finally(() => running.delete(name));
    running.set(name, work);
    return work;
  };
}
