import { Command } from 'commander';
import { resealSecrets } from '../../modules/operations/use/secrets.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import type { Surroundings } from './surroundings.ts';

/** Commands about what SECRETS_KEY seals. */
export function secretCommands({ open, print }: Pick<Surroundings, 'open' | 'print'>): Command {
  const secrets = new Command('secrets').description('What SECRETS_KEY seals: webhook secrets and tokens of credits APIs.');
  secrets
    .command('rotate')
    .description('Encrypts them again with SECRETS_KEY; also decrypts with SECRETS_KEY_PREVIOUS. Receivers notice nothing.')
    .action(async () => {
      const { database, config } = await open();
      print(await resealSecrets({ database, secretBox: createSecretBox(config.secretsKey, config.secretsKeyPrevious) }));
    });
  return secrets;
}
