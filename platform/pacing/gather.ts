/** How a gathered call runs. */
export interface GatherOptions<Item> {
  /** Most items of one run. */
  readonly limit: number;
  /** Runs at the same time. */
  readonly concurrency: number;
  /** Items with the same text are asked once in a run, and get the same answer. */
  readonly same?: (item: Item) => string;
  /** Items that have a text in common never share a run. */
  readonly apart?: (item: Item) => readonly string[];
  /** An error that says nothing about an item: all of its run get it, and none is asked again. */
  readonly isOutage: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue<Item, Result> {
  waiting: Waiting<Item, Result>[];
  running: number;
  /** True when a look at what waits is due at the end of this turn of the event loop. */
  isWoken: boolean;
}

/**
 * Group commit for any call: an idle one runs at the end of this turn of the event loop, together with those that came in
 * with it on other connections; those that arrive while runs are on their way share the next one.
 * A run begins after everything it answers was asked, so that its reads are never older than the call. `run` answers in the order
 * of its items. When a run of several throws something else than an outage, each runs alone: one poison item hurts no other.
 */
export function gathered<Key extends object, Item, Result>(
  run: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>,
  options: GatherOptions<Item>,
): (key: Key, item: Item) => Promise<Result> {
  const queues = new WeakMap<Key, Queue<Item, Result>>();
  const wake = (key: Key, queue: Queue<Item, Result>): void => {
    if (queue.isWoken || queue.running >= options.concurrency || queue.waiting.length === 0) return;
    queue.isWoken = true;
    setImmediate(() => {
      queue.isWoken = false;
      pump(key, queue);
    });
  };
  const pump = (key: Key, queue: Queue<Item, Result>): void => {
    while (queue.running < options.concurrency && queue.waiting.length > 0) {
      queue.running += 1;
      void answer(key, take(queue, options)).finally(() => {
        queue.running -= 1;
        wake(key, queue);
      });
    }
  };
  const answer = async (key: Key, entries: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const { items, indexes } = distinct(entries, options.same);
      const results = await run(key, items);
      for (const [index, entry] of entries.entries()) entry.resolve(results[indexes[index] ?? index] as Result);
    } catch (error) {
      if (entries.length === 1 || options.isOutage(error)) for (const entry of entries) entry.reject(error);
      else for (const entry of entries) await answer(key, [entry]);
    }
  };
  return (key, item) =>
    new Promise((resolve, reject) => {
      const queue = queues.get(key) ?? { waiting: [], running: 0, isWoken: false };
      queues.set(key, queue);
      queue.waiting.push({ item, resolve, reject });
      wake(key, queue);
    });
}

/** The items to ask, and for each entry which of them answers it. */
function distinct<Item, Result>(
  entries: readonly Waiting<Item, Result>[],
  same: GatherOptions<Item>['same'],
): { readonly items: readonly Item[]; readonly indexes: readonly number[] } {
  if (!same) return { items: entries.map(({ item }) => item), indexes: [] };
  const items: Item[] = [];
  const indexOf = new Map<string, number>();
  const indexes = entries.map(({ item }) => {
    const text = same(item);
    const index = indexOf.get(text) ?? items.push(item) - 1;
    indexOf.set(text, index);
    return index;
  });
  return { items, indexes };
}

/** Takes the first items that may run together out of those that wait. */
function take<Item, Result>(queue: Queue<Item, Result>, { limit, apart }: GatherOptions<Item>): readonly Waiting<Item, Result>[] {
  if (!apart) return queue.waiting.splice(0, limit);
  const taken: Waiting<Item, Result>[] = [];
  const left: Waiting<Item, Result>[] = [];
  const seen = new Set<string>();
  for (const entry of queue.waiting) {
    const texts = apart(entry.item);
    const fits = taken.length < limit && !texts.some((text) => seen.has(text));
    (fits ? taken : left).push(entry);
    if (fits) for (const text of texts) seen.add(text);
  }
  queue.waiting = left;
  return taken;
}
