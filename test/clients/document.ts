/** docs/clients.md, from what ran. */
import type { Kits } from './kits.ts';
import type { HeldClient } from './table.ts';
import { MCP_BUYERS, PAGE_BUYERS, rowOf, TOKEN_BUYERS } from './table.ts';

const INTRODUCTION = `# Clients that buy

<!-- Written by \`npm run test:clients\`, from what ran. -->

Every row is a published client, unmodified and used as its own documentation says, that a run of this repository holds against the service: it has to buy
a page of three authors, and the chain has to say that each author was paid. \`npm run test:clients\` installs them from the registries that your machine
has configured, runs them, and writes this page. A client that is not available there keeps the row that a machine with it wrote last.
`;

/** The page. A client whose kit is not here keeps its row of the page before, if that is of the same version. */
export function renderClients(kits: Kits, bought: ReadonlySet<string>, before: string): string {
  const rows = (clients: readonly HeldClient[]) => clients.map((client) => rowFor(client, kits, bought, before)).join('\n');
  return `${INTRODUCTION}
## Pages, bought at a gate

One page has a title and an address outside Latin-1. A client that runs out of money sends one payment and does not sign again, and so does one whose payment is
undecided (503 with \`Retry-After\`, no offer): the same payment, sent again, is charged once.

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

Supertab's clients know a page's address alone. They find its terms by what the site serves, ask for a token ([rsl.md](rsl.md)) and open the page with it; a
page that is free they read without one. The client of npm asks by a fetch that pays, and so buys the licence in that call; the client of PyPI cannot be
given one, and its account has bought the licence before. Without a licence and without money both are refused by a 402, which they report, and nothing moves.
The registry that is configured may lack the package of npm: \`SUPERTAB_FOLDER\` names a checkout of getsupertab/connect-sdk-typescript then.

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
  return `${start} ${verdict} | [${program}](../test/clients/buyers/${program}) |`;
}
