/** Every workflow of the service; the worker bundles this file (DESIGN §2: workflows do no I/O). */
export { closeEventWindows } from './closeEventWindows.ts';
export { deliverWebhook } from './deliverWebhook.ts';
export { dispatchWebhooks } from './dispatchWebhooks.ts';
export { settlePayments } from './settlePayments.ts';
export { sweepPayments } from './sweepPayments.ts';
