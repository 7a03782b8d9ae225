import { defineQuery, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { Attributes } from '../modules/kernel/workflow/attributes.ts';
import { pairsOf } from '../modules/kernel/workflow/attributes.ts';
import type { Status } from '../modules/kernel/workflow/statusTable.ts';
import { statusTable } from '../modules/kernel/workflow/statusTable.ts';

const statusQuery = defineQuery<Status>('status');

/** Tells where a workflow stands. */
export interface Told {
  /** Changes what is told, and the attributes that the workflow is found by. */
  tell(changes: Status, attributes?: Attributes): void;
}

/** Tells where this workflow stands: as its current details in Temporal's UI, and as the answer to the query `status`. */
export function keepStatus(first: Status): Told {
  let status: Status = {};
  const tell = (changes: Status, attributes?: Attributes): void => {
    status = { ...status, ...changes };
    setCurrentDetails(statusTable(status));
    if (attributes) upsertSearchAttributes(pairsOf(attributes));
  };
  tell(first);
  setHandler(statusQuery, () => status, { description: 'Where it stands, as the current details show it.' });
  return { tell };
}
