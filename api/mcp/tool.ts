/** A tool of the MCP server: what it takes, what a call of it costs, and the service that answers it. */
import type { CallToolResult, Tool as ListedTool, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { outageFields } from '../../modules/kernel/errors.ts';
import type { Cost } from '../../modules/kernel/rate.ts';
import { COSTS } from '../../modules/kernel/rate.ts';
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

/** A tool that stands ready to be listed and called. */
export interface Tool {
  readonly name: string;
  /** The scope that a publisher key must have for it. */
  readonly scope?: Scope;
  /** How `tools/list` shows it; made once, the same for every caller. */
  readonly listed: ListedTool;
  /** Answers a call with what was sent as its arguments. Rejects never: what is wrong is told in the result. */
  answer(call: AnybodyCall, given: unknown, context: ServerContext): Promise<CallToolResult>;
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
 * `isError` with the code and sentence of modules/kernel/errors.ts; a defect says nothing of itself.
 */
export function defineTool<S extends z.ZodType>(tool: ToolText<S>): Tool {
  const { name, title, description, input, pays, cost, scope, run } = tool;
  const annotations = { title, readOnlyHint: !pays, destructiveHint: false, idempotentHint: !pays, openWorldHint: pays ?? false };
  const inputSchema = { type: 'object', ...z.toJSONSchema(input, { io: 'input' }) } as ListedTool['inputSchema'];
  const answer: Tool['answer'] = async (call, given, context) => {
    const read = input.safeParse(given ?? {});
    if (!read.success) return unreadResult(name, read.error.issues);
    try {
      call.count(COSTS[cost]);
      return await run(toolCallOf(call, context), read.data);
    } catch (error) {
      const known = asServiceError(error);
      if (known.kind === 'defect') call.deps.log.error({ tool: name, err: error }, 'a tool met a defect');
      else if (known.kind === 'unavailable')
        call.deps.log.warn({ tool: name, ...outageFields(known) }, 'a tool could not answer');
      return errorResult(known);
    }
  };
  return {
    name,
    listed: { name, title, description, inputSchema, annotations },
    answer,
    ...(scope === undefined ? {} : { scope }),
  };
}

/** Arguments that the tool does not take; told to the model, which may ask again. */
function unreadResult(
  name: string,
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): CallToolResult {
  const told = issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join(', ');
  const text = `Input validation error: Invalid arguments for tool ${name}: ${told}`;
  return { isError: true, content: [{ type: 'text', text }] };
}

function toolCallOf(call: AnybodyCall, { mcpReq }: ServerContext): ToolCall {
  const envelope = (mcpReq.envelope ?? {}) as Readonly<Record<string, { readonly extensions?: object } | undefined>>;
  const known = envelope[CAPABILITIES]?.extensions ?? {};
  return { ...call, meta: mcpReq._meta ?? {}, extensions: new Set(Object.keys(known)) };
}

/** A result that is data: as text for the model, and as it is for programs. */
export function dataResult(data: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}
