/** Runs a worker of this folder on `workerd`: node workerd.js <entry>; PORT, and the variables named SVC_… are given to it. */
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const [entry] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: [entry],
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['node:*'],
});
const variables = Object.entries(process.env).filter(([name]) => name.startsWith('SVC_'));
const worker = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  host: '127.0.0.1',
  port: Number(process.env.PORT),
  compatibilityDate: '2026-07-30',
  compatibilityFlags: ['nodejs_compat'],
  bindings: Object.fromEntries(variables),
});
await worker.ready;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => worker.dispose());
