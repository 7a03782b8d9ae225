import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { EXAMPLES } from './examples.ts';

/** The page for people: one file that needs nothing from elsewhere, with the examples as tabs. `key` fills in the credential. */
export function renderPage(key: string | null): Buffer {
  const headers = JSON.stringify({ authorization: `Bearer ${key ?? '<your key>'}` }, null, 2);
  const html = renderGraphiQL({
    title: 'GraphiQL',
    endpoint: '/_svc/graphql',
    defaultHeaders: headers,
    headers,
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: 'headers',
    schemaDescription: true,
    inputValueDeprecation: true,
    defaultTabs: EXAMPLES.map(({ question, query }) => ({ query: `# ${question}\n${query}\n`, headers })),
  });
  return Buffer.from(html);
}
