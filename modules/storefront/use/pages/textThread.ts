/** A thread that reads what pages say, one after another, so that none of them keeps calls waiting. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { readPageText } from '../../../../platform/pageText.ts';
import type { FromTexts, ToTexts } from './texts.ts';

/** How far the thread stands back: quotes and settlement come first. */
const NICE = 10;

// On Linux 0 is the thread that calls; elsewhere it is the whole process.
if (process.platform === 'linux') setPriority(0, NICE);
parentPort?.on('message', ({ body, mostChars, ...how }: ToTexts) => {
  const plain = readPageText(body, how);
  const isCut = plain !== null && plain.text.length > mostChars;
  const page = plain && { ...plain, text: isCut ? plain.text.slice(0, mostChars).toWellFormed() : plain.text, isCut };
  parentPort?.postMessage(page satisfies FromTexts);
});
