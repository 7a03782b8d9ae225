/** The commands, apart from the process they run in. */
import { createClient } from '../client.ts';
import type { Budget } from './budget.ts';
import { countedFetch, openBudget } from './budget.ts';
import type { Checked } from './doctor.ts';
import { doctorExit, examine } from './doctor.ts';
import type { Order } from './options.ts';
import { HELP, readWish } from './options.ts';
import type { Reason, Unanswered } from './refusal.ts';
import { reasonOf } from './refusal.ts';
import type { Screen } from './screen.ts';
import { markOf, writeLine, writeRow } from './screen.ts';
import type { Step } from './selftest.ts';
import { playPurchase } from './selftest.ts';
import { readSelf, urlOf } from './site.ts';
import { askStatus, showStatus, statusExit } from './status.ts';
import { NEEDS_VIEM, openWallet } from './wallet.ts';
import type { Told, World } from './world.ts';
import { openWorld } from './world.ts';

/** Where a command runs. */
export interface Surroundings {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Results. */
  readonly screen: Screen;
  /** Complaints about the command itself. */
  readonly complain: (text: string) => void;
  readonly now: () => number;
  /** Loads viem; `import('viem/accounts')` unless told. */
  readonly loadSigner?: () => Promise<unknown>;
}

/** For one call of the service: the commands ask rarely, and from far away. */
const SERVICE_TIMEOUT_MS = 10_000;

type ExitCode = 0 | 1 | 2;

/** Runs a command; its exit code. Never prints the key or a licence. */
export async function runCommand(surroundings: Surroundings): Promise<ExitCode> {
  const { argv, environment, screen, complain } = surroundings;
  const wish = readWish(argv, environment);
  if (wish.command === 'help') {
    screen.write(HELP);
    return 0;
  }
  if (wish.command === 'wrong') {
    complain(`${wish.says}\nSee content-settlement --help\n`);
    return 2;
  }
  if (wish.command === 'doctor') return doctor(wish, surroundings);
  if (wish.serviceUrl === null || wish.apiKey === null) {
    complain(`${wish.command} needs the service's address (SVC_URL) and a key of the site (SVC_API_KEY).\n`);
    return 2;
  }
  return wish.command === 'status' ? status(wish, surroundings) : selftest(wish, surroundings);
}

/** The world of a command; null, and a complaint, when nobody says which site it is about. */
async function worldOf(order: Order, { now, complain }: Surroundings): Promise<{ world: World; budget: Budget } | null> {
  const { pages, connectTo, apiKey } = order;
  const budget = openBudget();
  const client = clientOf(order, budget);
  const self = order.site === null ? await client?.self() : undefined;
  const site = order.site ?? firstHost(self);
  if (site !== null)
    return { budget, world: openWorld({ site, connectTo, pages, client, keyKind: kindOf(apiKey), budget, now }) };
  const { says, todo } = self?.ok === false ? explainer(order)(self) : NO_HOST;
  complain(`${says} ${todo}\n`);
  return null;
}

const NO_HOST: Reason = {
  says: 'Which site is it?',
  todo: 'Name it: --site https://alpha.example (the key names no host).',
};

/** Says why the service gives no answer to this order. */
function explainer({ apiKey, serviceUrl }: Order): (failure: Unanswered) => Reason {
  return (failure) => reasonOf(failure, kindOf(apiKey), serviceUrl ?? '');
}

function firstHost(self: Told | undefined): URL | null {
  const [host] = (self?.ok && readSelf(self.body)?.hosts) || [];
  return host === undefined ? null : urlOf(`https://${host}`);
}

async function doctor(order: Order, surroundings: Surroundings): Promise<ExitCode> {
  const { connectTo, isJson, isQuiet } = order;
  const { screen } = surroundings;
  const opened = await worldOf(order, surroundings);
  if (opened === null) return 2;
  const { world, budget } = opened;
  const { site } = world;
  const shown = openShown(screen, isQuiet);
  const tell = (checked: Checked): void => (isJson ? undefined : shown.show(checked));
  if (!isJson && !isQuiet) writeLine(screen, `Looking at ${site.origin}${connectTo ? ` through ${connectTo.origin}` : ''} …`);
  const checks = await examine(world, tell);
  const exitCode = doctorExit(checks);
  const count = (level: Checked['level']): number => checks.filter((checked) => checked.level === level).length;
  const sums = { ok: count('ok'), warnings: count('warning'), problems: count('problem'), unknown: count('unknown') };
  if (isJson) {
    writeJson(screen, { command: 'doctor', site: site.origin, exitCode, ...sums, requests: budget.taken, checks });
    return exitCode;
  }
  shown.end();
  if (!isQuiet) writeLine(screen, `${sentenceOf(sums)} ${budget.taken} requests.`);
  return exitCode;
}

/** Shows what checks came to; those that could not tell, all for the same reason, in one row at the end. */
function openShown(screen: Screen, isQuiet: boolean) {
  const reasons = new Set<string>();
  const alike: string[] = [];
  return {
    show: ({ id, findings }: Checked): void => {
      const [first] = findings;
      if (first?.level === 'unknown' && findings.length === 1 && reasons.has(first.says)) {
        alike.push(id);
        return;
      }
      for (const { level, says } of findings) if (level === 'unknown') reasons.add(says);
      for (const [index, { level, says, todo }] of findings.filter(({ level }) => !isQuiet || level !== 'ok').entries()) {
        writeRow(screen, markOf(screen, level), index === 0 ? id : '', says);
        if (todo !== undefined) writeRow(screen, ' ', '', `→ ${todo}`);
      }
    },
    end: (): void => {
      if (alike.length > 0)
        writeRow(screen, markOf(screen, 'unknown'), 'the same', `${alike.join(', ')}: not tried, for a reason named above.`);
    },
  };
}

function sentenceOf(sums: Readonly<Record<'ok' | 'warnings' | 'problems' | 'unknown', number>>): string {
  const { ok, warnings, problems, unknown } = sums;
  return `${ok} checks are well, ${problems} found a problem, ${warnings} a warning, ${unknown} could not tell.`;
}

async function status(order: Order, { screen }: Surroundings): Promise<ExitCode> {
  const report = await askStatus(clientOf(order, openBudget()) as NonNullable<World['client']>, explainer(order));
  const exitCode = statusExit(report);
  if (order.isJson) writeJson(screen, { ...report, exitCode });
  else showStatus(screen, report, order.isQuiet);
  return exitCode;
}

async function selftest(order: Order, surroundings: Surroundings): Promise<ExitCode> {
  const { isJson, isQuiet } = order;
  const { screen, complain, loadSigner } = surroundings;
  const given = (says: string): ExitCode => {
    complain(`${says}\n`);
    return 2;
  };
  if (kindOf(order.apiKey) !== 'test') return given('selftest takes a test key only (svc_test_…), so that no money can move.');
  const wallet = await openWallet(loadSigner);
  if (wallet === null) return given(NEEDS_VIEM);
  const world = (await worldOf(order, surroundings))?.world;
  if (!world) return 2;
  const answer = (await world.self())?.answer;
  if (!answer?.ok) {
    const { says, todo } = explainer(order)(answer ?? {});
    return given(`${says} ${todo}`);
  }
  const page = await world.page();
  if (page === null) return given('Name a page to buy: --page /articles/x');
  const tell = ({ passed, id, says }: Step): void => {
    if (!isJson && (!passed || !isQuiet)) writeRow(screen, markOf(screen, passed ? 'ok' : 'problem'), id, says);
  };
  const steps = await playPurchase({ page, otherPage: order.pages[1], visit: world.visit, wallet }, tell);
  const exitCode = steps.every(({ passed }) => passed) ? 0 : 1;
  if (isJson) writeJson(screen, { command: 'selftest', site: world.site.origin, page, exitCode, steps });
  else if (!isQuiet) writeLine(screen, exitCode === 0 ? 'The page sells.' : 'The page does not sell as it must.');
  return exitCode;
}

function clientOf({ serviceUrl, apiKey }: Order, budget: Budget): World['client'] {
  if (serviceUrl === null || apiKey === null) return null;
  return createClient({ serviceUrl, apiKey, fetch: countedFetch(budget), quoteTimeoutMs: SERVICE_TIMEOUT_MS });
}

function kindOf(apiKey: string | null): World['keyKind'] {
  if (apiKey === null) return 'none';
  if (apiKey.startsWith('svc_live_')) return 'live';
  return apiKey.startsWith('svc_test_') ? 'test' : 'unknown';
}

function writeJson(screen: Screen, value: object): void {
  screen.write(`${JSON.stringify(value, null, 2)}\n`);
}
