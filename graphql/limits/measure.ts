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
}

const NOTHING: Measure = { cost: 0, depth: 0, below: new Set(), belowLists: new Set() };

/**
 * Measures a valid selection on a type: each field of each row costs one, a list as much as it can hold at most, a page as much as it
 * asks for. Each selection is looked at once for each type, so fragments that spread one another cost no more than they are long.
 * `wayBack` is the first field found that a query may not be asked by; null where it only goes down.
 */
export function measure(
  measured: Measured,
  selection: SelectionSetNode,
  type: GraphQLNamedType,
): Measure & { readonly wayBack: WayBack | null; readonly list: FieldNode | null } {
  const walk = new Walk(measured);
  return { ...walk.selection(selection, type), wayBack: walk.wayBack, list: walk.list };
}

class Walk {
  readonly #measured: Measured;
  readonly #known = new Map<SelectionSetNode, Map<GraphQLNamedType, Measure>>();
  wayBack: WayBack | null = null;
  list: FieldNode | null = null;

  constructor(measured: Measured) {
    this.#measured = measured;
  }

  selection(selections: SelectionSetNode, type: GraphQLNamedType): Measure {
    const byType = this.#known.get(selections) ?? new Map<GraphQLNamedType, Measure>();
    this.#known.set(selections, byType);
    const known = byType.get(type);
    if (known) return known;
    byType.set(type, NOTHING); // a circle of fragments is refused by validation; here it ends
    const parts = selections.selections.map((part) => {
      if (part.kind === Kind.FIELD) return this.#field(part, type);
      if (part.kind === Kind.INLINE_FRAGMENT) return this.#fragment(part.typeCondition?.name.value, part.selectionSet, type);
      const fragment = this.#measured.fragments[part.name.value];
      return fragment ? this.#fragment(fragment.typeCondition.name.value, fragment.selectionSet, type) : NOTHING;
    });
    const sum = {
      cost: parts.reduce((total, { cost }) => total + cost, 0),
      depth: Math.max(0, ...parts.map(({ depth }) => depth)),
      below: new Set(parts.flatMap(({ below }) => [...below])),
      belowLists: new Set(parts.flatMap(({ belowLists }) => [...belowLists])),
    };
    byType.set(type, sum);
    return sum;
  }

  #fragment(condition: string | undefined, selections: SelectionSetNode, type: GraphQLNamedType): Measure {
    return this.selection(selections, condition === undefined ? type : (this.#measured.schema.getType(condition) ?? type));
  }

  #field(node: FieldNode, parent: GraphQLNamedType): Measure {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    // What is asked of the schema itself has a limit of its own (introspection.ts).
    if (!field) return { ...NOTHING, cost: 1, depth: 1 };
    const type = getNamedType(field.type);
    const isList = isListType(getNullableType(field.type));
    const { own, rows } = this.#price(node, field);
    const { isChange } = this.#measured;
    if (isChange && own >= LIST_COST) this.list ??= node;
    const isOfTexts = isList && !isCompositeType(type);
    const times = isList ? (isChange && isOfTexts ? 1 : mostOf(parent.name, field.name)) : rows;
    const inside = node.selectionSet ? this.selection(node.selectionSet, type) : NOTHING;
    if (inside.belowLists.has(type.name)) this.wayBack ??= { type: type.name, node };
    const names = isCompositeType(type) ? [type.name] : [];
    return {
      cost: own + times * (inside.cost + (isList ? 1 : 0)),
      depth: inside.depth + 1,
      below: new Set([...names, ...inside.below]),
      belowLists: isList ? new Set([...names, ...inside.below]) : inside.belowLists,
    };
  }

  /** What a field costs itself, and how many rows its arguments ask for (see `complexity` where fields are made). */
  #price(node: FieldNode, field: GraphQLField<unknown, unknown>): { readonly own: number; readonly rows: number } {
    const said = field.extensions['complexity'];
    const price: unknown = typeof said === 'function' ? said(this.#argumentsOf(node, field)) : said;
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
