/** A tool of the MCP server: what it takes, what a call of it costs, and the service that answers it. */
import type { CallToolResult, McpServer, ServerContext, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Scope } from '../../domain/access/key.ts';
import type { Cost } from '../../domain/access/rate.ts';
import { COSTS } from '../../domain/access/rate.ts';
import { asServiceError } from '../errors.ts';
import type { AnybodyCall } from '../route.ts';
import { errorResult } from './dialects.ts';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** One call of a tool: the HTTP call it came by, and what the message says besides its arguments. */
export interface ToolCall extends AnybodyCall {
  /** `_meta` of the message. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Names of the extensions that the client says it knows. */
  readonly extensions: ReadonlySet<string>;
}

/** A tool that stands ready to be registered. */
export interface Tool {
  readonly name: string;
  /** The scope that a publisher key must have for it. */
  readonly scope?: Scope;
  register(server: McpServer, call: AnybodyCall): void;
}

interface ToolText<S extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses: what it does, what it costs. */
  readonly description: string;
  /** Strict: a member that means nothing is refused, and told. */
  readonly input: S;
  /** What a call counts for its caller's rate, besides the call of the endpoint. */
  readonly cost: Cost;
  readonly scope?: Scope;
  /** True where a call may move money. */
  readonly pays?: true;
  readonly run: (call: ToolCall, input: z.output<S>) => Promise<CallToolResult>;
}

/**
 * A tool. None has an `outputSchema`: clients of 2025 hold even an offer against it, and throw before they pay. What a tool throws is told as
 * `isError` with the code and sentence of domain/errors.ts; a defect says nothing of itself.
 */
export function defineTool<S extends z.ZodType>(tool: ToolText<S>): Tool {
  const { name, title, description, pays, cost, scope, run } = tool;
  const inputSchema = remembered(tool.input);
  const annotations = { title, readOnlyHint: !pays, destructiveHint: false, idempotentHint: !pays, openWorldHint: pays ?? false };
  const register = (server: McpServer, call: AnybodyCall): void => {
    server.registerTool(name, { title, description, inputSchema, annotations }, async (input, context) => {
      try {
        call.count(COSTS[cost]);
        return await run(toolCallOf(call, context), input);
      } catch (error) {
        const known = asServiceError(error);
        if (known.kind === 'defect') call.deps.log.error({ tool: name, err: error }, 'a tool met a defect');
        return errorResult(known);
      }
    });
  };
  return { name, register, ...(scope === undefined ? {} : { scope }) };
}

function toolCallOf(call: AnybodyCall, { mcpReq }: ServerContext): ToolCall {
  const envelope = (mcpReq.envelope ?? {}) as Readonly<Record<string, { readonly extensions?: object } | undefined>>;
  const known = envelope[CAPABILITIES]?.extensions ?? {};
  return { ...call, meta: mcpReq._meta ?? {}, extensions: new Set(Object.keys(known)) };
}

/** The schema with its JSON form made once: a server is made for each request, and `tools/list` asks for all of them. */
function remembered<S extends z.ZodType>(schema: S): StandardSchemaWithJSON<unknown, z.output<S>> {
  const standard = schema['~standard'] as unknown as StandardSchemaWithJSON<unknown, z.output<S>>['~standard'];
  const made = new Map<string, Record<string, unknown>>();
  const input: typeof standard.jsonSchema.input = (options) => {
    const known = made.get(options.target) ?? standard.jsonSchema.input(options);
    made.set(options.target, known);
    return known;
  };
  return { '~standard': { ...standard, jsonSchema: { ...standard.jsonSchema, input } } };
}

/** A result that is data: as text for the model, and as it is for programs. */
export function dataResult(data: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}
