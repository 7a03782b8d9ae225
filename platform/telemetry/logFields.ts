import { AsyncLocalStorage } from 'node:async_hooks';
import { trace } from '@opentelemetry/api';

/** What every line written during a piece of work carries. */
export interface LogFields {
  requestId?: string;
  tenantId?: string;
  workflowId?: string;
  activity?: string;
  /** What a call was refused with. */
  code?: string;
}

const storage = new AsyncLocalStorage<LogFields>();

/** Runs `work`, and whatever it starts, with these fields on each of its lines. Inside of other work they replace the outer ones. */
export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return storage.run(fields, work);
}

/** Adds what was found out on the way, such as whose key a request carries; outside of `withLogFields` it does nothing. */
export function noteLogFields(fields: LogFields): void {
  const store = storage.getStore();
  if (store) Object.assign(store, fields);
}

/** The fields of the work that runs now, with its trace where one is kept. */
export function currentLogFields(): LogFields & { readonly traceId?: string } {
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return { ...storage.getStore(), ...(traceId === undefined ? {} : { traceId }) };
}
