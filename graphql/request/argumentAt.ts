import type { GraphQLError } from 'graphql';
import { isValueNode, Kind, parse, visit } from 'graphql';

/**
 * Which argument the value of an error stands in, with the members of inputs: `window.from`. Null where it stands in none, or the error is
 * of something else. The document has been parsed before, so that its limits hold.
 */
export function argumentAt({ nodes }: Pick<GraphQLError, 'nodes'>): string | null {
  const [node] = nodes ?? [];
  if (!node?.loc || !isValueNode(node)) return null;
  const { start, source } = node.loc;
  const names: string[] = [];
  visit(parse(source), {
    enter: (part) => {
      if (part.loc && (start < part.loc.start || start >= part.loc.end)) return false;
      if (part.kind === Kind.ARGUMENT || part.kind === Kind.OBJECT_FIELD) names.push(part.name.value);
      return undefined;
    },
  });
  return names.length === 0 ? null : names.join('.');
}
