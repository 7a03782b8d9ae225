/** Of a workflow's tasks, which are short: a worker that died is noticed soon (safety 20). */
export const TASK_TIMEOUT = '5s';
