import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger, WorkflowBundleOption } from '@temporalio/worker';
import { bundleWorkflowCode } from '@temporalio/worker';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KEPT_MS = 7 * 86_400_000;

/** Whatever may be inside a bundle; `npm run check` refuses one that holds anything else of ours. */
const SOURCES = ['workflows', 'modules'];

/** Where the sources are, and where bundles are kept. */
interface BundlePlaces {
  readonly root: string;
  readonly folder: string;
}

const PLACES: BundlePlaces = { root: ROOT, folder: join(ROOT, 'node_modules', '.cache', 'content-settlement') };

/**
 * The workflows as Temporal's worker loads them, with the interceptors that trace them if `traced`. Bundling takes seconds of
 * CPU, so that a bundle is kept under a hash of all that it could be made of: every source, and every package that is installed. Nothing
 * is looked up by time, so that one of other sources is never found. Where it cannot be kept it is made for this process alone.
 * Rejects when the workflows cannot be bundled. Processes that come at the same time each make one, the same.
 */
export async function openWorkflowBundle(
  traced: boolean,
  { root, folder }: BundlePlaces = PLACES,
): Promise<WorkflowBundleOption> {
  const codePath = join(folder, `workflows-${hashOf(root, traced)}.js`);
  if (existsSync(codePath)) return { codePath };
  const said: string[] = [];
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows', 'index.ts'),
    workflowInterceptorModules: traced ? [tracingModule()] : [],
    logger: createErrorLogger(said),
  }).catch((cause: unknown) => {
    throw new Error(['the workflows cannot be bundled', ...said, String(cause)].join('\n'), { cause });
  });
  return keep(folder, codePath, code) ? { codePath } : { code };
}

/** Written beside and renamed into place, so that half a bundle is never found. False where nothing can be written. */
function keep(folder: string, codePath: string, code: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    const part = `${codePath}.${randomUUID()}`;
    writeFileSync(part, code);
    renameSync(part, codePath);
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (name.startsWith('workflows-') && Date.now() - statSync(file).mtimeMs > KEPT_MS) rmSync(file, { force: true });
    }
    return true;
  } catch {
    return false;
  }
}

function hashOf(root: string, traced: boolean): string {
  const hash = createHash('sha256').update(`traced: ${traced}\n`);
  for (const file of [...SOURCES.flatMap((name) => filesIn(join(root, name))), installedPackages()]) {
    hash
      .update(`${relative(root, file)}\n`)
      .update(readFileSync(file))
      .update('\n');
  }
  return hash.digest('hex');
}

/** npm's record of what it installed; what was to be installed, where another tool did it. */
function installedPackages(): string {
  const record = join(ROOT, 'node_modules', '.package-lock.json');
  return existsSync(record) ? record : join(ROOT, 'package-lock.json');
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // Of a module, a workflow may import its rules alone.
  return files.filter((file) => !/[\\/](store|use)[\\/]/.test(file.slice(folder.length))).sort();
}

function tracingModule(): string {
  return createRequire(import.meta.url).resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors');
}

/** The bundler tells what is wrong before it throws an error that does not. */
function createErrorLogger(said: string[]): Logger {
  const drop = (): void => undefined;
  const keepLine = (message: string): void => void said.push(message);
  return { log: drop, trace: drop, debug: drop, info: drop, warn: drop, error: keepLine };
}
