import type { Channel } from './endpoint.ts';

/** Where each chat takes messages: nowhere else do we send its form to. */
const CHAT_PLACES: Readonly<Record<Exclude<Channel, 'raw'>, { readonly host: RegExp; readonly path: RegExp }>> = {
  slack: { host: /^hooks\.slack\.com$/, path: /^\/(services|workflows|triggers)\// },
  discord: { host: /^(discord|discordapp)\.com$/, path: /^\/api\/(v\d+\/)?webhooks\// },
  teams: { host: /\.(logic\.azure\.com|powerplatform\.com)$/, path: /^\// },
};

/**
 * True when messages of a channel may go to a URL: a chat's only to its own hosts, over https on port 443, whatever loopback
 * override there is. For `raw` the client for outgoing requests decides alone.
 */
export function isChannelUrl(channel: Channel, text: string): boolean {
  if (channel === 'raw') return true;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const { host, path } = CHAT_PLACES[channel];
  const isPlain = url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  return isPlain && host.test(url.hostname) && path.test(url.pathname);
}
