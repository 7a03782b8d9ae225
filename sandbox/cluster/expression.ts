/** The part of Prometheus' query language that deploy/alerts.yml is written in, so that alerts are seen without a Prometheus. */
import { durationMs } from './duration.ts';
import type { History, Labels } from './series.ts';

/** One value with its labels. */
export interface Point {
  readonly labels: Labels;
  readonly value: number;
}

/** What an expression gives at a moment: a number, or points. */
export type Value = number | readonly Point[];

/** An expression that can be judged. */
export type Expression = (history: History, nowMs: number) => Value;

type Samples = readonly { readonly atMs: number; readonly value: number }[];
type Range = readonly {
  readonly labels: Labels;
  readonly increase: number;
  readonly seconds: number;
  readonly samples: Samples;
}[];
type Selector = { readonly now: Expression; readonly range: ((history: History, nowMs: number) => Range) | null };

const TOKEN =
  /\s*(=~|!~|!=|>=|<=|==|[A-Za-z_:][\w:]*|"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:[smh]\b)?|[(){}[\],=<>+\-*])/y;
const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '==': (a, b) => a === b,
};
type Arithmetic = Readonly<Record<string, (a: number, b: number) => number>>;
const ADD: Arithmetic = { '+': (a, b) => a + b, '-': (a, b) => a - b };
const MULTIPLY: Arithmetic = { '*': (a, b) => a * b };
const MATCHERS = ['=', '!=', '=~', '!~'];
const GATHER: Readonly<Record<string, (values: readonly number[]) => number>> = {
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
};

/** Reads an expression. Throws SyntaxError for what it does not know. */
export function readExpression(text: string): Expression {
  const reader = createReader(text);
  const expression = readOr(reader);
  if (reader.peek() !== null) throw new SyntaxError(`“${reader.peek()}” was not expected in ${text}`);
  return expression;
}

interface Reader {
  peek(): string | null;
  take(expected?: string): string;
}

function createReader(text: string): Reader {
  const tokens: string[] = [];
  const source = text.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new SyntaxError(`cannot read “${source.slice(at)}”`);
    tokens.push(match[1] as string);
  }
  let next = 0;
  return {
    peek: () => tokens[next] ?? null,
    take: (expected) => {
      const token = tokens[next++];
      if (token === undefined || (expected !== undefined && token !== expected)) {
        throw new SyntaxError(`${expected ?? 'more'} was expected in ${text}`);
      }
      return token;
    },
  };
}

function readOr(reader: Reader): Expression {
  let left = readComparison(reader);
  while (reader.peek() === 'or') {
    reader.take();
    const [first, second] = [left, readComparison(reader)];
    left = (history, nowMs) => {
      const points = pointsOf(first(history, nowMs));
      const known = new Set(points.map(({ labels }) => keyOf(labels)));
      return [...points, ...pointsOf(second(history, nowMs)).filter(({ labels }) => !known.has(keyOf(labels)))];
    };
  }
  return left;
}

function readComparison(reader: Reader): Expression {
  const left = readSum(reader);
  const holds = COMPARE[reader.peek() ?? ''];
  if (holds === undefined) return left;
  reader.take();
  const right = readSum(reader);
  return (history, nowMs) => joined(left(history, nowMs), right(history, nowMs), (a, b) => (holds(a, b) ? a : null));
}

function readSum(reader: Reader): Expression {
  return readArithmetic(reader, ADD, () => readArithmetic(reader, MULTIPLY, () => readOperand(reader)));
}

function readArithmetic(reader: Reader, operators: Arithmetic, readTerm: () => Expression): Expression {
  let left = readTerm();
  for (;;) {
    const counted = operators[reader.peek() ?? ''];
    if (counted === undefined) return left;
    reader.take();
    const [first, second] = [left, readTerm()];
    left = (history, nowMs) => joined(first(history, nowMs), second(history, nowMs), counted);
  }
}

/** Number with points: each point; points with points: those of equal labels. Null drops the point. */
function joined(left: Value, right: Value, work: (a: number, b: number) => number | null): Value {
  if (typeof left === 'number' && typeof right === 'number') return work(left, right) ?? [];
  const one = (labels: Labels, a: number, b: number): Point[] => {
    const value = work(a, b);
    return value === null ? [] : [{ labels, value }];
  };
  if (typeof right === 'number') return (left as readonly Point[]).flatMap((point) => one(point.labels, point.value, right));
  if (typeof left === 'number') return right.flatMap((point) => one(point.labels, left, point.value));
  const others = new Map(right.map((point) => [keyOf(point.labels), point.value]));
  return left.flatMap((point) => {
    const other = others.get(keyOf(point.labels));
    return other === undefined ? [] : one(point.labels, point.value, other);
  });
}

function readOperand(reader: Reader): Expression {
  const token = reader.take();
  if (token === '(') {
    const inner = readOr(reader);
    reader.take(')');
    return inner;
  }
  if (/^\d/.test(token)) {
    if (Number.isNaN(Number(token))) throw new SyntaxError(`${token} stands where a number must`);
    return () => Number(token);
  }
  const gather = GATHER[token];
  if (gather !== undefined) return readGathering(reader, gather);
  if (reader.peek() === '(') return readCall(reader, token);
  const { now, range } = readSelector(reader, token);
  if (range !== null) throw new SyntaxError(`a range of ${token} needs a function that takes one`);
  return now;
}

function readGathering(reader: Reader, gather: (values: readonly number[]) => number): Expression {
  const by: string[] = [];
  if (reader.peek() === 'by') {
    reader.take();
    reader.take('(');
    while (reader.peek() !== ')') {
      by.push(reader.take());
      if (reader.peek() === ',') reader.take();
    }
    reader.take(')');
  }
  reader.take('(');
  const inner = readOr(reader);
  reader.take(')');
  return (history, nowMs) => {
    const groups = new Map<string, { labels: Labels; values: number[] }>();
    for (const { labels, value } of pointsOf(inner(history, nowMs))) {
      const kept = Object.fromEntries(by.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])));
      const group = groups.get(keyOf(kept)) ?? { labels: kept, values: [] };
      groups.set(keyOf(kept), { labels: kept, values: [...group.values, value] });
    }
    return [...groups.values()].map(({ labels, values }) => ({ labels, value: gather(values) }));
  };
}

function readCall(reader: Reader, name: string): Expression {
  reader.take('(');
  if (name === 'time') {
    reader.take(')');
    return (_history, nowMs) => nowMs / 1_000;
  }
  if (name === 'rate' || name === 'increase') {
    const { range } = readSelector(reader, reader.take());
    if (range === null) throw new SyntaxError(`${name} needs a range`);
    reader.take(')');
    return (history, nowMs) =>
      range(history, nowMs).map(({ labels, increase, seconds }) => ({
        labels,
        value: name === 'rate' ? increase / seconds : increase,
      }));
  }
  if (name === 'predict_linear') {
    const { range } = readSelector(reader, reader.take());
    if (range === null) throw new SyntaxError(`${name} needs a range`);
    reader.take(',');
    const ahead = readOr(reader);
    reader.take(')');
    return (history, nowMs) => {
      const seconds = Number(ahead(history, nowMs));
      return range(history, nowMs).map(({ labels, samples }) => ({ labels, value: predict(samples, nowMs, seconds) }));
    };
  }
  const first = readOr(reader);
  if (name === 'histogram_quantile') {
    reader.take(',');
    const buckets = readOr(reader);
    reader.take(')');
    return (history, nowMs) => quantileOf(Number(first(history, nowMs)), pointsOf(buckets(history, nowMs)));
  }
  reader.take(')');
  if (name === 'absent')
    return (history, nowMs) => (pointsOf(first(history, nowMs)).length > 0 ? [] : [{ labels: {}, value: 1 }]);
  if (name === 'abs') {
    return (history, nowMs) => pointsOf(first(history, nowMs)).map((point) => ({ ...point, value: Math.abs(point.value) }));
  }
  throw new SyntaxError(`the function ${name} is not known`);
}

function readSelector(reader: Reader, name: string): Selector {
  const tests: ((labels: Labels) => boolean)[] = [];
  if (reader.peek() === '{') {
    reader.take();
    while (reader.peek() !== '}') {
      const [label, how, quoted] = [reader.take(), reader.take(), reader.take()];
      if (!MATCHERS.includes(how)) throw new SyntaxError(`${how} compares no label`);
      const text = JSON.parse(quoted) as string;
      if (how === '=') tests.push((labels) => (labels[label] ?? '') === text);
      else if (how === '!=') tests.push((labels) => (labels[label] ?? '') !== text);
      else tests.push((labels) => new RegExp(`^(?:${text})$`).test(labels[label] ?? '') === (how === '=~'));
      if (reader.peek() === ',') reader.take();
    }
    reader.take('}');
  }
  const select = (history: History) => history.series(name).filter(({ labels }) => tests.every((holds) => holds(labels)));
  const now: Expression = (history) =>
    select(history).map(({ labels, samples }) => ({ labels, value: samples.at(-1)?.value ?? Number.NaN }));
  if (reader.peek() !== '[') return { now, range: null };
  reader.take();
  const length = reader.take();
  reader.take(']');
  const ms = durationMs(length);
  const range = (history: History, nowMs: number): Range =>
    select(history).flatMap(({ labels, samples }) => {
      const inside = samples.filter(({ atMs }) => atMs >= nowMs - ms);
      const [oldest, newest] = [inside[0], inside.at(-1)];
      if (oldest === undefined || newest === undefined || oldest === newest) return [];
      return [{ labels, increase: newest.value - oldest.value, seconds: (newest.atMs - oldest.atMs) / 1_000, samples: inside }];
    });
  return { now, range };
}

/** The value below which that share lies, by straight lines within a bucket, for each set of labels; nothing was counted: nothing. */
function quantileOf(share: number, buckets: readonly Point[]): readonly Point[] {
  const groups = Map.groupBy(buckets, ({ labels: { le: _le, ...others } }) => keyOf(others));
  return [...groups.values()].flatMap((group) => {
    const value = quantileOfOne(share, group);
    const { le: _le, ...labels } = group[0]?.labels ?? {};
    return value === null ? [] : [{ labels, value }];
  });
}

function quantileOfOne(share: number, buckets: readonly Point[]): number | null {
  const sorted = buckets
    .map(({ labels, value }) => ({ upTo: labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']), value }))
    .toSorted((a, b) => a.upTo - b.upTo);
  const rank = share * (sorted.at(-1)?.value ?? 0);
  if (rank <= 0) return null;
  const at = sorted.findIndex(({ value }) => value >= rank);
  const below = sorted[at - 1] ?? { upTo: 0, value: 0 };
  const found = sorted[at];
  if (found === undefined) return null;
  if (found.upTo === Number.POSITIVE_INFINITY) return below.upTo;
  return below.upTo + (found.upTo - below.upTo) * ((rank - below.value) / (found.value - below.value));
}

/** Where the straight line through the samples (least squares) will be so many seconds from now. */
function predict(samples: Samples, nowMs: number, seconds: number): number {
  const points = samples.map(({ atMs, value }) => ({ x: (atMs - nowMs) / 1_000, y: value }));
  const mean = (of: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const slope = (mean((point) => point.x * point.y) - x * y) / (mean((point) => point.x ** 2) - x ** 2);
  return y + slope * (seconds - x);
}

function pointsOf(value: Value): readonly Point[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort());
}
