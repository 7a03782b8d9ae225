// node temporal-download.ts <folder> <version>: has the Temporal SDK download its CLI to <folder>, and prints the file's path.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';

const [folder, version] = process.argv.slice(2);
if (folder === undefined || version === undefined) throw new Error('usage: temporal-download.ts <folder> <version>');
mkdirSync(folder, { recursive: true });
Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
const runtime = Runtime.instance();
try {
  // The SDK downloads only to start: so start, and stop at once.
  const server = await runtime.createEphemeralServer({
    type: 'dev-server',
    exe: {
      type: 'cached-download',
      downloadDir: folder,
      version: `v${version}`,
      ttl: 0,
      sdkName: 'sdk-typescript',
      sdkVersion: '1.24.0',
    },
    namespace: 'default',
    ip: '127.0.0.1',
    port: null,
    uiPort: null,
    dbFilename: null,
    ui: false,
    log: { format: 'pretty', level: 'error' },
    extraArgs: [],
  });
  await runtime.shutdownEphemeralServer(server);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
const file = readdirSync(folder).find((name) => name.startsWith('temporal-'));
if (file === undefined) throw new Error(`the SDK left no program in ${folder}`);
process.stdout.write(join(folder, file));
process.exit(0);
