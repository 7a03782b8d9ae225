/** The key of this machine: from the environment, or from a file that its owner alone can read. It leaves this file only as a signer. */
import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { AgentError } from './errors.ts';
import { makeOwnFolder } from './ownFile.ts';

const KEY = /^(0x)?[0-9a-fA-F]{64}$/;

/** The signer of a key in hex; `key_unreadable`, without a word of the text, for anything else. */
export function signerOf(text: string): PrivateKeyAccount {
  const key = text.trim();
  if (!KEY.test(key))
    throw new AgentError(
      'key_unreadable',
      'The key is not 32 bytes in hex: 0x and 64 digits. content-settlement-agent key new makes one.',
    );
  try {
    return privateKeyToAccount((key.startsWith('0x') ? key : `0x${key}`) as `0x${string}`);
  } catch {
    // What the library says of a key may hold the key.
    throw new AgentError('key_unreadable', 'The key is not a secp256k1 key.');
  }
}

/** The signer of the key in a file; refused when anybody but its owner may read or write the file. */
export function signerOfFile(path: string): PrivateKeyAccount {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new AgentError('no_key', `There is no key at ${path}. Make one: content-settlement-agent key new`);
    throw new AgentError('key_unreadable', `The key file ${path} cannot be read.`);
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile())
      throw new AgentError(
        'key_unreadable',
        `${path} is no file. Move it away, then make a key: content-settlement-agent key new`,
      );
    const { mode } = facts;
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new AgentError(
        'key_unreadable',
        `Others than its owner may use the key file ${path}. Make it yours alone: chmod 600 ${path}`,
      );
    return signerOf(readFileSync(file, 'utf8'));
  } finally {
    closeSync(file);
  }
}

/** Makes a key and writes it where no file is, with mode 0600; its address. The key itself is told to nobody. */
export function makeKeyFile(path: string): string {
  const key = generatePrivateKey();
  makeOwnFolder(path);
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new AgentError('key_unreadable', `There is already a key at ${path}; it was left unchanged.`);
  }
  try {
    writeSync(file, `${key}\n`);
  } finally {
    closeSync(file);
  }
  return privateKeyToAccount(key).address;
}
