/**
 * Heavy work: reports, files and questions, each of which keeps a core busy, here or in Postgres, for longer than a quote may wait. One site
 * has so much of it at once in a process, whatever it asks and by whatever keys; the rest of it waits, and others go on meanwhile.
 *
 * A piece waits for all that it needs here in one go, and only then takes a connection or a thread. A piece that holds a turn never asks for
 * another, so that no two wait for each other.
 */
import { availableParallelism } from 'node:os';
import type { Exporter, ExportSlot } from './exportSlots.ts';
import { createExportSlots } from './exportSlots.ts';
import type { NameLimits } from './fairQueue.ts';
import { openTurns } from './fairQueue.ts';

/** What heavy work reads through: the connections of reports, which files use, too, or the thread of questions. */
export type HeavyKind = 'reports' | 'questions';

/** A piece of heavy work. */
export interface HeavyPiece {
  readonly kind: HeavyKind;
  /** The credential or person that asks: those of one site come in turns, as sites do. */
  readonly who: string;
  /** Of whom it is: a site, a buyer account, or an owner of several sites. */
  readonly of: string;
}

/** A file on its way. */
export interface FilePlace {
  /** Ends its turn: what is left takes as long as its client. Again: nothing. */
  endTurn(): void;
  /** Its chunks as its client reads them: see `ExportSlot`. */
  readonly readAtPace: ExportSlot['readAtPace'];
  readonly cut: ExportSlot['cut'];
  /** Ends its turn, and gives its place among files back. Again: nothing. */
  giveBack(): void;
}

/** The room for heavy work in one process. */
export interface HeavyWork {
  /**
   * Waits for a turn; what it resolves to ends the turn (again: nothing). Throws throttled (429) where too many of its site wait, it waited
   * for fifteen seconds, or the caller is gone.
   */
  enter(piece: HeavyPiece, gone?: AbortSignal): Promise<() => void>;
  /**
   * Waits for the turn of a file, of which a key has one and a site a few on their way, and then takes a place of the process: what waits holds
   * none, so that sites whose files wait keep nobody else from a file. Throws what `ExportSlot` throws, and what `enter` throws.
   */
  beginFile(asker: Exporter, gone?: AbortSignal): Promise<FilePlace>;
}

/** What it is opened with. */
export interface HeavyLimits {
  /** Connections that reports and files are read through, and questions. */
  readonly connections: Readonly<Record<HeavyKind, number>>;
  /** Cores that this process has; those of the machine unless told. */
  readonly cores?: number;
  /** How long a piece waits for its turn, ms; fifteen seconds unless a test says otherwise. */
  readonly waitMs?: number;
}

/** Questions at once for each connection they read through: while one waits for Postgres another is executed. */
const QUESTIONS_A_CONNECTION = 2;
/** Pieces of one site, of all questions, and how long each waits: as long as the longest question takes. */
const WAITING_OF_ONE = 20;
const WAITING_QUESTIONS = 100;
const WAIT_MS = 15_000;
/** The name that reports, or questions, of all buyer accounts have together: accounts are free, and have no more of either than one site. */
const ofAccounts = (kind: HeavyKind): string => `${kind} of buyer accounts`;
const ACCOUNT = 'account ';

/** The name of a site's work. */
export function siteName(tenantId: string): string {
  return `site ${tenantId}`;
}

/** The name of a buyer account's work. */
export function accountName(accountId: string): string {
  return `${ACCOUNT}${accountId}`;
}

/**
 * Opens it. A site has half of the cores at once, and no more than a third of the connections of reports and half of the questions that
 * run: on two cores one piece.
 */
export function openHeavyWork({ connections, cores = availableParallelism(), waitMs = WAIT_MS }: HeavyLimits): HeavyWork {
  const questions = QUESTIONS_A_CONNECTION * connections.questions;
  const ofReports = Math.max(1, Math.floor(connections.reports / 3));
  const ofQuestions = Math.max(1, Math.floor(questions / 2));
  const ofSite = Math.max(1, Math.min(Math.floor(cores / 2), ofReports, ofQuestions));
  const named = new Map<string, NameLimits>([
    ['reports', { atOnce: connections.reports, mostWaiting: Number.POSITIVE_INFINITY }],
    ['questions', { atOnce: questions, mostWaiting: WAITING_QUESTIONS }],
    [ofAccounts('reports'), { atOnce: ofReports, mostWaiting: WAITING_OF_ONE }],
    [ofAccounts('questions'), { atOnce: ofQuestions, mostWaiting: WAITING_OF_ONE }],
  ]);
  const turns = openTurns({
    atOnce: Number.POSITIVE_INFINITY,
    mostOfOne: ofSite,
    named,
    mostWaiting: WAITING_OF_ONE,
    waitMs,
  });
  const slots = createExportSlots();
  const enter: HeavyWork['enter'] = ({ kind, who, of }, gone) => {
    const shared = of.startsWith(ACCOUNT) ? [kind, ofAccounts(kind)] : [kind];
    return turns.enter([of, ...(of === who ? [] : [who]), ...shared], gone);
  };
  return {
    enter,
    beginFile: async (asker, gone) => {
      const slot = slots.take(asker);
      let endTurn = (): void => undefined;
      const giveBack = (): void => {
        endTurn();
        slot.giveBack();
      };
      try {
        endTurn = await enter({ kind: 'reports', who: asker.keyId, of: siteName(asker.tenantId) }, gone);
        slot.begin();
        return { endTurn, readAtPace: slot.readAtPace, cut: slot.cut, giveBack };
      } catch (error) {
        giveBack();
        throw error;
      }
    },
  };
}
