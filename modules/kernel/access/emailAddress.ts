import { ServiceError } from '../errors.ts';
import { hasControlCharacter } from '../hosts/host.ts';

/** An e-mail address as we store it and write to it. */
export interface EmailAddress {
  /** In lower case, without blanks around it. */
  readonly address: string;
  /** Whose mailbox it is: without the part after a plus sign, which most mail servers ignore. For counting only. */
  readonly mailbox: string;
}

const MAX_CHARS = 254;
/** One address: no list, no name around it, and a host with a dot. */
const FORM = /^([^\s@<>,;:"()[\]\\]+)@([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/;

/** Reads one e-mail address. Throws invalid_parameter for every other text. */
export function readEmail(text: string): EmailAddress {
  const address = text.trim().toLowerCase();
  const [, local = '', host = ''] = FORM.exec(address.length > MAX_CHARS || hasControlCharacter(address) ? '' : address) ?? [];
  if (host === '') throw new ServiceError('invalid_parameter', 'this is not an e-mail address', { parameter: 'email' });
  return { address, mailbox: `${local.split('+')[0]}@${host}` };
}
