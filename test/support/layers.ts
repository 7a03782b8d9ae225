import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ICruiseOptions, ICruiseResult } from 'dependency-cruiser';
import { cruise } from 'dependency-cruiser';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { default: rules } = (await import(new URL('../../.dependency-cruiser.mjs', import.meta.url).href)) as {
  readonly default: { readonly forbidden: readonly object[]; readonly options: object };
};

/** Files by their path in a repository. */
type Files = Readonly<Record<string, string>>;

/** Lays the files out in a folder of their own, beside our packages; who asks removes it. */
function layOut(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'layers-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const dependencies = { pg: '*', express: '*', zod: '*' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** A layer rule and the file that breaks it. */
export interface Breach {
  readonly rule: string;
  readonly from: string;
}

/** Which layer rules which of the files break. */
export async function breachesOf(files: Files): Promise<readonly Breach[]> {
  const folder = layOut(files);
  try {
    const options = { ...rules.options, baseDir: folder, validate: true, ruleSet: { forbidden: rules.forbidden } };
    const { output } = await cruise(Object.keys(files), options as unknown as ICruiseOptions);
    return (output as ICruiseResult).summary.violations.map(({ rule, from }) => ({ rule: rule.name, from }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The names of the layer rules that files break. */
export async function brokenRules(files: Files): Promise<string[]> {
  return (await breachesOf(files)).map(({ rule }) => rule).sort();
}
