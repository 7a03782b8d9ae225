/** Every workflow of the service; the worker bundles this file, in which nothing does I/O. */
export { checkRollups } from './checkRollups.ts';
export { closeEventWindows } from './closeEventWindows.ts';
export { dispatchWebhooks } from './dispatchWebhooks.ts';
export { purchaseLicence } from './purchaseLicence.ts';
export { reconcileChain } from './reconcileChain.ts';
export { refreshAddresses } from './refreshAddresses.ts';
export { retryDeliveries } from './retryDeliveries.ts';
export { sendMessages } from './sendMessages.ts';
export { settlePayments } from './settlePayments.ts';
export { sweepAnomalies } from './sweepAnomalies.ts';
export { sweepHosts } from './sweepHosts.ts';
export { sweepPayments } from './sweepPayments.ts';
export { verifyHost } from './verifyHost.ts';
