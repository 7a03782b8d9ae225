import type { DirectoriesOptions } from '../../modules/gate/use/agents/directories.ts';
import { openDirectories } from '../../modules/gate/use/agents/directories.ts';
import type { AgentDeps } from '../../modules/gate/use/agents/verify.ts';
import type { ApiConfig } from '../config.ts';

/** What agents that sign their requests are verified with; keys that the standard prints count where nothing is real. */
export function openAgents({ environment }: Pick<ApiConfig, 'environment'>, options: DirectoriesOptions): AgentDeps {
  return { directories: openDirectories(options), clock: options.clock, acceptTestKeys: environment !== 'production' };
}
