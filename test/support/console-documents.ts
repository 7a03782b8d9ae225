/** The documents that the console asks. */
import { readdirSync, readFileSync } from 'node:fs';

const CONSOLE = new URL('../../console/', import.meta.url);

/** The files of the browser's code. */
const FILES = readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

/** The sources of the browser's code. */
export function consoleSources(): readonly string[] {
  return FILES.map((file) => readFileSync(new URL(file, CONSOLE), 'utf8'));
}

/** Every constant named `…_DOCUMENT` that the browser's code exports, as it is sent. */
export async function consoleDocuments(): Promise<
  readonly { readonly name: string; readonly file: string; readonly text: string }[]
> {
  const found = await Promise.all(
    FILES.filter((file) => file !== 'app.ts').map(async (file) => {
      const exported: Record<string, unknown> = await import(new URL(file, CONSOLE).href);
      const named = Object.entries(exported).filter(([name]) => name.endsWith('_DOCUMENT'));
      return named.map(([name, text]) => ({ name, file, text: String(text) }));
    }),
  );
  return found.flat();
}
