/** What of the system the tests run on: PHP with its extensions, a MariaDB server, and WordPress as Debian packages it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where Debian's package puts it. */
export const WORDPRESS = '/usr/share/wordpress';

/** Names of what is missing; empty: the tests can run. */
export function missingParts(): string[] {
  const runs = (command: string, args: string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  const modules = spawnSync('php', ['-m'], { encoding: 'utf8' }).stdout ?? '';
  return [
    ...(existsSync(`${WORDPRESS}/wp-load.php`) ? [] : ['wordpress']),
    ...(runs('php', ['--version']) ? [] : ['php-cli']),
    ...(/^mysqli$/m.test(modules) ? [] : ['php-mysql']),
    ...(/^curl$/m.test(modules) ? [] : ['php-curl']),
    ...(runs('mariadbd', ['--version']) || runs('/usr/sbin/mariadbd', ['--version']) ? [] : ['mariadb-server']),
  ];
}
