import { LRUCache } from 'lru-cache';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import type { LeasedDelivery } from '../store/leases.ts';
import { secretContext } from './secret.ts';
import type { SigningKey } from './sign.ts';
import { signingKeyOf } from './sign.ts';

const MOST_KEPT = 5_000;
/** Keys of opened secrets, by the box that opens them. */
const keptOf = new WeakMap<SecretBox, LRUCache<string, SigningKey>>();

/**
 * The keys that sign a delivery, the newest first. Opened secrets are kept, a bounded number of them, by their sealed bytes and
 * what these are bound to. Throws when one cannot be opened.
 */
export function signingKeysOf(
  box: SecretBox,
  delivery: Pick<LeasedDelivery, 'tenantId' | 'endpointId' | 'sealedSecrets'>,
): SigningKey[] {
  const kept = keptOf.get(box) ?? new LRUCache<string, SigningKey>({ max: MOST_KEPT });
  keptOf.set(box, kept);
  const context = secretContext(delivery.tenantId, delivery.endpointId);
  return delivery.sealedSecrets.map((sealed) => {
    const name = `${context}:${sealed}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const key = signingKeyOf(box.open(Buffer.from(sealed, 'base64'), context));
    kept.set(name, key);
    return key;
  });
}
