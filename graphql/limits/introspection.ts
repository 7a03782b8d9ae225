import type { ASTVisitor, FieldNode, SelectionSetNode, ValidationContext, ValidationRule } from 'graphql';
import { Kind } from 'graphql';
import { limitRefusal } from './refusal.ts';

/** Lists of the schema about the schema that multiply when one stands below another. */
const LISTS: ReadonlySet<string> = new Set(['fields', 'inputFields', 'interfaces', 'possibleTypes']);

/** How many of these lists may stand below one another. Tools ask `__schema` for one; people ask `__type` for the next one, too. */
const MOST_LISTS: Readonly<Record<string, number>> = { __schema: 1, __type: 2 };

/** What of a selection can be too much, fragments included. */
interface Shape {
  readonly lists: number;
  readonly hasAlias: boolean;
}

/**
 * Keeps questions about the schema as small as tools ask them: once a document, without aliases, no lists of lists. The schema's own
 * cost and depth do not count what is asked of the schema itself (GraphQL, Introspection).
 */
export const introspectionLimit: ValidationRule = (context): ASTVisitor => {
  let isAsked = false;
  return {
    Field: (node) => {
      const most = MOST_LISTS[node.name.value];
      if (most === undefined) return;
      const { lists, hasAlias } = shapeOfField(context, node, new Map());
      if (isAsked || hasAlias || lists > most) {
        const sentence = 'introspect the schema once per query, without aliases and without fields of fields';
        context.reportError(limitRefusal('introspection', sentence, { node }));
      }
      isAsked = true;
    },
  };
};

function shapeOfField(context: ValidationContext, node: FieldNode, fragments: Map<string, Shape>): Shape {
  const below = node.selectionSet ? shapeOf(context, node.selectionSet, fragments) : { lists: 0, hasAlias: false };
  return {
    lists: below.lists + (LISTS.has(node.name.value) ? 1 : 0),
    hasAlias: below.hasAlias || node.alias !== undefined,
  };
}

function shapeOf(context: ValidationContext, selections: SelectionSetNode, fragments: Map<string, Shape>): Shape {
  const shapes = selections.selections.map((selection) => {
    if (selection.kind === Kind.FIELD) return shapeOfField(context, selection, fragments);
    if (selection.kind === Kind.INLINE_FRAGMENT) return shapeOf(context, selection.selectionSet, fragments);
    return shapeOfFragment(context, selection.name.value, fragments);
  });
  return { lists: Math.max(0, ...shapes.map(({ lists }) => lists)), hasAlias: shapes.some(({ hasAlias }) => hasAlias) };
}

/** Each fragment is looked at once; one that spreads itself is refused by another rule. */
function shapeOfFragment(context: ValidationContext, name: string, fragments: Map<string, Shape>): Shape {
  const known = fragments.get(name);
  if (known !== undefined) return known;
  fragments.set(name, { lists: 0, hasAlias: false });
  const fragment = context.getFragment(name);
  const shape = fragment ? shapeOf(context, fragment.selectionSet, fragments) : { lists: 0, hasAlias: false };
  fragments.set(name, shape);
  return shape;
}
