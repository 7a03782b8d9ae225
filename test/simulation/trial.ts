import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Bug } from './bugs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What the simulator runs of the service, besides itself: no package among it. */
const PARTS = ['modules', 'platform/chain/evidence/evidence.ts', 'platform/chain/evidence/spending.ts', 'test/simulation'];

/** What a run with a bug showed: after how many schedules, and the sentence of the invariant that did not hold. */
export interface Trial {
  readonly schedules: number;
  readonly broken: string | null;
}

/**
 * Runs the simulator on a copy of the service's rules with a bug put in, in a Node of its own, until an invariant breaks. `null` puts
 * nothing in. Throws when a search text does not occur exactly once.
 */
export async function tryBug(bug: Bug | null, options: { readonly schedules: number; readonly seed: number }): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'simulation-'));
  try {
    mkdirSync(join(folder, 'chain'));
    mkdirSync(join(folder, 'test'));
    for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const { file, search, replace } of bug?.edits ?? []) {
      const [before, after, ...more] = readFileSync(join(folder, file), 'utf8').split(search);
      if (before === undefined || after === undefined || more.length > 0)
        throw new Error(`${file} does not hold once: ${search}`);
      writeFileSync(join(folder, file), before + replace + after);
    }
    const script = `import { simulate } from ${JSON.stringify(join(folder, 'test/simulation/simulate.ts'))};
      const { schedules, broken } = await simulate(${JSON.stringify(options)});
      console.log(JSON.stringify({ schedules, broken: broken?.broken ?? null }));`;
    const node = ['--no-warnings', '--input-type=module', '--eval', script];
    return JSON.parse((await promisify(execFile)(process.execPath, node)).stdout) as Trial;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
