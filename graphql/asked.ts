import type { GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import { getArgumentValues, getNamedType, isInterfaceType, isObjectType, Kind } from 'graphql';

/**
 * The arguments of every selection of a field right below the one that is being resolved, by whatever alias or fragment; none when it is
 * not asked for. Its parent reads what all of them need at one moment. Arguments that cannot be read are left out: execution refuses them.
 */
export function argumentsBelow(info: GraphQLResolveInfo, name: string): readonly Readonly<Record<string, unknown>>[] {
  const type = getNamedType(info.returnType);
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  if (!field) throw new Error(`${type.name} has no field ${name}`);
  const seen = new Set<SelectionSetNode>();
  const found: Record<string, unknown>[] = [];
  const walk = (selections: SelectionSetNode | undefined): void => {
    if (!selections || seen.has(selections)) return;
    seen.add(selections);
    for (const part of selections.selections) {
      if (part.kind === Kind.FRAGMENT_SPREAD) walk(info.fragments[part.name.value]?.selectionSet);
      else if (part.kind === Kind.INLINE_FRAGMENT) walk(part.selectionSet);
      else if (part.name.value === name) {
        try {
          found.push(getArgumentValues(field, part, info.variableValues));
        } catch {
          // refused where the field itself is executed
        }
      }
    }
  };
  for (const node of info.fieldNodes) walk(node.selectionSet);
  return found;
}
