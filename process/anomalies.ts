import type { Database } from '../db/database.ts';
import type { AnomalyDeps } from '../modules/anomalies/use/deps.ts';
import { createMailer } from '../platform/mail.ts';
import type { Log } from '../platform/telemetry/log.ts';
import { createSecretBox } from '../platform/tokens/secretBox.ts';
import type { WorkerConfig } from './config.ts';

/** What the sweep over anomaly rules works with; e-mail only with SMTP_URL. */
export function createAnomalyDeps(config: WorkerConfig, database: Database, log: Log): AnomalyDeps {
  const { smtpUrl, alertMailFrom } = config;
  return {
    database,
    mailer: smtpUrl === undefined ? null : createMailer({ url: smtpUrl, from: alertMailFrom }),
    secretBox: createSecretBox(config.secretsKey, config.secretsKeyPrevious),
    clock: Date.now,
    warn: (message, fields) => log.warn(fields, message),
  };
}
