/** Every published client that is held against this service: where it comes from, and the program that buys with it as its own documentation says. */

/** What has to be installed before a client can run. `go-x402` is the foundation's module, `go` that of mark3labs; Supertab has two clients. */
export type Kit = 'node' | 'python' | 'go' | 'go-x402' | 'supertab' | 'supertab-python';

/** A client, as the table of test/clients/README.md names it. */
export interface HeldClient {
  readonly name: string;
  readonly version: string;
  readonly speaks: string;
  readonly kit: Kit;
  /** The program, in `test/clients/buyers`. */
  readonly program: string;
  /** Which MCP client a program pays through, where it knows several. */
  readonly line?: string;
}

/** Which client this is, among all. */
export function rowOf({ name, version, speaks }: HeldClient): string {
  return `${name} ${version} ${speaks}`;
}

/** Those that buy a page from a gate. */
export const PAGE_BUYERS: readonly HeldClient[] = [
  { name: '`@x402/fetch`', version: '2.27.0', speaks: 'x402 v2', kit: 'node', program: 'fetch-v2.js' },
  { name: '`@x402/axios`', version: '2.11.0', speaks: 'x402 v2', kit: 'node', program: 'axios-v2.js' },
  { name: '`x402-fetch`', version: '1.2.0', speaks: 'x402 v1', kit: 'node', program: 'fetch-v1.js' },
  { name: '`x402-axios`', version: '0.7.2', speaks: 'x402 v1', kit: 'node', program: 'axios-v1.js' },
  ...python('2.25.0', 'v2'),
  ...python('1.0.0', 'v1'),
  ...python('0.2.1', 'v1'),
  { name: 'Go `mark3labs/x402-go`', version: '0.13.0', speaks: 'x402 v1', kit: 'go', program: 'go/main.go' },
  { name: 'Go `x402-foundation/x402/go/v2`', version: '2.21.0', speaks: 'x402 v2', kit: 'go-x402', program: 'go-x402/main.go' },
];

function python(version: string, dialect: 'v1' | 'v2'): readonly HeldClient[] {
  return ['httpx', 'requests'].map((library) => ({
    name: `Python \`x402\` with ${library}`,
    version,
    speaks: `x402 ${dialect}`,
    kit: 'python',
    program: `${library}-${dialect}.py`,
  }));
}

/** Cloudflare's package, whose `agents/x402` pays inside MCP. */
export const CLOUDFLARE = { name: 'agents', version: '0.32.0' } as const;

/** Those that pay inside MCP. */
export const MCP_BUYERS: readonly HeldClient[] = [
  cloudflare('sdk-1', '`@modelcontextprotocol/sdk` 1.32.2'),
  cloudflare('client-2', '`@modelcontextprotocol/client` 2.4.0, as it comes'),
  cloudflare('client-2-auto', '`@modelcontextprotocol/client` 2.4.0, revision 2026-07-28'),
  {
    name: 'By hand, from the specification',
    version: 'transports-v2',
    speaks: 'JSON-RPC, payment as an object',
    kit: 'node',
    program: 'mcp-spec.js',
  },
];

function cloudflare(line: string, speaks: string): HeldClient {
  return {
    name: 'Cloudflare `agents/x402`',
    version: CLOUDFLARE.version,
    speaks,
    kit: 'node',
    program: 'mcp-cloudflare.js',
    line,
  };
}

/** Supertab's client for Node. */
export const SUPERTAB = { name: '@getsupertab/supertab-connect-sdk', version: '2.2.4' } as const;
/** Supertab's client for Python. */
export const SUPERTAB_PYTHON = { name: 'supertab-connect-sdk', version: '1.0.0' } as const;

/** Those that ask for a token of RSL. */
export const TOKEN_BUYERS: readonly HeldClient[] = [
  { name: `\`${SUPERTAB.name}\``, version: SUPERTAB.version, speaks: 'robots.txt', kit: 'supertab', program: 'supertab.js' },
  {
    name: `Python \`${SUPERTAB_PYTHON.name}\``,
    version: SUPERTAB_PYTHON.version,
    speaks: '/license.xml',
    kit: 'supertab-python',
    program: 'supertab.py',
  },
];
