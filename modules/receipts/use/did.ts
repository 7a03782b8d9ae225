import { didDocument, didOf } from '../../kernel/receipt.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';

/** The did document of a host: our keys sign receipts in its name, where its own server shows it. */
export function didDocumentOf({ keyring }: Pick<PublisherDeps, 'keyring'>, host: string) {
  return didDocument(didOf(`https://${host}/`), keyring.jwks().keys);
}

/** The did document of our own address. */
export function ownDidDocument({ keyring, baseUrl }: Pick<PublisherDeps, 'keyring' | 'baseUrl'>) {
  return didDocument(didOf(baseUrl), keyring.jwks().keys);
}
