/** The envelope of this machine, read anew for every purchase: a stop holds in the very next one. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { AgentError } from '../errors.ts';
import { keepToOwner } from '../ownFile.ts';
import type { Envelope } from './envelope.ts';
import { DEFAULT_ENVELOPE, parseEnvelope } from './envelope.ts';

/** Reads the file at `path`, and keeps it from others than its owner; the default where there is none. One that cannot be read buys nothing: `envelope_unreadable`. */
export function readEnvelope(path: string): Envelope {
  let text: string;
  try {
    const file = openSync(path, 'r');
    try {
      keepToOwner(file, path, 'envelope_unreadable');
      text = readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof AgentError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return DEFAULT_ENVELOPE;
    throw new AgentError('envelope_unreadable', `The envelope ${path} cannot be read: nothing is bought.`);
  }
  const envelope = parseEnvelope(text);
  if (typeof envelope === 'string')
    throw new AgentError('envelope_unreadable', `The envelope ${path} is wrong: ${envelope}. Nothing is bought.`);
  return envelope;
}
