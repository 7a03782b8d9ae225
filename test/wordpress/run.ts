/**
 * `npm run test:wordpress [-- vitest options]`: the plugin on a real WordPress, in front of a real service and chain. Ends with the line
 * `N passed, N failed` as `npm test` does; where WordPress and PHP are not there, with one line that says what to install, and status 0.
 */
import { fileURLToPath } from 'node:url';
import { missingParts } from './support/parts.ts';

const missing = missingParts();
if (missing.length > 0) {
  console.log(
    `NOT RUN: WordPress, since there is no ${missing.join(', ')} (apt-get install wordpress php-cli php-mysql php-curl mariadb-server)`,
  );
  process.exit(0);
}
process.argv.push('--config', fileURLToPath(new URL('vitest.config.ts', import.meta.url)));
await import('../../tools/test.ts');
