/** The commands, apart from the process they run in. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPages } from '../buying/batch.ts';
import type { Pace } from '../buying/page.ts';
import { readPage } from '../buying/page.ts';
import { quotePage } from '../buying/quote.ts';
import type { AgentErrorCode } from '../errors.ts';
import { AgentError } from '../errors.ts';
import { homeOf } from '../home.ts';
import { openWallet } from '../index.ts';
import { makeKeyFile } from '../keys.ts';
import { serveOverStdio } from '../mcp/server.ts';
import { usdcOf } from '../money.ts';
import type { Wallet } from '../paying/client.ts';
import { Purse } from '../paying/client.ts';
import type { PayingOptions } from '../paying/fetch.ts';
import { addressOf } from '../paying/purchase.ts';
import { buyLicence, listLicences, quoteLicence } from '../service/licences.ts';
import { checkReceipt } from '../service/receipts.ts';
import type { Service } from '../service/service.ts';
import { serviceAt } from '../service/service.ts';
import { spendingOf } from '../spending.ts';
import { keepIn, nameOf } from './files.ts';
import type { Order } from './options.ts';
import { HELP, readOrder } from './options.ts';

/** Where a command runs. */
export interface Surroundings extends Pace {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Results. */
  readonly write: (text: string) => void;
  /** Progress and complaints. */
  readonly complain: (text: string) => void;
  /** Lines of addresses, for `buy -`. */
  readonly readInput: () => Promise<string>;
  /** The first line that a person types; empty where there is nobody. */
  readonly readLine: () => Promise<string>;
  readonly send?: typeof fetch;
  readonly now?: () => number;
}

type ExitCode = 0 | 1 | 2 | 3 | 4;

const CODES: Partial<Record<AgentErrorCode, ExitCode>> = {
  wrong_usage: 2,
  no_key: 2,
  key_unreadable: 2,
  envelope_unreadable: 2,
  ledger_unreadable: 2,
  ledger_locked: 2,
  address_refused: 2,
  over_limit: 3,
  stopped: 3,
  approval_required: 3,
  bought_before: 3,
  payment_unclear: 4,
  payment_pending: 4,
};

/** The exit code of a failure. */
export function exitOf(code: string): ExitCode {
  return CODES[code as AgentErrorCode] ?? 1;
}

/** Runs a command; its exit code. Never writes the key. */
export async function runCommand(surroundings: Surroundings): Promise<ExitCode> {
  let isJson = surroundings.argv.includes('--json');
  try {
    const order = readOrder(surroundings.argv);
    isJson = order.isJson;
    return await commandOf(order)(order, surroundings);
  } catch (error) {
    // Whatever a library says may hold what it was given: only our own sentences are shown.
    const { code, message, details } =
      error instanceof AgentError ? error : { code: 'failed', message: 'The command failed.', details: {} };
    if (isJson) surroundings.write(`${JSON.stringify({ ...details, error: code, says: message })}\n`);
    else surroundings.complain(`${message}\n`);
    return exitOf(code);
  }
}

type Command = (order: Order, surroundings: Surroundings) => Promise<ExitCode>;

function commandOf({ command }: Order): Command {
  return COMMANDS[command] ?? help;
}

const help: Command = async (_order, { write }) => {
  write(HELP);
  return 0;
};

function walletOf({ environment, now }: Surroundings): Wallet {
  const privateKey = environment['CONTENT_SETTLEMENT_KEY'];
  return openWallet({ home: homeOf(environment), ...(privateKey ? { privateKey } : {}), ...(now ? { now } : {}) });
}

function serviceOf({ environment, send }: Surroundings): Service {
  return serviceAt(environment['CONTENT_SETTLEMENT_SERVICE'], send);
}

function payingOf({ maxMicro, isDryRun, isAgain }: Order, { send, wait }: Surroundings): PayingOptions & Pace {
  const purse = maxMicro === null ? null : new Purse(maxMicro);
  return { purse, isDryRun, isAgain, ...(send ? { send } : {}), ...(wait ? { wait } : {}) };
}

const read: Command = async (order, surroundings) => {
  const { write, complain } = surroundings;
  const [url = ''] = order.args;
  try {
    const page = await readPage(walletOf(surroundings), url, payingOf(order, surroundings));
    const { text, amountMicro, ...facts } = page;
    if (order.isJson) write(`${JSON.stringify({ ...facts, usdc: usdcOf(amountMicro), text })}\n`);
    else write(text);
    if (!order.isQuiet && !order.isJson)
      complain(`${page.how}${page.how === 'bought' ? ` for ${usdcOf(amountMicro)} USDC` : ''}: ${page.url}\n`);
    return 0;
  } catch (error) {
    return dryRun(error, order, surroundings);
  }
};

/** A price that was asked for is no failure. */
function dryRun(error: unknown, { isJson }: Order, { write }: Surroundings): ExitCode {
  if (!(error instanceof AgentError) || error.code !== 'dry_run') throw error;
  const { url, amountMicro, isHeld = false } = error.details;
  const usdc = usdcOf(isHeld ? 0n : BigInt(Number(amountMicro ?? 0)));
  write(isJson ? `${JSON.stringify({ url, usdc, isHeld, isDryRun: true })}\n` : `${error.message}\n`);
  return 0;
}

const quote: Command = async ({ args, isJson }, surroundings) => {
  const { write, send } = surroundings;
  const wallet = walletOf(surroundings);
  let code: ExitCode = 0;
  for (const url of args) {
    const { amountMicro, ...told } = await quotePage(wallet, url, send ? { send } : {});
    if (!told.mayRead) code = 3;
    const usdc = amountMicro === null ? null : usdcOf(amountMicro);
    if (isJson) write(`${JSON.stringify({ ...told, usdc })}\n`);
    else
      write(`${usdc === null ? '?' : usdc}\t${told.isHeld ? 'held' : told.mayRead ? 'may be bought' : told.says}\t${told.url}\n`);
  }
  return code;
};

const buy: Command = async (order, surroundings) => {
  const { write, complain } = surroundings;
  const wallet = walletOf(surroundings);
  const { out } = order;
  const asked = order.args[0] === '-' ? linesOf(await surroundings.readInput()) : order.args.map((url) => addressOf(url).href);
  if (out !== null) mkdirSync(out, { recursive: true });
  const urls = out === null ? asked : asked.filter((url) => !existsSync(join(out, nameOf(url))));
  if (!order.isQuiet && urls.length < asked.length) complain(`${asked.length - urls.length} pages are there already.\n`);
  const keep = out === null ? {} : { keep: keepIn(out) };
  const outcomes = await readPages(wallet, urls, { ...payingOf(order, surroundings), ...keep }, (outcome, done, all) => {
    const { url } = outcome;
    const told = outcome.ok
      ? { how: outcome.page.how, usdc: usdcOf(outcome.page.amountMicro), transaction: outcome.page.transaction }
      : { ...outcome.details, error: outcome.code, says: outcome.says };
    if (order.isJson) write(`${JSON.stringify({ ...told, url })}\n`);
    else
      write(
        `${outcome.ok ? `${outcome.page.how}\t${usdcOf(outcome.page.amountMicro)}` : `${outcome.code}\t${outcome.says}`}\t${url}\n`,
      );
    if (!order.isQuiet) complain(`${done} of ${all}\n`);
  });
  const codes = outcomes.flatMap((outcome) => (outcome.ok || outcome.code === 'dry_run' ? [] : [exitOf(outcome.code)]));
  return Math.max(0, ...codes) as ExitCode;
};

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => addressOf(line).href);
}

const APPROVED_WITHOUT_MAX = 'approve takes --max USDC: the price that you say yes to.';

const approve: Command = async ({ args: [what = ''], maxMicro }, surroundings) => {
  if (/^[0-9a-f]{32}$/.test(what)) return approveAsked(what, maxMicro, surroundings);
  const wallet = walletOf(surroundings);
  const { href } = addressOf(what);
  if (maxMicro === null) throw new AgentError('wrong_usage', APPROVED_WITHOUT_MAX);
  await wallet.ledger.hold(async ({ append }) =>
    append({ type: 'approved', atMs: wallet.now(), url: href, maxMicro: String(maxMicro) }),
  );
  surroundings.write(`${href} may be bought once within a day for ${usdcOf(maxMicro)} USDC at most.\n`);
  return 0;
};

/** Shows what was asked before it takes a yes: the id may come from a model that says it is for something else. */
async function approveAsked(id: string, maxMicro: bigint | null, surroundings: Surroundings): Promise<ExitCode> {
  const { write, complain, readLine } = surroundings;
  if (maxMicro !== null)
    throw new AgentError('wrong_usage', 'approve ID takes no --max: the price belongs to what the id names.');
  const wallet = walletOf(surroundings);
  const asked = await wallet.ledger.hold(async ({ ledger }) => ledger.askedUnder(id));
  if (asked === null)
    throw new AgentError('wrong_usage', 'No purchase waits under this id. Copy it from the refusal of the purchase.');
  const { url, words, amountMicro } = asked;
  write(`${words}\nfrom ${url}\nfor ${usdcOf(BigInt(amountMicro))} USDC, once within a day\n`);
  complain('Type yes to approve exactly this: ');
  if ((await readLine()).trim() !== 'yes') throw new AgentError('approval_required', 'Not approved.');
  await wallet.ledger.hold(async ({ append }) =>
    append({ type: 'approved', atMs: wallet.now(), url, id, maxMicro: amountMicro }),
  );
  write('Approved.\n');
  return 0;
}

const spending: Command = async (_order, surroundings) => {
  surroundings.write(`${JSON.stringify(await spendingOf(walletOf(surroundings)), null, 2)}\n`);
  return 0;
};

const licences: Command = async (_order, surroundings) => {
  surroundings.write(`${JSON.stringify(await listLicences(serviceOf(surroundings), walletOf(surroundings)), null, 2)}\n`);
  return 0;
};

const licence: Command = async (order, surroundings) => {
  const { host, scope, terms, days, kind } = order.licence;
  const [what] = order.args;
  const periodDays = Number(days);
  if (
    !['quote', 'buy'].includes(what ?? '') ||
    host === '' ||
    scope.length === 0 ||
    !(periodDays > 0) ||
    (kind !== 'read' && kind !== 'citation')
  )
    throw new AgentError(
      'wrong_usage',
      'licence quote|buy takes --host H --scope /articles/* [--terms ai-input] [--days 30] [--kind read|citation]',
    );
  const wanted = { host, scope, terms, periodDays, kind } as const;
  const service = serviceOf(surroundings);
  try {
    const told =
      what === 'quote'
        ? await quoteLicence(service, wanted)
        : await buyLicence(service, walletOf(surroundings), wanted, payingOf(order, surroundings));
    surroundings.write(`${JSON.stringify(told, null, 2)}\n`);
    return 0;
  } catch (error) {
    return dryRun(error, order, surroundings);
  }
};

const receipt: Command = async ({ args: [jws = ''] }, surroundings) => {
  surroundings.write(`${JSON.stringify(await checkReceipt(serviceOf(surroundings), jws), null, 2)}\n`);
  return 0;
};

const key: Command = async ({ args: [what] }, surroundings) => {
  if (what === 'address') surroundings.write(`${walletOf(surroundings).signer.address}\n`);
  else if (what === 'new') surroundings.write(`${makeKeyFile(join(homeOf(surroundings.environment), 'key'))}\n`);
  else throw new AgentError('wrong_usage', 'key takes new or address.');
  return 0;
};

const mcp: Command = async (_order, surroundings) => {
  const { environment, send } = surroundings;
  const service = environment['CONTENT_SETTLEMENT_SERVICE'] ? serviceOf(surroundings) : null;
  await serveOverStdio({ wallet: walletOf(surroundings), service, ...(send ? { send } : {}) });
  return 0;
};

const COMMANDS: Readonly<Record<string, Command>> = {
  help,
  read,
  quote,
  buy,
  approve,
  spending,
  licences,
  licence,
  receipt,
  key,
  mcp,
};
