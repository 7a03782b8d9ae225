import { sleep } from '@temporalio/workflow';
import { z } from 'zod';

/** A workflow with a library in it. */
export async function parseAfterWait(value: unknown): Promise<string> {
  await sleep(1);
  return z.string().parse(value);
}
