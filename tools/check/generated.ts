import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describeService } from '../../api/app.ts';
import { creditsSchema } from '../../api/schemas/credits.ts';
import { describeSchema } from '../../graphql/schema/schema.ts';
import { renderEnvExample } from '../../process/config/env-example.ts';
import { renderProofs } from './proofs.ts';
import { renderSpecification } from './specification.ts';
import { ROOT } from './tool.ts';

/** A committed file that is written from code; `render` gives the same text every time. */
interface GeneratedDocument {
  readonly path: string;
  readonly render: () => string | Promise<string>;
}

/** All of them. The contracts' artifacts have a command and a test of their own (`npm run contracts`). */
const DOCUMENTS: readonly GeneratedDocument[] = [
  { path: 'schema.graphql', render: describeSchema },
  { path: '.env.example', render: renderEnvExample },
  { path: 'docs/credits-api.schema.json', render: () => `${JSON.stringify(creditsSchema(), null, 2)}\n` },
  { path: 'docs/specification.md', render: renderSpecification },
  { path: 'test/mutants/README.md', render: renderProofs },
  { path: 'openapi.json', render: () => `${JSON.stringify(describeService('/'), null, 2)}\n` },
];

/** Writes every document anew; returns the paths that changed. A second call changes none. */
export async function writeGenerated(): Promise<string[]> {
  const changed: string[] = [];
  for (const { path, render } of DOCUMENTS) {
    const text = await render();
    if (existsSync(ROOT + path) && (await readFile(ROOT + path, 'utf8')) === text) continue;
    await writeFile(ROOT + path, text);
    changed.push(path);
  }
  return changed;
}

/** The step of `npm run check`: null when every committed document is what its code renders. */
export async function checkGenerated(): Promise<string | null> {
  const stale: string[] = [];
  for (const { path, render } of DOCUMENTS) {
    const committed = existsSync(ROOT + path) ? await readFile(ROOT + path, 'utf8') : null;
    if (committed !== (await render())) stale.push(`${path} is not what the code renders; run \`npm run generate\``);
  }
  return stale.length === 0 ? null : stale.join('\n');
}
