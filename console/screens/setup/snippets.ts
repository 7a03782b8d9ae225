/** What an owner copies to his server. */
export interface Snippet {
  readonly key: string;
  readonly label: string;
  readonly parts: readonly { readonly where: string; readonly text: string }[];
}

const NO_KEY = '<your key>';

/** The package's lines for each kind of server, with this service's address and, where it is at hand, the key. */
export function snippetsOf({
  serviceUrl,
  token,
  prefixes,
}: {
  readonly serviceUrl: string;
  readonly token: string | null;
  readonly prefixes: readonly string[] | null;
}): readonly Snippet[] {
  const environment = { where: 'Environment of your server', text: `SVC_URL=${serviceUrl}\nSVC_API_KEY=${token ?? NO_KEY}` };
  const install = {
    where: 'In the folder of your site. Until the package is on npm, give the path of its tarball instead of the name',
    text: 'npm install @content-settlement/publisher',
  };
  const matchers = (prefixes ?? ['/']).map((prefix) => `'${prefix.replace(/'/g, "\\'")}:path*'`).join(', ');
  return [
    {
      key: 'express',
      label: 'Express',
      parts: [
        install,
        environment,
        {
          where: 'Before your routes and static files',
          text: "import { contentSettlement } from '@content-settlement/publisher/express';\napp.use(contentSettlement());",
        },
      ],
    },
    {
      key: 'fetch',
      label: 'Fetch handler',
      parts: [
        install,
        environment,
        {
          where: 'Around your handler (Hono, Workers, Deno, Bun)',
          text: "import { contentSettlement } from '@content-settlement/publisher/fetch';\nexport default { fetch: contentSettlement()(app.fetch) };",
        },
      ],
    },
    {
      key: 'next',
      label: 'Next',
      parts: [
        install,
        environment,
        {
          where: 'proxy.js',
          text: `import { contentSettlement } from '@content-settlement/publisher/next';\nexport const proxy = contentSettlement();\nexport const config = { matcher: [${matchers}, '/.well-known/svc-challenge/:token'] };`,
        },
      ],
    },
    {
      key: 'wordpress',
      label: 'WordPress',
      parts: [
        { where: 'Settings → Content Settlement, step 1: address of the service', text: serviceUrl },
        { where: 'and the key', text: token ?? NO_KEY },
      ],
    },
  ];
}
