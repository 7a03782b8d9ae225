/**
 * `npm run audit`: asks the registry for known vulnerabilities of what the image installs. Ends with 1 where one of severity high or
 * critical is known. Where the registry has no such endpoint, or does not answer within a minute, it says so and ends with 0: then
 * nothing was audited.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const LIMIT_MS = 60_000;
const SEVERE = ['high', 'critical'];

const report = z.object({
  vulnerabilities: z.record(z.string(), z.object({ severity: z.string(), range: z.string() })),
  metadata: z.object({ dependencies: z.object({ prod: z.number() }) }),
});

/** What npm printed, as a report; null when it is none. */
function readReport(text: string): z.infer<typeof report> | null {
  try {
    return report.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

const { stdout, stderr, error } = spawnSync('npm', ['audit', '--omit=dev', '--omit=peer', '--json', '--loglevel=error'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  encoding: 'utf8',
  timeout: LIMIT_MS,
});
const found = readReport(stdout ?? '');
if (found === null) {
  const reason = error?.message ?? stderr.trim().split('\n')[0] ?? '';
  console.log(`audit: NOT RUN, the registry gave no report (${reason})`);
} else {
  const severe = Object.entries(found.vulnerabilities).filter(([, { severity }]) => SEVERE.includes(severity));
  for (const [name, { severity, range }] of severe) console.log(`audit: ${severity}: ${name} ${range}`);
  const total = Object.keys(found.vulnerabilities).length;
  console.log(
    `audit: ${found.metadata.dependencies.prod} packages, ${total} with a known vulnerability, ${severe.length} of them severe`,
  );
  process.exitCode = severe.length > 0 ? 1 : 0;
}
