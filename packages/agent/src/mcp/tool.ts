/** How a tool answers: data as JSON, a page's text as a resource of its own, and failures by their codes. */
import type { McpServer } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { AgentError } from '../errors.ts';
import type { Wallet } from '../paying/client.ts';
import type { Service } from '../service/service.ts';

/** What tools work with. */
export interface Desk {
  readonly wallet: Wallet;
  /** Null where no service is named: then pages are read, and licences are not to be had. */
  readonly service: Service | null;
  readonly send?: typeof fetch;
}

/** A text that somebody else wrote. */
export interface Quoted {
  readonly url: string;
  readonly contentType: string;
  readonly text: string;
}

/** An answer: facts, and texts of others. */
export interface Answer {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly quoted?: readonly Quoted[];
}

/** A tool. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** May sign payments, as the envelope allows. */
  readonly pays: boolean;
  readonly run: (desk: Desk, input: z.infer<Input>) => Promise<Answer>;
}

/** Puts a tool on a server. A failure is an answer, `code: sentence`; nothing of a library's own words is shown. */
export function register<Input extends z.ZodObject>(server: McpServer, desk: Desk, tool: Tool<Input>): void {
  const { name, title, description, input, pays, run } = tool;
  const annotations = { readOnlyHint: !pays, destructiveHint: false, idempotentHint: true, openWorldHint: true };
  server.registerTool(name, { title, description, inputSchema: input as z.ZodObject, annotations }, async (asked) => {
    try {
      const { facts, quoted = [] } = await run(desk, asked as z.infer<Input>);
      const texts = quoted.map(({ url, contentType, text }) => ({
        type: 'resource' as const,
        resource: { uri: url, mimeType: contentType.split(';')[0] ?? 'text/plain', text },
      }));
      return { content: [{ type: 'text' as const, text: JSON.stringify(facts) }, ...texts] };
    } catch (error) {
      const known = error instanceof AgentError ? error : new AgentError('site_failed', 'The call failed.');
      const { code, message, details } = known;
      return {
        isError: true,
        content: [{ type: 'text' as const, text: `${code}: ${message}` }],
        structuredContent: { code, ...details },
      };
    }
  });
}
