/** A page's text in a result: data with its address, which nobody here reads. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { pagePoints } from '../../modules/kernel/rate.ts';
import type { PageText } from '../../modules/storefront/use/pages/fetch.ts';
import type { Relayed } from '../../modules/storefront/use/pages/relay.ts';
import type { ToolCall } from './tool.ts';
import { dataResult } from './tool.ts';

/** What was found out about a page, with its text as an embedded resource where there is one, which its caller owes for. */
export function pageResult(
  call: Pick<ToolCall, 'owe'>,
  data: Readonly<Record<string, unknown>>,
  page: PageText | null,
): CallToolResult {
  if (!page) return dataResult(data);
  const { url: uri, mediaType, title, text, isCut, bytes } = page;
  call.owe(pagePoints(bytes));
  const told = { ...data, ...(title === null ? {} : { title }), mediaType, ...(isCut ? { truncated: true } : {}) };
  const result = dataResult(told);
  const mimeType = mediaType === 'application/json' ? mediaType : 'text/plain';
  return { ...result, content: [...result.content, { type: 'resource', resource: { uri, mimeType, text } }] };
}

/** The same of a page with a licence: its text, or why there is none, and how to read it at its site. */
export function relayedResult(
  call: Pick<ToolCall, 'owe'>,
  data: Readonly<Record<string, unknown>>,
  relay: Relayed,
): CallToolResult {
  const how = { howToRead: relay.instructions };
  if (relay.relayed) return pageResult(call, { ...data, relayed: true, ...how }, relay.page);
  return dataResult({ ...data, relayed: false, because: relay.reason, says: relay.says, ...how });
}
