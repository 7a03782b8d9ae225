/** A TypeScript client made from an API description alone, as a stranger's generator would make one. */

/** The parts of a JSON schema (2020-12) that the description uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { required?: boolean; content: Readonly<Record<string, { schema: Schema }>> };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Reference {
  readonly $ref: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Header {
  readonly required?: boolean;
}

interface Response {
  readonly content?: Readonly<Record<string, { schema: Schema }>>;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
}

/** An OpenAPI 3.1 document, as far as a client needs it. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly headers?: Readonly<Record<string, Header>>;
  };
}

/** Source of a module with a type a component schema, and `createClient(baseUrl, token)` with a method an operation. */
export function generateClient(document: ApiDocument): string {
  const types = Object.entries(document.components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const methods = operations.map(({ path, method, operation }) => {
    const { operationId: id } = operation;
    const isForm = operation.requestBody?.content['application/json'] === undefined && operation.requestBody !== undefined;
    return `    ${id}: (given: ${inputOf(document, operation)}): Promise<${outputOf(document, operation)}> => send('${method}', '${path}', given, ${isForm}) as never,`;
  });
  return `${types.join('\n')}

interface Given { path?: Record<string, string>; query?: Record<string, string | undefined>; body?: unknown; headers?: Record<string, string | undefined> }

export function createClient(baseUrl: string, token: string | null) {
  const send = async (method: string, path: string, given: Given, isForm: boolean): Promise<unknown> => {
    const filled = path.replace(/\\{(\\w+)\\}/g, (_, name: string) => encodeURIComponent(given.path?.[name] ?? ''));
    const url = new URL(baseUrl + filled);
    for (const [name, value] of Object.entries(given.query ?? {})) if (value !== undefined) url.searchParams.set(name, value);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(given.headers ?? {})) if (value !== undefined) headers[name] = value;
    if (token !== null) headers['authorization'] ??= 'Bearer ' + token;
    const init: RequestInit = { method: method.toUpperCase(), headers };
    if (given.body !== undefined) {
      headers['content-type'] = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
      init.body = isForm ? new URLSearchParams(given.body as Record<string, string>).toString() : JSON.stringify(given.body);
    }
    const response = await fetch(url, init);
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: Object.fromEntries(response.headers), body: isJson ? await response.json() : await response.text() };
  };
  return {
${methods.join('\n')}
  };
}
`;
}

/** What a reference leads to; anything else is itself. */
function at<Thing extends object>(document: ApiDocument, thing: Thing | Reference): Thing {
  if (!('$ref' in thing)) return thing;
  const [, , group, name] = thing.$ref.split('/') as [string, string, 'parameters' | 'headers', string];
  return document.components[group]?.[name] as unknown as Thing;
}

function inputOf(document: ApiDocument, { parameters = [], requestBody }: Operation): string {
  const known = parameters.map((parameter) => at<Parameter>(document, parameter));
  const members = ['path', 'query', 'header'].flatMap((place) => {
    const own = known.filter((parameter) => parameter.in === place);
    if (own.length === 0) return [];
    const isNeeded = own.some(({ required }) => required === true);
    const fields = own.map(({ name, required, schema }) => `${JSON.stringify(name)}${required ? '' : '?'}: ${typeOf(schema)}`);
    return [`${place === 'header' ? 'headers' : place}${isNeeded ? '' : '?'}: { ${fields.join('; ')} }`];
  });
  const [body] = Object.values(requestBody?.content ?? {});
  if (body) members.push(`body${requestBody?.required ? '' : '?'}: ${typeOf(body.schema)}`);
  return `{ ${members.join('; ')} }`;
}

function outputOf(document: ApiDocument, { responses }: Operation): string {
  const answers = Object.entries(responses).map(([status, { content, headers = {} }]) => {
    const json = content?.['application/json']?.schema;
    const named = Object.entries(headers).map(
      ([name, header]) => `${JSON.stringify(name.toLowerCase())}${at<Header>(document, header).required ? '' : '?'}: string`,
    );
    return `{ status: ${status}; headers: { ${named.join('; ')} }; body: ${json ? typeOf(json) : 'string'} }`;
  });
  return answers.join(' | ');
}

/** The TypeScript type of a schema. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'never';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ') || 'never';
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return `(${union.map(typeOf).join(' | ')})`;
  if (schema.allOf) return `(${schema.allOf.map(typeOf).join(' & ')})`;
  if (Array.isArray(schema.type)) return `(${schema.type.map((type: string) => typeOf({ ...schema, type })).join(' | ')})`;
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `${schema.items ? `(${typeOf(schema.items)})` : 'unknown'}[]`;
    case 'object':
      return objectOf(schema);
    default:
      return 'unknown';
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (additionalProperties === false || (additionalProperties === undefined && fields.length > 0))
    return `{ ${fields.join('; ')} }`;
  const rest = typeof additionalProperties === 'object' && fields.length === 0 ? typeOf(additionalProperties) : 'unknown';
  return `{ ${[...fields, `[more: string]: ${rest}`].join('; ')} }`;
}
