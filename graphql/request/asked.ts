import type { FieldNode, GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import { getArgumentValues, getNamedType, isInterfaceType, isObjectType, Kind } from 'graphql';

/**
 * The arguments of every selection of a field right below the one that is being resolved, by whatever alias or fragment; none when it is
 * not asked for. Its parent reads what all of them need at one moment. Arguments that cannot be read are left out: execution refuses them.
 */
export function argumentsBelow(info: GraphQLResolveInfo, name: string): readonly Readonly<Record<string, unknown>>[] {
  const type = getNamedType(info.returnType);
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  if (!field) throw new Error(`${type.name} has no field ${name}`);
  return selectionsOf(info, info.fieldNodes, name).flatMap((node) => {
    try {
      return [getArgumentValues(field, node, info.variableValues)];
    } catch {
      return []; // refused where the field itself is executed
    }
  });
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
