/** Samples of the last minutes by series, as Prometheus keeps them: what the cluster profile judges the alert rules by. */

export type Labels = Readonly<Record<string, string>>;

/** One measure with its labels, oldest sample first. */
export interface Series {
  readonly labels: Labels;
  readonly samples: readonly { readonly atMs: number; readonly value: number }[];
}

/** What was read of all processes so far. */
export interface History {
  /**
   * Adds the text that a target serves at `/metrics`; null when it could not be read: its series end there. As Prometheus does, adds `up`
   * (1 when it could be read, else 0) and puts `job` and `instance` on every series.
   */
  add(target: Target, text: string | null, atMs: number): void;
  /** Ends every series of a target that is one no more, `up` included. */
  forget(instance: string): void;
  /** The series of a measure that have not ended. */
  series(name: string): readonly Series[];
}

/** Whom it is read of. */
export interface Target {
  /** `api`, `worker`. */
  readonly job: string;
  readonly instance: string;
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
    add: ({ job, instance }, text, atMs) => {
      const before = kept.get(instance);
      const measures = new Map<string, Map<string, Kept>>();
      for (const line of [...(text ?? '').split('\n'), `up ${text === null ? 0 : 1}`]) {
        const [, name, labelText = '', value] = LINE.exec(line) ?? [];
        if (name === undefined) continue;
        const one = before?.get(name)?.get(labelText) ?? { labels: { ...readLabels(labelText), job, instance }, samples: [] };
        one.samples = [...one.samples.filter((sample) => sample.atMs >= atMs - keepMs), { atMs, value: Number(value) }];
        const ofName = measures.get(name) ?? new Map<string, Kept>();
        measures.set(name, ofName.set(labelText, one));
      }
      kept.set(instance, measures);
    },
    forget: (instance) => void kept.delete(instance),
    series: (name) => [...kept.values()].flatMap((measures) => [...(measures.get(name)?.values() ?? [])]),
  };
}

function readLabels(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]));
}
