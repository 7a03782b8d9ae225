/** The objects that name each other; each is implemented in the file of its own name. */
import type { Crossing, Leg, Observation, Payment, SoldLicence } from '../../modules/reports/use/lists/lists.ts';
import { builder } from '../schema/builder.ts';

/** A ledger entry. */
export const CrossingType = builder.objectRef<Crossing>('Crossing');

/** A share of a ledger entry. */
export const LegType = builder.objectRef<Leg>('Leg');

/** A payment. */
export const PaymentType = builder.objectRef<Payment>('Payment');

/** A licence that was sold. */
export const SoldLicenceType = builder.objectRef<SoldLicence>('SoldLicence');

/** What a runtime reported. */
export const ObservationType = builder.objectRef<Observation>('Observation');
