import { didDocument, didOf } from '../../domain/receipts/receipt.ts';
import type { DocumentMaker } from '../discovery/makers.ts';
import type { PublisherDeps } from '../publisher.ts';

/** The did document of a host: our keys sign receipts in its name, where its own server shows it. */
export const makeDidDocument: DocumentMaker = ({ keyring }, { host }) =>
  JSON.stringify(didDocument(didOf(`https://${host}/`), keyring.jwks().keys));

/** The did document of our own address. */
export function ownDidDocument({ keyring, baseUrl }: Pick<PublisherDeps, 'keyring' | 'baseUrl'>) {
  return didDocument(didOf(baseUrl), keyring.jwks().keys);
}
