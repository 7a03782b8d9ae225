/** What to do, by the words of enforce-status. */
const SENTENCES: Readonly<Record<string, string>> = {
  verify_host:
    'Prove that the host is yours: the owner opens it (mutation openHost), publishes what the answer says, and has it checked ' +
    '(checkHost). By REST: POST /_svc/verify-host.',
  remove_cname: 'Two gates stand in front of this host: take away the CNAME to the fleet, or the package in your app.',
  reconnect_sdk: 'The gate has been silent for days: see that the package runs in your app, with SVC_URL and SVC_API_KEY set.',
  install_code: 'No gate has ever asked for this host: put the package in front of its pages.',
  fix_dns: 'The host led to the fleet and does not any more: set its DNS record again.',
  rotate_key: 'The gate uses a key that is refused: make a new one and give it to your app.',
  upgrade_plan: 'The plan of this site does not include the API: change the plan.',
  wait: 'Nothing to do: the gate was heard of, but not within a day.',
};

/** The sentence for a `nextAction`; unknown ones are shown as they are. */
export function actionSentence(nextAction: string): string {
  return SENTENCES[nextAction] ?? `The service says: ${nextAction}.`;
}
