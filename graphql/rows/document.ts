import type {
  DocumentNode,
  FieldNode,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';
import { getNamedType, getNullableType, isListType, isObjectType, Kind, parse, print, validate } from 'graphql';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { PAGE_LIMIT, TOKEN_LIMIT } from '../limits/limits.ts';
import { judge } from '../limits/plugins.ts';
import { publicError } from '../request/errors.ts';

/** A query that gives a list page by page. */
export interface PagedQuery {
  /** The document that is executed, with the cursor as a variable. */
  readonly text: string;
  /** Where its page is in the data, by the names of the answer. */
  readonly way: readonly string[];
}

/** The variable of the cursor; no query may have it. */
export const CURSOR = 'rowsAfter';

const SHAPE = 'a query of one list and its rows, such as `query { tenant { crossings(filter: {…}) { nodes { at micro } } } }`';

/**
 * Makes a query of one list one of its pages: `first` rows, or as many as a page may have, after the cursor. Throws invalid_parameter for a
 * document that is not valid, asks for anything besides the rows of one list of `tenant`, or costs more than a query may.
 */
export function pagedQuery(schema: GraphQLSchema, query: string, variables: Readonly<Record<string, unknown>>): PagedQuery {
  const document = parsed(query);
  const [operation, ...others] = document.definitions.filter((part) => part.kind === Kind.OPERATION_DEFINITION);
  if (!operation || others.length > 0 || operation.operation !== 'query') refuse(`must be ${SHAPE}`);
  const way: string[] = [];
  const paged = withPages(operation.selectionSet, schema.getQueryType() as GraphQLObjectType, way);
  if (way.length < 2) refuse(`must be ${SHAPE}`);
  const cursor = parse(`query ($${CURSOR}: String) { __typename }`).definitions[0] as OperationDefinitionNode;
  const given = operation.variableDefinitions ?? [];
  if (given.some(({ variable }) => variable.name.value === CURSOR)) refuse(`must not have a variable ${CURSOR}`);
  const made: DocumentNode = {
    ...document,
    definitions: document.definitions.map((part) =>
      part === operation
        ? { ...operation, selectionSet: paged, variableDefinitions: [...given, ...(cursor.variableDefinitions ?? [])] }
        : part,
    ),
  };
  const text = print(made);
  const [error] = validate(schema, parse(text));
  if (error) refuse(publicError(error).message);
  const { refusal } = judge({ schema, document: parse(text), variableValues: { ...variables, [CURSOR]: null } } as never);
  if (refusal) refuse(refusal.message);
  return { text, way };
}

function parsed(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: TOKEN_LIMIT, noLocation: true });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : 'is no document');
  }
}

/** The selections down to the list, each of one field, with the list as pages. */
function withPages(selections: SelectionSetNode, type: GraphQLObjectType, way: string[]): SelectionSetNode {
  const [node, ...others] = selections.selections;
  if (!node || node.kind !== Kind.FIELD || others.length > 0) refuse(`must be ${SHAPE}`);
  if (way.length === 0 && (node.name.value !== 'tenant' || (node.arguments ?? []).length > 0)) {
    refuse('must ask `tenant` without an argument: the link is of the site that is named beside it');
  }
  const field = type.getFields()[node.name.value];
  const inside = field && getNamedType(field.type);
  if (!field || !isObjectType(inside) || !node.selectionSet) refuse(`must be ${SHAPE}`);
  way.push(node.alias?.value ?? node.name.value);
  if (isListType(getNullableType(field.type)))
    refuse(`must come to one list: ${node.name.value} is a list of its own, without pages`);
  const isList = field.args.some(({ name }) => name === 'after') && inside.getFields()['pageInfo'] !== undefined;
  const below = isList ? page(node) : { ...node, selectionSet: withPages(node.selectionSet, inside, way) };
  return { ...selections, selections: [below] };
}

const PAGING: ReadonlySet<string> = new Set(['after', 'before', 'last']);

function page(node: FieldNode): FieldNode {
  const given = node.arguments ?? [];
  const [rows, ...others] = node.selectionSet?.selections ?? [];
  if (!rows || rows.kind !== Kind.FIELD || rows.name.value !== 'nodes' || rows.alias || others.length > 0) {
    refuse('must ask the list for its `nodes` and nothing else');
  }
  if (given.some(({ name }) => PAGING.has(name.value))) refuse('must not say after, before or last: all rows are given');
  const hasFirst = given.some(({ name }) => name.value === 'first');
  const sample = parse(
    `{ x(${hasFirst ? '' : `first: ${PAGE_LIMIT}, `}after: $${CURSOR}) { pageInfo { hasNextPage endCursor } } }`,
    {
      noLocation: true,
    },
  );
  const [{ selectionSet }] = sample.definitions as unknown as readonly [OperationDefinitionNode];
  const added = selectionSet.selections[0] as FieldNode;
  return {
    ...node,
    arguments: [...given, ...(added.arguments ?? [])],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [rows, ...(added.selectionSet?.selections ?? [])] },
  };
}

function refuse(sentence: string): never {
  throw new ServiceError('invalid_parameter', `query: ${sentence}`, { parameter: 'query' });
}
