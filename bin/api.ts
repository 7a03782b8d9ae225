import { startApi } from '../process/api/start.ts';
import { readApiConfig } from '../process/config.ts';
import { runProcess } from '../process/run.ts';

/** The API process: reads its environment, serves until SIGTERM or SIGINT, drains, and ends with status 0. */
await runProcess('api', readApiConfig, async (config, log) => {
  const api = await startApi(config, log);
  const stop = (signal: string): void => {
    log.info({ signal }, 'the API drains');
    api.close().then(
      () => log.info({}, 'the API has ended'),
      (error: unknown) => {
        log.error({ err: error }, 'the API did not end cleanly');
        process.exitCode = 1;
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  log.info({ url: api.url }, 'the API listens');
});
