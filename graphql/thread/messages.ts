import type { Answer } from '../request/answer.ts';
import type { Call } from '../request/engine.ts';

/** To the thread: a question, or null to end. */
export type ToThread = { readonly id: number; readonly call: Call } | null;

/** From the thread: it takes questions; an answer; a line for the log; how late its own event loop was at most. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: Record<string, unknown>;
      readonly message: string;
    }
  | { readonly kind: 'delay'; readonly ms: number };
