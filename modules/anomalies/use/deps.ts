import type { MailDeps } from '../../mail/use/sendDue.ts';

/** What the anomaly services work with. */
export interface AnomalyDeps extends MailDeps {
  /** Epoch ms. */
  readonly clock: () => number;
}
