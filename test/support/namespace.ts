/** A Temporal namespace of one test's own: for workflows whose ids are fixed, so that test files do not meet in them. */
import { randomUUID } from 'node:crypto';
import { registerNamespace } from '../../platform/temporal/namespace.ts';
import { useTemporal } from './parts.ts';

/** Registers a namespace and waits until the server knows it everywhere. Every call makes another one. */
export async function createNamespace(): Promise<ReturnType<typeof useTemporal>> {
  const temporal = useTemporal();
  const namespace = `test-${randomUUID()}`;
  await registerNamespace(temporal, namespace);
  return { ...temporal, namespace };
}
