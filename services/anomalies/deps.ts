import type { Mailer } from '../../adapters/mail.ts';
import type { SecretBox } from '../../adapters/tokens/secretBox.ts';
import type { Database } from '../../db/database.ts';

/** What the anomaly services work with. */
export interface AnomalyDeps {
  readonly database: Database;
  /** Null: no mail server is configured. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  /** Opens what an e-mail's text is sealed with. */
  readonly secretBox: Pick<SecretBox, 'open'>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Says what an operator should know; never a secret. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
