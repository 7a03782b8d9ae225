/** test/clients/README.md, from what ran. */
import type { Kits } from './kits.ts';
import type { HeldClient } from './table.ts';
import { MCP_BUYERS, PAGE_BUYERS, rowOf, TOKEN_BUYERS } from './table.ts';

const INTRODUCTION = `# Clients that buy

<!-- Written by \`npm run test:clients\`, from what ran. -->

Each is a published client, unmodified, that buys a page of three authors; the chain has to say that each was paid. A client that the registries of your
machine do not have keeps its row.
`;

/** The page. A client whose kit is not here keeps its row of the page before, if that is of the same version. */
export function renderClients(kits: Kits, bought: ReadonlySet<string>, before: string): string {
  const rows = (clients: readonly HeldClient[]) => clients.map((client) => rowFor(client, kits, bought, before)).join('\n');
  return `${INTRODUCTION}
## Pages, bought at a gate

One page has a title and an address outside Latin-1. A client without money, or whose payment is undecided (503), sends one payment and does not sign again.

| Client | Version | Speaks | Three authors paid | As it is used |
|---|---|---|---|---|
${rows(PAGE_BUYERS)}

Python's \`x402\` before 2.0 pays once in the life of a client: make one for each page.

## Pages, bought inside MCP

By the tool \`buy_page\` of \`POST /_svc/mcp\`; one page has a title outside Latin-1.

| Client | Version | Through | Three authors paid | As it is used |
|---|---|---|---|---|
${rows(MCP_BUYERS)}

## Tokens of RSL

Supertab's clients know a page's address alone. They find its terms, ask for a token ([rsl.md](../../docs/rsl.md)) and open the page. The client of npm pays in that call; the
client of PyPI cannot, and its account has bought the licence before. \`SUPERTAB_FOLDER\` names a checkout of getsupertab/connect-sdk-typescript where npm lacks it.

| Client | Version | Finds the terms by | Page opened, authors paid | As it is used |
|---|---|---|---|---|
${rows(TOKEN_BUYERS)}
`;
}

function rowFor(client: HeldClient, kits: Kits, bought: ReadonlySet<string>, before: string): string {
  const { name, version, speaks, kit, program } = client;
  const start = `| ${name} | ${version} | ${speaks} |`;
  const why = kits[kit];
  const kept = before.split('\n').find((line) => line.startsWith(start));
  if (why !== null && kept !== undefined) return kept;
  const verdict = why === null ? (bought.has(rowOf(client)) ? 'yes' : 'no') : 'not run: its packages were not available';
  return `${start} ${verdict} | [${program}](buyers/${program}) |`;
}
