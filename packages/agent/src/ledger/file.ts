/** The ledger on disk: lines that are only ever added, each on the disk before anybody acts on it. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { AgentError } from '../errors.ts';
import { keepToOwner, makeOwnFolder } from '../ownFile.ts';
import type { LedgerLine } from './entries.ts';
import { isLine, Ledger } from './entries.ts';
import { withLock } from './lock.ts';

/** What may be done while the ledger is held. */
export interface HeldLedger {
  readonly ledger: Ledger;
  /** Adds a line; it is on the disk when this returns. */
  append(line: LedgerLine): void;
}

/** A ledger that several processes share. */
export interface LedgerFile {
  /** Runs `work` while no other process reads or writes the ledger. */
  hold<T>(work: (held: HeldLedger) => Promise<T>): Promise<T>;
}

/** Opens the ledger at `path`; made where it is not there, and for its owner alone (0600 in a folder of 0700). */
export function openLedger(path: string): LedgerFile {
  makeOwnFolder(path);
  const known = { ledger: new Ledger(), bytes: 0, inode: 0n };
  return {
    hold: (work) =>
      withLock(`${path}.lock`, async () => {
        const file = openSync(path, 'a+', 0o600);
        try {
          keepToOwner(file, path, 'ledger_unreadable');
          catchUp(file, known, path);
          return await work({ ledger: known.ledger, append: (line) => append(file, line, known) });
        } finally {
          closeSync(file);
        }
      }),
  };
}

interface Known {
  ledger: Ledger;
  /** How far the file was read. */
  bytes: number;
  inode: bigint;
}

/** Reads what was added since the last look. The end of a line that a killed process wrote half is cut off: nothing was sent on it. */
function catchUp(file: number, known: Known, path: string): void {
  const { size, ino } = fstatSync(file, { bigint: true });
  if (ino !== known.inode || Number(size) < known.bytes) {
    known.ledger = new Ledger();
    known.bytes = 0;
    known.inode = ino;
  }
  const fresh = Buffer.alloc(Number(size) - known.bytes);
  let read = 0;
  while (read < fresh.length) read += readSync(file, fresh, read, fresh.length - read, known.bytes + read);
  const whole = fresh.lastIndexOf(0x0a) + 1;
  if (whole < fresh.length) {
    ftruncateSync(file, known.bytes + whole);
    fsyncSync(file);
  }
  try {
    for (const line of fresh.subarray(0, whole).toString('utf8').split('\n')) if (line !== '') known.ledger.take(line);
  } catch {
    known.inode = 0n;
    throw new AgentError(
      'ledger_unreadable',
      `The ledger ${path} has a line that cannot be read. Nothing is bought until it is mended.`,
    );
  }
  known.bytes += whole;
}

function append(file: number, line: LedgerLine, known: Known): void {
  const text = JSON.stringify(line);
  // A line that cannot be read would stop every later purchase.
  if (!isLine(text)) throw new AgentError('ledger_unreadable', 'The entry is not a valid ledger line; nothing was written.');
  const bytes = Buffer.from(`${text}\n`);
  // A full disk throws here, before anything is sent; the half line is cut off at the next look.
  if (writeSync(file, bytes) !== bytes.length)
    throw new AgentError('ledger_unreadable', 'The ledger could not be written: the disk is full.');
  fsyncSync(file);
  known.ledger.take(bytes.toString('utf8'));
  known.bytes += bytes.length;
}
