import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';

/** Writes what `npm run admin` is given, as lines for a shell: everything that API and worker have. It goes with the processes. */
export function keepAdminEnvironment(
  { folder, stage, lifetime }: { readonly folder: string; readonly stage: number; readonly lifetime: Lifetime },
  environment: Readonly<Record<string, string>>,
): void {
  const file = join(folder, 'admin.env');
  const lines = Object.entries({ ...environment, LOG_LEVEL: 'warn' }).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  lifetime.onEnd(stage, () => rmSync(file, { force: true }));
}
