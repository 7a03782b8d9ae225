/** The operator's command line: `node bin/admin.ts <command> --help`. Prints one JSON document; secrets are shown this once. */
import { existsSync } from 'node:fs';
import { openDatabase } from '../db/database.ts';
import { isServiceError } from '../modules/kernel/errors.ts';
import { readAdminConfig } from '../process/config.ts';
import { reasonOf } from '../process/whileAway.ts';
import { createAdminProgram } from './admin/program.ts';

/** Where `npm start` and `npm run cluster` leave what this command line needs while they run. */
const OWN = ['.sandbox/admin.env', '.cluster/admin.env'];

/** In a shell that names no database, the sandbox or cluster of this folder is meant, if one runs. */
function takeOwnEnvironment(): void {
  const { DATABASE_URL: url, DATABASE_URL_FILE: inFile } = process.env;
  const file = OWN.find((one) => existsSync(one));
  if (url !== undefined || inFile !== undefined || file === undefined) return;
  process.loadEnvFile(file);
  console.error(`environment: ${file}`);
}

/** Runs one command; exit code 1 and `{error}` on standard error when it is refused. */
async function main(): Promise<void> {
  let close = async (): Promise<void> => undefined;
  const program = createAdminProgram({
    open: async () => {
      takeOwnEnvironment();
      const config = readAdminConfig();
      const database = await openDatabase({ url: config.databaseUrl, poolSize: 2, applicationName: 'svc admin' });
      close = () => database.close();
      return { database, config };
    },
    print: (value) => console.log(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part), 2)),
  });
  try {
    await program.parseAsync();
  } catch (error) {
    console.error(JSON.stringify({ error: isServiceError(error) ? `${error.code}: ${reasonOf(error)}` : reasonOf(error) }));
    process.exitCode = 1;
  } finally {
    await close();
  }
}

await main();
