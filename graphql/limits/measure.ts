import type { FieldNode, FragmentDefinitionNode, GraphQLField, GraphQLNamedType, GraphQLSchema, SelectionSetNode } from 'graphql';
import {
  getArgumentValues,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
} from 'graphql';
import type { SeriesUnit } from '../../modules/kernel/time/series.ts';
import { mostBuckets } from '../../modules/kernel/time/series.ts';
import type { GraphqlContext } from '../request/context.ts';
import type { GivenWindow } from '../schema/windows.ts';
import { askedWindow } from '../schema/windows.ts';
import { LIST_COST } from './limits.ts';
import { mostOf } from './lists.ts';

/** What a selection comes to at most. */
export interface Measure {
  /** Values of the answer, and what Postgres does for it. */
  readonly cost: number;
  readonly depth: number;
  /** Types that stand below, and those of them below a list. */
  readonly below: ReadonlySet<string>;
  readonly belowLists: ReadonlySet<string>;
}

/** A part of an operation: a field of the root, or one right below it, by the names of the answer. */
export interface Part {
  readonly path: string;
  readonly cost: number;
}

/** How many of the dearest parts are told. */
const MOST_PARTS = 5;

/** A field by which a query goes back up: rows of its type stand below it again, with a list between. */
export interface WayBack {
  readonly type: string;
  readonly node: FieldNode;
}

/** What of an operation is needed to measure it. */
export interface Measured {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode | undefined>>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** True for changes: a list of texts costs one, and `list` is the first page or report that is asked for. */
  readonly isChange: boolean;
  /** Epoch milliseconds: where a window without an end ends. */
  readonly nowMs: number;
  /** Who asks: an owner's sums cost more the more sites are his. Undefined where an operation is measured for nobody. */
  readonly caller: Pick<GraphqlContext, 'key' | 'owner'> | undefined;
}

/** How long the window of the report is that a selection stands in, in milliseconds; null where nobody can know before it is read. */
type Length = number | null;

const NOTHING: Measure = { cost: 0, depth: 0, below: new Set(), belowLists: new Set() };

/**
 * Measures a valid selection on a type: each field of each row costs one, a list as much as it can hold at most, a page as much as it
 * asks for, a series as many buckets as the window of its report can have. Each selection is looked at once for each type and length of
 * window, so fragments that spread one another cost no more than they are long.
 * `wayBack` is the first field found that a query may not be asked by; null where it only goes down.
 */
export function measure(
  measured: Measured,
  selection: SelectionSetNode,
  type: GraphQLNamedType,
): Measure & { readonly wayBack: WayBack | null; readonly list: FieldNode | null; readonly dearest: readonly Part[] } {
  const walk = new Walk(measured);
  const whole = walk.selection(selection, type, null);
  const dearest = [...walk.parts(selection, type)].sort((a, b) => b.cost - a.cost).slice(0, MOST_PARTS);
  return { ...whole, wayBack: walk.wayBack, list: walk.list, dearest };
}

class Walk {
  readonly #measured: Measured;
  readonly #known = new Map<SelectionSetNode, Map<string, Measure>>();
  wayBack: WayBack | null = null;
  list: FieldNode | null = null;

  constructor(measured: Measured) {
    this.#measured = measured;
  }

  selection(selections: SelectionSetNode, type: GraphQLNamedType, length: Length): Measure {
    const known = this.#known.get(selections) ?? new Map<string, Measure>();
    this.#known.set(selections, known);
    const key = `${type.name} ${length}`;
    const before = known.get(key);
    if (before) return before;
    known.set(key, NOTHING); // a circle of fragments is refused by validation; here it ends
    const parts = selections.selections.map((part) => {
      if (part.kind === Kind.FIELD) return this.#field(part, type, length);
      if (part.kind === Kind.INLINE_FRAGMENT)
        return this.#fragment(part.typeCondition?.name.value, part.selectionSet, type, length);
      const fragment = this.#measured.fragments[part.name.value];
      return fragment ? this.#fragment(fragment.typeCondition.name.value, fragment.selectionSet, type, length) : NOTHING;
    });
    const sum = {
      cost: parts.reduce((total, { cost }) => total + cost, 0),
      depth: Math.max(0, ...parts.map(({ depth }) => depth)),
      below: new Set(parts.flatMap(({ below }) => [...below])),
      belowLists: new Set(parts.flatMap(({ belowLists }) => [...belowLists])),
    };
    known.set(key, sum);
    return sum;
  }

  /** What each field of a selection costs, and in place of one that is an object what each of its fields does. Looks at each selection once. */
  *parts(selections: SelectionSetNode, type: GraphQLNamedType, above: readonly string[] = [], seen = new Set()): Generator<Part> {
    if (seen.has(selections)) return;
    seen.add(selections);
    for (const part of selections.selections) {
      if (part.kind === Kind.FIELD) {
        const path = [...above, part.alias?.value ?? part.name.value];
        const field = isObjectType(type) ? type.getFields()[part.name.value] : undefined;
        const inside = path.length < 2 && field && !isListType(getNullableType(field.type)) ? part.selectionSet : undefined;
        if (field && inside) yield* this.parts(inside, getNamedType(field.type), path, seen);
        else yield { path: path.join('.'), cost: this.#field(part, type, null).cost };
      } else {
        const fragment = part.kind === Kind.INLINE_FRAGMENT ? part : this.#measured.fragments[part.name.value];
        const condition = fragment?.typeCondition && this.#measured.schema.getType(fragment.typeCondition.name.value);
        if (fragment) yield* this.parts(fragment.selectionSet, condition ?? type, above, seen);
      }
    }
  }

  #fragment(condition: string | undefined, selections: SelectionSetNode, type: GraphQLNamedType, length: Length): Measure {
    const on = condition === undefined ? type : (this.#measured.schema.getType(condition) ?? type);
    return this.selection(selections, on, length);
  }

  #field(node: FieldNode, parent: GraphQLNamedType, around: Length = null): Measure {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    // What is asked of the schema itself has a limit of its own (introspection.ts).
    if (!field) return { ...NOTHING, cost: 1, depth: 1 };
    const type = getNamedType(field.type);
    const isList = isListType(getNullableType(field.type));
    const { own, rows } = this.#price(node, field);
    const { isChange } = this.#measured;
    if (isChange && own >= LIST_COST) this.list ??= node;
    const isOfTexts = isList && !isCompositeType(type);
    const length = takes(field, 'WindowInput') ? this.#lengthOf(node, field) : around;
    const most = isList ? Math.min(mostOf(parent.name, field.name), this.#bucketsOf(node, field, around)) : rows;
    const times = isList && isChange && isOfTexts ? 1 : most;
    const inside = node.selectionSet ? this.selection(node.selectionSet, type, length) : NOTHING;
    if (inside.belowLists.has(type.name)) this.wayBack ??= { type: type.name, node };
    const names = isCompositeType(type) ? [type.name] : [];
    return {
      cost: own + times * (inside.cost + (isList ? 1 : 0)),
      depth: inside.depth + 1,
      below: new Set([...names, ...inside.below]),
      belowLists: isList ? new Set([...names, ...inside.below]) : inside.belowLists,
    };
  }

  /** How long the window is that a field is asked for; what cannot be read is refused where it is executed. */
  #lengthOf(node: FieldNode, field: GraphQLField<unknown, unknown>): Length {
    const { nowMs } = this.#measured;
    try {
      const { fromMs, toMs } = askedWindow(this.#argumentsOf(node, field)['window'] as GivenWindow, nowMs);
      return fromMs === null ? null : (toMs ?? nowMs) - fromMs;
    } catch {
      return null;
    }
  }

  /** How many buckets a series has at most; of any other list no bound. */
  #bucketsOf(node: FieldNode, field: GraphQLField<unknown, unknown>, length: Length): number {
    if (!takes(field, 'SeriesEvery')) return Number.POSITIVE_INFINITY;
    return mostBuckets(length, (this.#argumentsOf(node, field)['every'] ?? 'hour') as SeriesUnit);
  }

  /** What a field costs itself, and how many rows its arguments ask for (see `complexity` where fields are made). */
  #price(node: FieldNode, field: GraphQLField<unknown, unknown>): { readonly own: number; readonly rows: number } {
    const said = field.extensions['complexity'];
    const price: unknown = typeof said === 'function' ? said(this.#argumentsOf(node, field), this.#measured.caller) : said;
    if (typeof price === 'number') return { own: price, rows: 1 };
    const { field: own = 1, multiplier: rows = 1 } = (price ?? {}) as { field?: number; multiplier?: number };
    return { own, rows };
  }

  /** Arguments that cannot be read cost what the usual ones do: execution refuses them. */
  #argumentsOf(node: FieldNode, field: GraphQLField<unknown, unknown>): Record<string, unknown> {
    try {
      return getArgumentValues(field, node, this.#measured.variables);
    } catch {
      return {};
    }
  }
}

/** True of a field with an argument of this type. */
function takes(field: GraphQLField<unknown, unknown>, typeName: string): boolean {
  return field.args.some(({ type }) => getNamedType(type).name === typeName);
}
