/** Samples of the last minutes by series, as Prometheus keeps them: what the cluster profile judges the alert rules by. */

export type Labels = Readonly<Record<string, string>>;

/** One measure with its labels, oldest sample first. */
export interface Series {
  readonly labels: Labels;
  readonly samples: readonly { readonly atMs: number; readonly value: number }[];
}

/** What was read of all processes so far. */
export interface History {
  /** Adds the text that a process serves at `/metrics`; null when it could not be read: its series end there. */
  add(instance: string, text: string | null, atMs: number): void;
  /** The series of a measure that have not ended. */
  series(name: string): readonly Series[];
}

interface Kept {
  readonly labels: Labels;
  samples: { atMs: number; value: number }[];
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;

/** An empty history; samples older than `keepMs` are forgotten. */
export function createHistory(keepMs = 900_000): History {
  const kept = new Map<string, Map<string, Map<string, Kept>>>();
  return {
    add: (instance, text, atMs) => {
      const before = kept.get(instance);
      kept.delete(instance);
      if (text === null) return;
      const measures = new Map<string, Map<string, Kept>>();
      for (const line of text.split('\n')) {
        const [, name, labelText = '', value] = LINE.exec(line) ?? [];
        if (name === undefined) continue;
        const one = before?.get(name)?.get(labelText) ?? { labels: { ...readLabels(labelText), instance }, samples: [] };
        one.samples = [...one.samples.filter((sample) => sample.atMs >= atMs - keepMs), { atMs, value: Number(value) }];
        const ofName = measures.get(name) ?? new Map<string, Kept>();
        measures.set(name, ofName.set(labelText, one));
      }
      kept.set(instance, measures);
    },
    series: (name) => [...kept.values()].flatMap((measures) => [...(measures.get(name)?.values() ?? [])]),
  };
}

function readLabels(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]));
}
