/** A page's text in a result: data with its address, which nobody here reads. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { PageText } from '../../services/purchases/fetch.ts';
import type { Relayed } from '../../services/purchases/relay.ts';
import { dataResult } from './tool.ts';

/** Most characters of a page in a result: more than models read; whoever wants all of a longer one reads it with the licence. */
const MOST_CHARS = 500_000;

/** What was found out about a page, with its text as an embedded resource where there is one. */
export function pageResult(data: Readonly<Record<string, unknown>>, page: PageText | null): CallToolResult {
  if (!page) return dataResult(data);
  const { url: uri, mediaType, title, text } = page;
  const isCut = text.length > MOST_CHARS;
  const told = { ...data, ...(title === null ? {} : { title }), mediaType, ...(isCut ? { truncated: true } : {}) };
  const result = dataResult(told);
  const shown = isCut ? text.slice(0, MOST_CHARS).toWellFormed() : text;
  const mimeType = mediaType === 'application/json' ? mediaType : 'text/plain';
  return { ...result, content: [...result.content, { type: 'resource', resource: { uri, mimeType, text: shown } }] };
}

/** The same of a page with a licence: its text, or why there is none, and how to read it at its site. */
export function relayedResult(data: Readonly<Record<string, unknown>>, relay: Relayed): CallToolResult {
  const how = { howToRead: relay.instructions };
  if (relay.relayed) return pageResult({ ...data, relayed: true, ...how }, relay.page);
  return dataResult({ ...data, relayed: false, because: relay.reason, says: relay.says, ...how });
}
