import type { Check } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { Told } from '../world.ts';

interface Facts {
  /** Null: no address or key of the service was given. */
  readonly answer: Told | null;
  /** Our clock minus the service's; null when it named no time. */
  readonly skewSeconds: number | null;
}

const WARN_SECONDS = 30;
const WRONG_SECONDS = 120;

/** Does the service answer, and do our clocks agree? */
export const serviceCheck: Check<Facts> = {
  id: 'service',
  probe: async (world) => {
    const timed = await world.configAnswer();
    if (timed === null) return { answer: null, skewSeconds: null };
    const { answer, sentAtMs, cameAtMs } = timed;
    const date = answer.headers?.get('date') ?? null;
    return { answer, skewSeconds: skewOf(date, sentAtMs, cameAtMs) };
  },
  judge: ({ answer, skewSeconds }) => {
    if (answer === null) {
      return [
        unknown(
          'The service was not asked: its address or the key is missing.',
          'Set SVC_URL and SVC_API_KEY and run this again.',
        ),
      ];
    }
    if (!answer.ok && answer.why !== 'status') {
      const how = answer.why === 'timeout' ? 'does not answer in time' : 'cannot be reached';
      return [problem(`The service ${how}.`, 'See that SVC_URL is right and that this machine may connect to it.')];
    }
    if (!answer.ok && (answer.status ?? 0) >= 500) {
      return [problem(`The service answers ${answer.status}.`, 'Look at its status page, or ask its operator.')];
    }
    return [ok('The service answers.'), clockFinding(skewSeconds)];
  },
};

function clockFinding(skewSeconds: number | null) {
  if (skewSeconds === null)
    return unknown('The service named no time.', 'Ask again when the other findings about the key are settled.');
  const seconds = Math.abs(skewSeconds);
  if (seconds <= WARN_SECONDS) return ok('Its clock and the clock of this machine agree.');
  const says = `The clock of this machine is ${seconds} s ${skewSeconds > 0 ? 'fast' : 'slow'}.`;
  const todo = 'Let NTP set it: a gate with a wrong clock accepts expired licences, or refuses valid ones.';
  return seconds > WRONG_SECONDS ? problem(says, todo) : warning(says, todo);
}

/** Our clock minus the one of a Date header, in seconds; a header says whole seconds, and it was made between `sent` and `came`. */
export function skewOf(date: string | null, sentAtMs: number, cameAtMs: number): number | null {
  const dateMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(dateMs)) return null;
  if (sentAtMs > dateMs + 1_000) return Math.round((sentAtMs - dateMs - 1_000) / 1_000);
  if (cameAtMs < dateMs) return Math.round((cameAtMs - dateMs) / 1_000);
  return 0;
}
