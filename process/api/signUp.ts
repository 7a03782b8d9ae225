import type { SignUp } from '../../modules/identity/use/owners/authenticate.ts';
import type { ApiConfig } from '../config.ts';

/** How owners add sites by themselves; null: they do not. */
export function signUpOf(config: ApiConfig): SignUp | null {
  const { selfSignUp, selfSignUpPlan: plan, selfSignUpSites: sitesOfUser, selfSignUpSitesPerDay: sitesPerDay } = config;
  return selfSignUp ? { plan, sitesOfUser, sitesPerDay } : null;
}
