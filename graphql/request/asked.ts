import type { FieldNode, GraphQLField, GraphQLOutputType, GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import { getArgumentValues, getNamedType, isInterfaceType, isObjectType, Kind } from 'graphql';

/**
 * The arguments of every selection of a field right below the one that is being resolved, by whatever alias or fragment; none when it is
 * not asked for. Its parent reads what all of them need at one moment. Arguments that cannot be read are left out: execution refuses them.
 */
export function argumentsBelow(info: GraphQLResolveInfo, name: string): readonly Arguments[] {
  const field = fieldOf(info.returnType, name);
  return selectionsOf(info, info.fieldNodes, name).flatMap((node) => argumentsOf(info, field, node));
}

/** Arguments as they are given, or by default. */
type Arguments = Readonly<Record<string, unknown>>;

/** A page of a list below the field that is being resolved, and a field that is asked of its rows. */
interface PageBelow {
  readonly page: Arguments;
  readonly ofRows: readonly Arguments[];
}

/** The arguments of every page of a list right below whose rows are asked for a field, with those of the field. */
export function pagesBelow(info: GraphQLResolveInfo, list: string, name: string): readonly PageBelow[] {
  const listField = fieldOf(info.returnType, list);
  const field = fieldOf(fieldOf(listField.type, 'nodes').type, name);
  return selectionsOf(info, info.fieldNodes, list).flatMap((node) => {
    const edges = selectionsOf(info, [node], 'edges');
    const rows = [...selectionsOf(info, [node], 'nodes'), ...selectionsOf(info, edges, 'node')];
    const ofRows = selectionsOf(info, rows, name).flatMap((one) => argumentsOf(info, field, one));
    return ofRows.length === 0 ? [] : argumentsOf(info, listField, node).map((page) => ({ page, ofRows }));
  });
}

function fieldOf(parent: GraphQLOutputType, name: string): GraphQLField<unknown, unknown> {
  const type = getNamedType(parent);
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  if (!field) throw new Error(`${type.name} has no field ${name}`);
  return field;
}

/** None where they cannot be read: they are refused where the field itself is executed. */
function argumentsOf(info: GraphQLResolveInfo, field: GraphQLField<unknown, unknown>, node: FieldNode): Arguments[] {
  try {
    return [getArgumentValues(field, node, info.variableValues)];
  } catch {
    return [];
  }
}

/** True when a field is asked for below any of some fields right below the one that is being resolved. */
export function isAskedBelow(info: GraphQLResolveInfo, parents: readonly string[], name: string): boolean {
  return parents.some((parent) => selectionsOf(info, selectionsOf(info, info.fieldNodes, parent), name).length > 0);
}

/** Every selection of a field in the selections of some others, by whatever alias or fragment. */
function selectionsOf(info: GraphQLResolveInfo, nodes: readonly FieldNode[], name: string): readonly FieldNode[] {
  const seen = new Set<SelectionSetNode>();
  const found: FieldNode[] = [];
  const walk = (selections: SelectionSetNode | undefined): void => {
    if (!selections || seen.has(selections)) return;
    seen.add(selections);
    for (const part of selections.selections) {
      if (part.kind === Kind.FRAGMENT_SPREAD) walk(info.fragments[part.name.value]?.selectionSet);
      else if (part.kind === Kind.INLINE_FRAGMENT) walk(part.selectionSet);
      else if (part.name.value === name) found.push(part);
    }
  };
  for (const node of nodes) walk(node.selectionSet);
  return found;
}
