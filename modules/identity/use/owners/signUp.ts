import type { Plan } from '../../../kernel/access/key.ts';

/** How owners add sites by themselves, where they may. */
export interface SignUp {
  /** The plan of a site that was added so; below Studio its keys are refused until an operator sets another. */
  readonly plan: Plan;
  /** Most sites of one user, closed ones counted. */
  readonly sitesOfUser: number;
  /** Most sites that all users together add in 24 hours. */
  readonly sitesPerDay: number;
}
