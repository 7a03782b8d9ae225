/** The one Temporal task queue of the service: API processes start workflows on it, workers poll it. */
export const TASK_QUEUE = 'content-settlement';
