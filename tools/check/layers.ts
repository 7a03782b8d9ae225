import type { Source } from './sources.ts';
import { readSources } from './sources.ts';

const IMPORT = /^\s*(import|export)\s(?<clause>[^;'"]*?\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm;
const INLINE_TYPE = /\bimport\(\s*['"](?<specifier>[^'"]+)['"]\s*\)\s*\./g;

/**
 * What dependency-cruiser's parser cannot tell: workflows may import activities as types only, since such a line leaves nothing
 * at run time; and `import('…').Name` as a type, which would pass the layer rules unseen, is not used at all.
 */
export function findBridgeProblems(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => [
    ...[...text.matchAll(IMPORT)]
      .filter(({ groups }) => path.startsWith('workflows/') && /(^|\/)activities\//.test(groups?.['specifier'] ?? ''))
      .filter(({ groups }) => !/^type\s/.test(groups?.['clause']?.trimStart() ?? ''))
      .map(({ groups }) => `${path}: say \`import type\` for ${groups?.['specifier']}`),
    ...[...text.matchAll(INLINE_TYPE)].map(
      ({ groups }) => `${path}: import ${groups?.['specifier']} at the top, not inside a type`,
    ),
  ]);
}

/** The step of `npm run check`: null when all is well. */
export async function checkTypeOnlyBridge(): Promise<string | null> {
  const problems = findBridgeProblems(readSources(/^(activities|api|db|graphql|modules|platform|process|workflows)\/.*\.ts$/));
  return problems.length === 0 ? null : problems.join('\n');
}
