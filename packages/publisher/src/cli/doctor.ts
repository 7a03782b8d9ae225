/** `content-settlement doctor`: looks at a site as agents, people and search engines see it, and says what is wrong. */
import { addressCheck } from './checks/address.ts';
import { cachesCheck } from './checks/caches.ts';
import { enforcingCheck } from './checks/enforcing.ts';
import { formsCheck } from './checks/forms.ts';
import { freePagesCheck } from './checks/freePages.ts';
import { headCheck } from './checks/head.ts';
import { keyCheck } from './checks/key.ts';
import { missingPageCheck } from './checks/missingPage.ts';
import { offerCheck } from './checks/offer.ts';
import { priceCheck } from './checks/price.ts';
import { proofCheck } from './checks/proof.ts';
import { readersCheck } from './checks/readers.ts';
import { robotsCheck } from './checks/robots.ts';
import { serviceCheck } from './checks/service.ts';
import { spellingsCheck } from './checks/spellings.ts';
import { visitorsCheck } from './checks/visitors.ts';
import { wellKnownCheck } from './checks/wellKnown.ts';
import type { Check, Finding, Level } from './finding.ts';
import { unknown, worstOf } from './finding.ts';
import type { World } from './world.ts';

/** What one check came to. */
export interface Checked {
  readonly id: string;
  readonly level: Level;
  readonly findings: readonly Finding[];
}

const run =
  <Facts>({ id, probe, judge }: Check<Facts>) =>
  async (world: World): Promise<Checked> => {
    const findings = await probe(world)
      .then(judge)
      .catch((error: Error) => [unknown(`This check itself failed: ${error.message}`, 'Report it, with the command you ran.')]);
    return { id, level: worstOf(findings), findings };
  };

/** In the order in which a newcomer meets them; the last one hears of what the others asked. */
const CHECKS = [
  run(serviceCheck),
  run(keyCheck),
  run(proofCheck),
  run(addressCheck),
  run(wellKnownCheck),
  run(robotsCheck),
  run(offerCheck),
  run(readersCheck),
  run(visitorsCheck),
  run(cachesCheck),
  run(priceCheck),
  run(headCheck),
  run(spellingsCheck),
  run(formsCheck),
  run(missingPageCheck),
  run(freePagesCheck),
  run(enforcingCheck),
];

/** Without these nothing is known of a site that sells. */
const ESSENTIAL = ['service', 'key', 'proof', 'offer', 'readers'];

/** 1: something is wrong. 2: nothing is, as far as could be told, and too little could. */
export function doctorExit(checks: readonly Checked[]): 0 | 1 | 2 {
  if (checks.some(({ level }) => level === 'problem')) return 1;
  return checks.some(({ id, findings }) => ESSENTIAL.includes(id) && worstOf(findings) === 'unknown') ? 2 : 0;
}

/** Runs all checks, one after the other, telling each as it ends. Never rejects. */
export async function examine(world: World, tell: (checked: Checked) => void): Promise<readonly Checked[]> {
  const all: Checked[] = [];
  for (const check of CHECKS) {
    const checked = await check(world);
    all.push(checked);
    tell(checked);
  }
  return all;
}
