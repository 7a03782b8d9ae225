/**
 * `npm run check`: every rule of this repository that a machine can hold, one line a step, the output of a step that fails.
 * Ends with status 0 only if all hold. `node tools/check.ts <step>…` runs only the named ones.
 */
import { checkBundle } from './check/bundle.ts';
import { checkEntities, DESCRIBED } from './check/entities.ts';
import { checkEnvironmentNames } from './check/env-names.ts';
import { checkGenerated } from './check/generated.ts';
import { checkTypeOnlyBridge } from './check/layers.ts';
import { checkMutants } from './check/mutants.ts';
import { checkStatements, STATEMENTS } from './check/statements.ts';
import { runTool } from './check/tool.ts';
import { checkWrites } from './check/writes.ts';

/** One step; it returns what is wrong, or nothing. */
interface Step {
  readonly name: string;
  readonly run: () => Promise<string | null>;
}

const STEPS: readonly Step[] = [
  { name: 'types', run: () => runTool('typescript', 'tsc', ['--noEmit', '-p', 'tsconfig.json']) },
  { name: 'types of the console', run: () => runTool('typescript', 'tsc', ['--noEmit', '-p', 'console/tsconfig.json']) },
  {
    name: 'style',
    run: () => runTool('@biomejs/biome', 'biome', ['check', '--error-on-warnings', '--max-diagnostics=100', '.']),
  },
  { name: 'layers', run: () => runTool('dependency-cruiser', 'depcruise', ['--config', '.dependency-cruiser.mjs', '.']) },
  { name: 'type-only imports', run: checkTypeOnlyBridge },
  { name: 'dead code', run: () => runTool('knip', 'knip', ['--no-progress', '--no-config-hints']) },
  {
    name: 'code only tests use',
    run: () =>
      runTool('knip', 'knip', ['--config=knip.product.json', '--include=files,exports', '--no-progress', '--no-config-hints']),
  },
  {
    name: 'dependencies that production does not load',
    run: () =>
      runTool('knip', 'knip', [
        '--config=knip.production.json',
        '--production',
        '--include=dependencies',
        '--no-progress',
        '--no-config-hints',
      ]),
  },
  { name: 'rows that are written have columns alone', run: async () => checkWrites() },
  { name: 'generated documents', run: checkGenerated },
  { name: 'environment names', run: checkEnvironmentNames },
  { name: 'mutants find their lines', run: checkMutants },
  { name: 'workflow bundle', run: checkBundle },
  { name: `entities and database agree (${DESCRIBED} tables)`, run: checkEntities },
  { name: `statements of SQL text and database agree (${STATEMENTS})`, run: checkStatements },
];

/** Runs one step and prints its line. A step that throws has failed; the message is its output. */
async function runStep({ name, run }: Step): Promise<boolean> {
  const startedAt = performance.now();
  const problem = await run().catch((error: unknown) =>
    error instanceof Error ? (error.stack ?? error.message) : String(error),
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${problem === null ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  if (problem !== null) console.log(problem.trimEnd().replace(/^/gm, '     '));
  return problem === null;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(`No such step: ${unknown.join(', ')}. There are: ${STEPS.map((step) => step.name).join(', ')}.`);
  process.exit(2);
}

let failed = 0;
for (const step of STEPS) {
  if (wanted.length > 0 && !wanted.includes(step.name)) continue;
  if (!(await runStep(step))) failed += 1;
}
console.log(failed === 0 ? 'All checks passed.' : `${failed} ${failed === 1 ? 'check' : 'checks'} failed.`);
process.exit(failed === 0 ? 0 : 1);
