import { cancellationSignal } from '@temporalio/activity';
import type { AddressDeps, AddressRefresh } from '../modules/gate/use/addresses.ts';
import { refreshAddresses } from '../modules/gate/use/addresses.ts';
import { beating } from './beating.ts';

/** The activity of `refreshAddresses`. */
export interface AddressActivities {
  /** Reads every list of addresses once, heart-beating. */
  readAddressLists(): Promise<AddressRefresh>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker. */
export function createAddressActivities(deps: AddressDeps): AddressActivities {
  return { readAddressLists: () => beating(HEARTBEAT_MS, () => refreshAddresses(deps, cancellationSignal())) };
}
